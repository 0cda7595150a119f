"""Signing in and out of a browser: a code or a token, sent by POST from our own page, opens a session whose cookie no script can read."""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from models.caller import Caller
from models.clock import now
from models.datetimes import stored
from models.errors import MunimentError, Unprocessable
from server import auth, logs, sign_in_page
from server.body import NotJson, header, json_value, read_body
from server.errors import refusal
from server.request_log import note
from server.services import Services
from store import callers, sessions

_NO_TRACE = {"Cache-Control": "no-store"}
_FORM, _JSON = b"application/x-www-form-urlencoded", b"application/json"
_BODY_BYTES = 16_384


class Sessions:
    """The two endpoints."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def sign_in(self, request: Request) -> Response:
        """Show the page, or exchange a code or a token for a session."""
        if request.method != "POST":
            return sign_in_page.page(await self._present(request))
        is_form = _media_type(request) == _FORM
        try:
            secret, caller = await self._open(request)
        except Exception as error:  # noqa: BLE001  # whatever it is, a page or its script must be told
            return self._refused(request, error, is_page=is_form)
        note(request.scope, caller=f"user:{caller.id}")
        response = RedirectResponse("/", 303, headers=_NO_TRACE) if is_form else JSONResponse(_opened(caller), headers=_NO_TRACE)
        self._set_cookie(response, request, secret, caller.expires_at)
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session, and forget it in this browser."""
        is_form = _media_type(request) == _FORM
        try:
            auth.require_own_origin(self._services.settings, request.headers)
            if (caller := await self._present(request)) is not None:
                await sessions.end(self._services.db, caller)
        except Exception as error:  # noqa: BLE001  # as above
            return self._refused(request, error, is_page=is_form)
        response = RedirectResponse("/", 303, headers=_NO_TRACE) if is_form else Response(status_code=204, headers=_NO_TRACE)
        self._set_cookie(response, request, "", now())
        return response

    async def _open(self, request: Request) -> tuple[str, Caller]:
        """Open a session in place of the one that the browser has. Raises what refuses it."""
        auth.require_own_origin(self._services.settings, request.headers)
        given = _given(_media_type(request), await read_body(request.scope, request.receive, _BODY_BYTES))
        db = self._services.db
        if "code" in given:
            secret = await sessions.open_by_code(db, given["code"].strip())
        else:
            secret = await sessions.open_by_token(db, await auth.from_token(self._services, given["token"].strip(), {}))
        if (before := await self._present(request)) is not None:
            await sessions.end(db, before)
        return secret, await callers.of_session(db, secret)

    async def _present(self, request: Request) -> Caller | None:
        """Whose session the browser has now, if it lives."""
        secret = auth.session_cookie(self._services.settings, request.scope, request.headers)
        try:
            return await callers.of_session(self._services.db, secret) if secret else None
        except MunimentError:
            return None

    def _set_cookie(self, response: Response, request: Request, secret: str, expires_at: datetime | None) -> None:
        secure = auth.is_secure(self._services.settings, request.scope)
        age = int((expires_at - now()).total_seconds()) if expires_at and secret else 0
        response.set_cookie(auth.cookie_name(secure=secure), secret, max_age=age, secure=secure, httponly=True, samesite="strict")

    def _refused(self, request: Request, error: Exception, *, is_page: bool) -> Response:
        known = refusal(error, logs.internal_error)
        note(request.scope, code=known.code)
        return sign_in_page.refused(known) if is_page else JSONResponse(known.as_json(), known.status, headers=_NO_TRACE)


def _media_type(request: Request) -> bytes:
    return (header(request.scope, b"content-type") or b"").partition(b";")[0].strip().lower()


def _given(media_type: bytes, body: bytes) -> dict[str, str]:
    """The code or the token of a form or of JSON. Raises NotJson, Unprocessable for neither or both."""
    if media_type == _FORM:
        fields: Any = {name: values[0] for name, values in parse_qs(body.decode("latin-1")).items()}
    elif media_type == _JSON:
        fields = json_value(body, "the body")
    else:
        raise NotJson("send the code as a form, or as JSON with `Content-Type: application/json`")
    if not isinstance(fields, dict) or len(fields) != 1 or not fields.keys() <= {"code", "token"}:
        raise Unprocessable("send either code or token")
    if not all(isinstance(value, str) for value in fields.values()):
        raise Unprocessable("code and token are texts")
    return fields


def _opened(caller: Caller) -> dict[str, Any]:
    expires_at = stored(caller.expires_at) if caller.expires_at else None
    return {"user": {"id": caller.id, "name": caller.name}, "organisation": {"id": caller.org_id}, "expires_at": expires_at}
