"""What every request and socket passes: it names a host of ours and at most one origin, and its answer tells browsers what they may do."""

from ipaddress import ip_address
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.errors import MunimentError, NotFound
from models.text import printable
from server.errors import BadRequest
from server.headers import ANSWER
from server.request_log import note
from server.settings import Settings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SHOWN = 200


class Guard:
    """The layer around all doors.

    A page of another site can have its own name resolve to this server, and then read answers as its own: an unknown name is refused.
    Such a page cannot use an address of numbers, so every one of those is taken.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        public = urlsplit(settings.public_url or "").hostname
        self._hosts = _LOOPBACK | {settings.host.lower(), *settings.allowed_hosts} | ({public} if public else set())
        self._known: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 400 or 404; a socket's handshake with 403."""

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(item for item in ANSWER if item[0] not in given)]
            await send(message)

        try:
            self._check(scope)
            _check_address(scope)
        except (BadRequest, NotFound) as error:
            note(scope, code=error.code)
            await _refuse(error, scope, receive, told)
            return
        await self._app(scope, receive, told if scope["type"] == "http" else send)

    def _check(self, scope: Scope) -> None:
        """Raise BadRequest for a host that is not ours, and for a Host or Origin that is malformed or there twice."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        for name, values in (("Host", hosts), ("Origin", origins)):
            if len(values) > 1:
                raise BadRequest(f"the request has {len(values)} {name} headers")
        for origin in origins:
            _check_origin(origin.decode("latin-1"))
        # Only programs leave it out.
        if hosts and hosts[0] not in self._known:
            self._check_host(hosts[0].decode("latin-1"))
            if len(self._known) < 1_000:  # noqa: PLR2004  # whoever sends more names is checked each time
                self._known.add(hosts[0])

    def _check_host(self, host: str) -> None:
        name = _split(f"//{host}", "Host", host).hostname or ""
        if name in self._hosts or "*" in self._hosts or _is_address(name):
            return
        if not any(f"*{name[at:]}" in self._hosts for at, letter in enumerate(name) if letter == "."):
            raise BadRequest(
                f"this server is not {printable(host)[:_SHOWN]}; MUNIMENT_PUBLIC_URL or MUNIMENT_ALLOWED_HOSTS names its hosts"
            )


def _check_address(scope: Scope) -> None:
    """Raise BadRequest for an address that is no UTF-8, which would otherwise name something else, and NotFound for one that ends oddly."""
    raw, asked = scope.get("raw_path") or b"", scope.get("query_string") or b""
    for part in (raw, asked):
        if b"%" in part:
            try:
                unquote_to_bytes(part).decode()
            except UnicodeDecodeError:
                raise BadRequest("the address is not UTF-8; write other bytes than ASCII as UTF-8, then as %XX") from None
    # A pattern of Starlette's also matches a path with a line break behind it. The names of /api may hold one.
    path: str = scope["path"]
    if path.endswith("\n") and not path.startswith("/api/"):
        raise NotFound(f"there is nothing at {printable(path)[:_SHOWN]}")


def _check_origin(origin: str) -> None:
    if origin != "null" and not all(_split(origin, "Origin", origin)[:2]):
        raise BadRequest(f"the header Origin is malformed: {printable(origin)[:_SHOWN]}")


def _split(address: str, header: str, value: str) -> SplitResult:
    try:
        found = urlsplit(address)
        _ = found.port  # checked when it is read
    except ValueError:
        raise BadRequest(f"the header {header} is malformed: {printable(value)[:_SHOWN]}") from None
    return found


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(error: MunimentError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    told = error.as_json()
    shapes = {
        "/graphql": {"data": None, "errors": [{"message": error.message, "extensions": told}]},
        "/mcp": {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": error.message, "data": told}},
    }
    await JSONResponse(shapes.get(scope["path"], told), error.status, headers={"Cache-Control": "no-store"})(scope, receive, send)
