// Adds to each operation of /api/docs a form that sends the request, as whoever is signed in or as the bearer of a token, and shows the answer.
const SHOWN_HEADERS = ["Content-Type", "ETag", "Location", "Retry-After"];
const SHOWN_CHARACTERS = 200_000;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function field(parameter) {
  const input = element("input", { name: parameter.name, required: parameter.required, placeholder: parameter.example ?? "", size: 40 });
  input.dataset.place = parameter.in;
  return element("label", {}, `${parameter.name} `, input);
}

function bodyField(content) {
  if ("multipart/form-data" in content) return element("label", {}, "file ", element("input", { type: "file", name: "file", required: true }));
  const text = JSON.stringify(content["application/json"].example, null, 2);
  return element("label", {}, "body", element("textarea", { name: "body", value: text, rows: text.split("\n").length + 1, spellcheck: false }));
}

// A number is shown with the digits that were sent, where the browser can; elsewhere the text stays as it came.
function pretty(text) {
  if (!JSON.rawJSON) return text;
  const exact = (_key, value, context) => (typeof value === "number" ? JSON.rawJSON(context.source) : value);
  return JSON.stringify(JSON.parse(text, exact), null, 2);
}

async function shown(response) {
  const headers = SHOWN_HEADERS.filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`);
  const text = await response.text();
  const body = response.headers.get("Content-Type")?.startsWith("application/json") ? pretty(text) : text;
  const cut = body.length > SHOWN_CHARACTERS ? `${body.slice(0, SHOWN_CHARACTERS)}\n… cut here; the whole answer has ${body.length} characters` : body;
  return [`${response.status} ${response.statusText}`, ...headers, "", cut].join("\n");
}

function request(path, method, form) {
  const headers = new Headers();
  const query = new URLSearchParams();
  let address = path;
  for (const input of form.querySelectorAll("input[data-place]")) {
    if (input.dataset.place === "path") address = address.replace(`{${input.name}}`, () => encodeURIComponent(input.value));
    else if (input.value !== "" && input.dataset.place === "query") query.set(input.name, input.value);
    else if (input.value !== "") headers.set(input.name, input.value);
  }
  const token = document.getElementById("token").value.trim();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  const options = { method: method.toUpperCase(), headers };
  if (form.elements.body) {
    headers.set("Content-Type", "application/json");
    options.body = form.elements.body.value;
  } else if (form.elements.file) {
    options.body = new FormData();
    options.body.set("file", form.elements.file.files[0]);
  }
  return [query.size ? `${address}?${query}` : address, options];
}

function tryIt(path, method, operation) {
  const answer = element("pre", { className: "answer", hidden: true });
  const form = element("form", {}, ...operation.parameters.map(field));
  if (operation.requestBody) form.append(bodyField(operation.requestBody.content));
  form.append(element("button", {}, "Send"), answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.hidden = false;
    answer.textContent = "…";
    try {
      answer.textContent = await shown(await fetch(...request(path, method, form)));
    } catch (error) {
      answer.textContent = `The request could not be sent: ${error.message}`;
    }
  });
  return element("details", {}, element("summary", {}, "Send this request"), form);
}

const described = await (await fetch("/api/openapi.json")).json();
for (const [path, methods] of Object.entries(described.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    document.getElementById(operation.operationId).append(tryIt(path, method, operation));
  }
}
document.getElementById("caller").hidden = false;
