"""Signing in and out of a browser session: the token becomes a cookie that no script can read."""

from html import escape

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from models.errors import MunimentError
from server import auth
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
        except MunimentError as error:
            page = _REFUSED.format(message=escape(error.message))
            return HTMLResponse(page, status_code=error.status, headers=_NO_TRACE)
        response = HTMLResponse(_MOVE_ON, headers=_NO_TRACE)
        secure = self._services.settings.production or request.url.scheme == "https"
        response.set_cookie(auth.COOKIE, token, max_age=_YEAR, httponly=True, samesite="strict", secure=secure, path="/")
        return response

    async def sign_out(self, _request: Request) -> Response:
        """Forget the session in this browser; the token stays valid until it is revoked."""
        response = RedirectResponse("/", status_code=303, headers=_NO_TRACE)
        response.delete_cookie(auth.COOKIE, path="/")
        return response
