"""The GraphQL door: a short path for POST and GET, Strawberry's view for sockets and server-sent events, and the page for browsers."""

import json
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from math import ceil
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.exceptions import ConnectionRejectionError

from engine import Answer, EngineSchema, dumps, run
from engine.view import EngineView
from models.caller import Caller, required
from models.errors import MunimentError, RateLimited, Unauthenticated, Unavailable, Unprocessable
from models.json_text import strict
from resolvers.context import Context
from server import auth, graphiql, logs
from server.body import body_value, header, json_value, read_body, require_json
from server.errors import refusal
from server.request_log import note
from server.services import Services
from server.sockets import Socket, SocketHandler
from store import callers

# Of GraphQL's own refusals only those that HTTP itself must know carry another status than 200.
_CARRIED_BY_HTTP = frozenset({401, 413, 415, 429, 503})
_HEADERS = {"Cache-Control": "no-store"}


class View(EngineView[Context, None]):
    """The view with our callers and our sockets."""

    graphql_transport_ws_handler_class = SocketHandler

    def decode_json(self, data: str | bytes) -> object:
        """Return the value of a JSON text. Raises json.JSONDecodeError, also for an object with a key twice."""
        try:
            return strict(data)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError(str(error), "", 0) from error

    websocket_adapter_class = Socket  # type: ignore[assignment]  # as in Strawberry itself

    def __init__(self, door: "GraphQLDoor", schema: EngineSchema) -> None:
        super().__init__(schema, graphiql=False, allowed_origins=tuple(auth.allowed_origins(door.services.settings)))
        self.door = door

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:  # noqa: ARG002  # Strawberry's
        """The context of a request, its caller found already; of a socket the handshake's caller, until it says more."""
        return self.door.context(request.scope.get("caller"), refused=request.scope.get("refused"))

    async def on_ws_connect(self, context: Context) -> Any:
        """Take the caller from the socket's first message, where that names one. A bad one closes the socket with 4403."""
        try:
            context.known = await self.door.introduced(context)
            self.door.hold_socket(context)
        except (RateLimited, Unavailable):
            raise
        except MunimentError as error:
            raise ConnectionRejectionError(error.as_json()) from error
        return await super().on_ws_connect(context)


class GraphQLDoor:
    """The ASGI application at /graphql."""

    def __init__(self, services: Services, schema: EngineSchema) -> None:
        self.services = services
        self._engine = schema.engine
        self._view = View(self, schema)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one socket."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
            return
        try:
            answer = await self._answer(scope, receive)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            answer = self._refused(error, scope)
        await answer(scope, receive, send)

    # ------------------------------------------------------------------ HTTP

    async def _answer(self, scope: Scope, receive: Receive) -> ASGIApp:
        """What answers a request. Raises whatever refuses it."""
        accept = (header(scope, b"accept") or b"").decode("latin-1")
        reading = scope["method"] != "POST"
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)) if reading else {}
        if reading and "query" not in asked and ("text/html" in accept or "*/*" in accept):
            return await self._page(scope)
        scope["caller"] = caller = required(await self._caller(scope))
        async with self.services.turn(caller):
            if reading:
                request, body = _of_query(asked), b""
            else:
                require_json(scope)
                body = await read_body(scope, receive, self.services.settings.max_body_bytes)
                request = _of_body(await body_value(body))
            if "text/event-stream" in accept:
                return self._stream(request, body)
            return await self._run(scope, request)

    async def _run(self, scope: Scope, request: Mapping[str, Any]) -> ASGIApp:
        query, variables, name = request.get("query"), request.get("variables"), request.get("operationName")
        answer = await run(self._engine, query, variables, name, self.context(scope["caller"]), read_only=scope["method"] != "POST")
        note(scope, operation=answer.operation_name, counted=answer.operation_type, code=_code(answer))
        if answer.status == HTTPStatus.OK:
            return _Answered(answer.body)
        return Response(answer.body, answer.status, media_type="application/json", headers=_HEADERS | _challenge(answer.status))

    def _stream(self, request: Mapping[str, Any], body: bytes) -> ASGIApp:
        """The view, to answer with events. Raises Unprocessable for a request that it would refuse in another shape."""
        if not isinstance(request.get("variables"), dict | None):
            raise Unprocessable("variables must be an object or null")

        async def streamed(scope: Scope, receive: Receive, send: Send) -> None:
            first = [cast("Message", {"type": "http.request", "body": body, "more_body": False})]

            async def again() -> Message:
                return first.pop() if first else await receive()

            await self._view(scope, again, send)

        return streamed

    async def _page(self, scope: Scope) -> Response:
        if self.services.settings.production:
            return PlainTextResponse("GraphiQL is off in production; send queries by POST", 404)
        try:
            caller = await auth.from_scope(self.services, scope)
        except MunimentError:
            caller = None  # a session that has ended is nobody, and the page says so
        return graphiql.page(caller)

    def _refused(self, error: Exception, scope: Scope) -> Response:
        known = refusal(error, logs.internal_error)
        note(scope, code=known.code)
        body = dumps({"data": None, "errors": [{"message": known.message, "extensions": known.as_json()}]})
        status = known.status if known.status in _CARRIED_BY_HTTP else 200
        headers = _HEADERS | _challenge(status) | retry_after(known)
        return Response(body, status, media_type="application/json", headers=headers)

    # ------------------------------------------------------------------ sockets

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope["caller"] = await self._caller(scope)
        except Exception as error:  # noqa: BLE001  # before the handshake there is no code to close with: the first message decides
            scope["refused"] = refusal(error, logs.internal_error)
        await self._view(scope, receive, send)

    async def introduced(self, context: Context) -> Caller | None:
        """Who a socket's first message names by `token` or `Authorization`, else its handshake. Raises what refuses it."""
        named = _texts(context.connection_params or {})
        if (token := named.get("token")) is not None:
            return self._spent(await auth.from_token(self.services, token, named))
        if (authorization := named.get("authorization")) is not None:
            return self._spent(await auth.from_bearer(self.services, authorization, named))
        if context.refused is not None:
            raise context.refused
        return await auth.in_call(self.services, context.known, named) if context.known else None

    def hold_socket(self, context: Context) -> None:
        """Hold a place for an open socket of the context's caller. Raises RateLimited where it, or its organisation, has its part."""
        if (caller := context.known) is not None:
            party = (caller.org_id, caller.id)
            if not self.services.sockets.take_now(party):
                raise self.services.sockets.refusal("sockets")
            context.held_socket = party

    async def renewed(self, context: Context) -> Context:
        """The context of a socket's next operation, with the rights of now. Raises Unauthenticated once they have ended."""
        if context.known is None:
            return context
        known = await callers.still_valid(self.services.db, context.known)
        if known is None:
            raise Unauthenticated("the token or the rights of this socket have ended")
        if known.run_id is not None:
            outside = known.in_call(None, None, None)
            known = await callers.in_call(
                self.services.db, outside, run_id=known.run_id, tool_call_id=known.tool_call_id, tool_name=known.tool_name
            )
        # Another object: what loads rows for the operations before keeps the rights that those had.
        return replace(context, known=self._spent(known))

    # ------------------------------------------------------------------ callers

    async def _caller(self, scope: Scope) -> Caller | None:
        caller = await auth.from_scope(self.services, scope)
        if caller is not None:
            note(scope, caller=f"{caller.kind.lower()}:{caller.id}", run=caller.run_id)
            self._spent(caller)
        return caller

    def _spent(self, caller: Caller) -> Caller:
        self.services.admit(caller)
        return caller

    def context(self, caller: Caller | None, refused: MunimentError | None = None) -> Context:
        """What resolvers are given for this caller."""
        services = self.services
        return Context(
            db=services.db,
            feed=services.feed,
            vault=services.vault,
            known=caller,
            refused=refused,
            subscriptions=services.subscriptions,
            answer_bytes=services.settings.max_answer_bytes,
        )


class _Answered:
    """A JSON answer with status 200. Starlette's Response does the same with more steps, which every request would pay for."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        length = (b"content-length", str(len(self._body)).encode())
        headers = [(b"content-type", b"application/json"), length, (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})


def retry_after(error: MunimentError) -> dict[str, str]:
    """The header that tells a limited caller when to come back."""
    wait = error.extensions.get("retryAfter")
    return {} if wait is None else {"Retry-After": str(max(1, ceil(wait)))}


def _challenge(status: int) -> dict[str, str]:
    return {"WWW-Authenticate": "Bearer"} if status == Unauthenticated.status else {}


def _code(answer: Answer) -> str | None:
    return answer.errors[0].get("extensions", {}).get("code") if answer.errors else None


def _of_body(request: Any) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise Unprocessable("the body must be an object with query, and if needed variables and operationName")
    return request


def _of_query(asked: Mapping[str, str]) -> dict[str, Any]:
    request: dict[str, Any] = {key: asked.get(key) for key in ("query", "operationName")}
    if asked.get("variables"):
        request["variables"] = json_value(asked["variables"], "variables")
    return request


def _texts(params: Mapping[str, Any]) -> dict[str, str]:
    """The first message's texts by lower-case name. Raises Unauthenticated for a credential that is none."""
    named = {key.lower(): value for key, value in params.items() if value is not None}
    if any(not isinstance(named.get(name, ""), str) for name in ("token", "authorization")):
        raise Unauthenticated("token and Authorization must be texts")
    return {key: value for key, value in named.items() if isinstance(value, str)}
