"""Signing in and out of a browser session: the token becomes a cookie that no script can read."""

from html import escape

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from models.errors import MunimentError
from server import auth, logs
from server.errors import refusal
from server.services import Services

_YEAR = 365 * 24 * 3600
_NO_TRACE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}

# The page moves on by itself: a redirect would count as the other site's navigation that led here, which sends no strict cookie.
_MOVE_ON = """<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/graphql">
<title>Muniment</title><p>You are signed in. <a href="/graphql">Go on to GraphiQL</a>."""
_REFUSED = """<!doctype html><meta charset="utf-8"><title>Muniment: not signed in</title>
<h1>Not signed in</h1><p>{message}</p><p>Print a fresh address with <code>scripts/serve</code>, or make a token with
<code>muniment token create --org ID --user NAME</code> and open <code>/sign-in?token=…</code>.</p>"""


class Sessions:
    """The two endpoints."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def sign_in(self, request: Request) -> Response:
        """Take the token of the address into the session cookie."""
        token = request.query_params.get("token", "")
        try:
            await auth.from_token(self._services, token, Headers())
        except Exception as error:  # noqa: BLE001  # whatever it is, a person is looking at a page
            return _refused(error)
        response = HTMLResponse(_MOVE_ON, headers=_NO_TRACE)
        response.set_cookie(auth.COOKIE, token, max_age=_YEAR, secure=self._is_secure(request), httponly=True, samesite="strict")
        return response

    async def sign_out(self, request: Request) -> Response:
        """Forget the session in this browser; the token stays valid until it is revoked."""
        try:
            auth.require_own_origin(self._services.settings, request.headers)
        except MunimentError as error:
            return _refused(error)
        response = RedirectResponse("/", status_code=303, headers=_NO_TRACE)
        response.delete_cookie(auth.COOKIE, secure=self._is_secure(request), httponly=True, samesite="strict")
        return response

    def _is_secure(self, request: Request) -> bool:
        """Whether browsers reach this server by https, and may keep the session for https alone."""
        settings = self._services.settings
        return settings.production or request.url.scheme == "https" or (settings.public_url or "").startswith("https:")


def _refused(error: Exception) -> Response:
    known = refusal(error, logs.internal_error)
    return HTMLResponse(_REFUSED.format(message=escape(known.message)), known.status, headers=_NO_TRACE)
