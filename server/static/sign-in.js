// Takes the code out of the address's fragment, which browsers send to nobody, and out of the history.
// The person presses the button: a link from elsewhere must not sign anybody in by itself.
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  document.getElementById("code").value = code;
  document.querySelector("#with-code button").focus();
}

takeCode();
addEventListener("hashchange", takeCode);
