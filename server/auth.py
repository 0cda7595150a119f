"""Who is calling: a bearer token, or in a browser the cookie of a session; nothing else says it."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.types import Scope

from models.caller import Caller
from models.errors import Forbidden, Unauthenticated
from models.text import printable
from server.services import Services
from server.settings import Settings
from store import callers

COOKIE = "muniment_session"
CALL_HEADERS = ("x-run-id", "x-tool-call-id", "x-tool-name")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


async def from_scope(services: Services, scope: Scope) -> Caller | None:
    """Who sent a request or opened a socket; None where nothing says it.

    Raises Unauthenticated for a bad credential, Forbidden for a cookie from another site's page, Unprocessable for a bad run.
    """
    # The first of a name counts.
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
    if (given := headers.get("authorization")) is not None:
        return await from_bearer(services, given, headers)
    if (secret := session_cookie(services.settings, scope, headers)) is None:
        return None
    if scope["type"] == "websocket" or scope["method"] not in _SAFE:
        require_own_origin(services.settings, headers)
    return await in_call(services, await callers.of_session(services.db, secret), headers)


async def from_bearer(services: Services, authorization: str, call: Mapping[str, str]) -> Caller:
    """Who an Authorization header names. Raises Unauthenticated."""
    scheme, _, token = authorization.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the Authorization header must be `Bearer <token>`")
    return await from_token(services, token.strip(), call)


async def from_token(services: Services, token: str, call: Mapping[str, str]) -> Caller:
    """Who a token or signed JWT names, within the run and tool call that the headers, or a socket's first message, name."""
    secret = services.settings.jwt_secret
    caller = await callers.resolve(services.db, token, jwt_secret=secret.get_secret_value() if secret else None)
    return await in_call(services, caller, call)


async def in_call(services: Services, caller: Caller, call: Mapping[str, str]) -> Caller:
    """The caller within the run and tool call that lower-case names tell. Raises Unprocessable for a run that is not its own."""
    run_id, tool_call_id, tool_name = (call.get(header) for header in CALL_HEADERS)
    return await callers.in_call(services.db, caller, run_id=run_id, tool_call_id=tool_call_id, tool_name=tool_name)


def session_cookie(settings: Settings, scope: Scope, headers: Mapping[str, str]) -> str | None:
    """Return the secret in the session's cookie, if there is one."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(cookie_name(secure=is_secure(settings, scope)))
    except CookieError:
        return None
    return morsel.value if morsel is not None and morsel.value else None


def cookie_name(*, secure: bool) -> str:
    """Return the name of the session's cookie. With the prefix, browsers take it from this very host over https alone."""
    return f"__Host-{COOKIE}" if secure else COOKIE


def is_secure(settings: Settings, scope: Scope) -> bool:
    """Whether browsers reach this server by https, and may keep the session for https alone."""
    return settings.production or scope.get("scheme") in {"https", "wss"} or (settings.public_url or "").startswith("https:")


def require_own_origin(settings: Settings, headers: Mapping[str, str]) -> None:
    """A browser sends its cookies for any page: only our own pages, and those allowed, may use them. Raises Forbidden."""
    origin = headers.get("origin")
    if origin is None or headers.get("sec-fetch-site") == "same-origin":
        return
    if urlsplit(origin).netloc != headers.get("host") and origin not in allowed_origins(settings):
        raise Forbidden(f"pages of {printable(origin)[:200]} may not use this server's sessions")


def allowed_origins(settings: Settings) -> frozenset[str]:
    """The origins of other hosts' pages that may connect, our own public address among them."""
    if not settings.public_url:
        return frozenset(settings.allowed_origins)
    public = urlsplit(settings.public_url)
    return frozenset({*settings.allowed_origins, f"{public.scheme}://{public.netloc}"})
