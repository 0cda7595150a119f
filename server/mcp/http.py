"""/mcp: who may send a request, within which bounds, before the protocol answers it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from models.caller import Caller
from models.errors import Forbidden, MunimentError, RateLimited, Unauthenticated
from models.json_text import strict
from server import auth, logs
from server.body import read_body, require_json
from server.errors import refusal
from server.graphql import retry_after
from server.mcp.calls import Calls
from server.request_log import note
from server.services import Services

Serve = Callable[[Scope, Receive, Send], Awaitable[None]]

_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603
_SERVER_FAULT = 500


class MethodNotAllowed(MunimentError):
    """Nothing is kept between requests, so there is no stream to open and no session to end."""

    code = "UNPROCESSABLE"
    status = 405


class NotAMessage(MunimentError):
    """A body that is JSON and no message of the protocol."""

    code = "UNPROCESSABLE"
    status = 400


class McpDoor:
    """The ASGI application at /mcp. The protocol's library is imported with the first request."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._serve: Serve | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            body = await self._admitted(scope, receive)
            serve = await self._protocol()
            _require_version(Headers(scope=scope).get("mcp-protocol-version"))
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            await self._refuse(error, scope, receive, send)
            return
        try:
            async with self._services.turn(scope["caller"]):
                await serve(scope, _again(body, receive), _watched(scope, send))
        except RateLimited as error:
            await self._refuse(error, scope, receive, send)

    async def _protocol(self) -> Serve:
        if self._serve is None:
            # Importing it takes most of a second, in which other requests should go on.
            self._serve = await asyncio.to_thread(self._load)
        return self._serve

    async def _admitted(self, scope: Scope, receive: Receive) -> bytes:
        """The body of a request that may be served; its caller is in the scope."""
        self._require_known_origin(Headers(scope=scope))
        scope["caller"] = await self._caller(scope)
        if scope["method"] != "POST":
            raise MethodNotAllowed("send requests by POST; there are no sessions and no stream to open")
        require_json(scope)
        body = await read_body(scope, receive, self._services.settings.max_body_bytes)
        _require_message(body)
        return body

    def _require_known_origin(self, headers: Headers) -> None:
        """Only pages that are ours, or allowed, pass."""
        origin = headers.get("origin")
        if origin is None or origin in auth.allowed_origins(self._services.settings):
            return
        if urlsplit(origin).netloc != headers.get("host"):
            raise Forbidden(f"pages of {origin[:200]} may not use this server; MUNIMENT_ALLOWED_ORIGINS lists those that may")

    async def _caller(self, scope: Scope) -> Caller:
        given = Headers(scope=scope).get("authorization")
        if given is None:
            raise Unauthenticated("say who you are: send `Authorization: Bearer <token>`")
        # The run and the tool call are read with the call itself, which may name them too.
        caller = await auth.from_bearer(self._services, given, {})
        note(scope, caller=f"{caller.kind.lower()}:{caller.id}", run=caller.run_id)
        self._services.admit(caller)
        return caller

    def _load(self) -> Serve:
        from server.mcp.protocol import make_server, serve_request

        settings = self._services.settings
        server = make_server(Calls(self._services.db, settings.operation_timeout), _found)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            await serve_request(server, scope, receive, send, limit=settings.max_body_bytes)

        return serve

    async def _refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        known = refusal(error, logs.internal_error)
        note(scope, code=known.code)
        code = _INTERNAL_ERROR if known.status >= _SERVER_FAULT else _INVALID_REQUEST
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": known.message, "data": known.as_json()}}
        await JSONResponse(body, known.status, headers=_headers(known, scope))(scope, receive, send)


def _require_version(version: str | None) -> None:
    """Raise NotAMessage for an unknown version: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#protocol-version-header."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    known = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
    if version is not None and version not in known:
        raise NotAMessage(f"unknown MCP-Protocol-Version {version[:40]}; known are {', '.join(known)}")


def _require_message(body: bytes) -> None:
    """Let JSON-RPC messages pass, and what is no JSON at all. Raises NotAMessage."""
    try:
        value = strict(body)
    except RecursionError:
        return  # the protocol has an error of its own for that
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            return
        raise NotAMessage(f"the body cannot be read: {error}") from None
    # Its library would answer the rest with its own types and the addresses of its own documentation.
    if isinstance(value, list):
        raise NotAMessage("send one JSON-RPC message at a time; lists of them are not taken")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise NotAMessage('the body is no JSON-RPC message: an object with "jsonrpc": "2.0"')
    problems = [reason for wrong, reason in _faults(value) if wrong]
    if problems:
        raise NotAMessage(f"the body is no JSON-RPC request: {'; '.join(problems)}")


def _faults(message: dict[str, Any]) -> list[tuple[bool, str]]:
    method, number, params = message.get("method"), message.get("id", 0), message.get("params")
    is_answer = "method" not in message and ("result" in message or "error" in message)
    return [
        (not is_answer and not isinstance(method, str), "method must be a text"),
        (not is_answer and (not isinstance(number, str | int) or isinstance(number, bool)), "id must be a text or a whole number"),
        (params is not None and not isinstance(params, dict), "params must be an object"),
    ]


async def _found(request: HTTPRequest | None) -> Caller:
    if request is None:
        raise RuntimeError("a call over HTTP came without its request")
    caller: Caller = request.scope["caller"]
    return caller


def _headers(error: MunimentError, scope: Scope) -> dict[str, str]:
    if isinstance(error, MethodNotAllowed):
        return {"Allow": "POST"}
    if isinstance(error, Unauthenticated):
        given = "authorization" in Headers(scope=scope)
        return {"WWW-Authenticate": 'Bearer error="invalid_token"' if given else "Bearer"}
    return retry_after(error)


def _again(body: bytes, receive: Receive) -> Receive:
    """A receive that hands out the body that was read, then what else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _watched(scope: Scope, send: Send) -> Send:
    """A send that tells the log of requests that the protocol itself refuses."""

    async def watch(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:  # noqa: PLR2004  # where refusals begin
            note(scope, code="UNPROCESSABLE")
        await send(message)

    return watch
