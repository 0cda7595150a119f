"""The page at /sign-in: forms that send a code or a token, which never stands in an address that a server or a log sees."""

from html import escape

from starlette.responses import HTMLResponse

from models.caller import Caller
from models.errors import MunimentError
from server.headers import PAGE

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Muniment · Sign in</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/sign-in.css">
<script src="/static/sign-in.js" defer></script>
</head>
<body>
<main>
<h1>Muniment</h1>
{notice}
<form id="with-code" method="post" action="/sign-in">
<label for="code">Sign-in code</label>
<input id="code" name="code" type="password" autocomplete="off" required>
<button type="submit">Sign in</button>
</form>
<form id="with-token" method="post" action="/sign-in">
<label for="token">Operator's token</label>
<input id="token" name="token" type="password" autocomplete="off" required>
<button type="submit">Sign in with the token</button>
</form>
<p class="help">A code is good once, for ten minutes. <code>scripts/serve</code> prints one at its start, and
<code>muniment sign-in</code> prints another at any time.</p>
</main>
</body>
</html>"""
_SIGNED_IN = """<p class="notice">You are signed in as <b>{name}</b>. <a href="/">Go on</a>, or sign in as somebody else below.</p>"""
_REFUSED = """<p class="notice refused" role="alert"><b>Not signed in:</b> {message}.<br>Run <code>muniment sign-in</code> where the server
runs for another address, or paste a token below.</p>"""


def page(caller: Caller | None) -> HTMLResponse:
    """Return the page, for a browser that is signed in as the caller or as nobody."""
    return _with_notice(_SIGNED_IN.format(name=escape(caller.name)) if caller else "", 200)


def refused(error: MunimentError) -> HTMLResponse:
    """Return the page with the reason why it signed nobody in."""
    return _with_notice(_REFUSED.format(message=escape(error.message)), error.status)


def _with_notice(notice: str, status: int) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(notice=notice), status, headers=PAGE)
