"""The GraphQL door: a short path for POST, Strawberry's view for GraphiQL, GET, WebSocket and server-sent events."""

from collections.abc import Mapping
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.exceptions import ConnectionRejectionError
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler
from strawberry.subscriptions.protocols.graphql_transport_ws.types import SubscribeMessage

from models.caller import Caller
from models.errors import MunimentError, Unprocessable
from resolvers.context import Context
from resolvers.engine import EngineSchema, dumps, loads, run
from resolvers.engine.view import EngineView
from server import auth, graphiql, logs
from server.body import read_body, require_json
from server.errors import refusal
from server.request_log import note
from server.services import Services
from store import callers


class SocketHandler(BaseGraphQLTransportWSHandler[Context, None]):
    """A socket that asks again, before each operation, whether its caller is still who it was."""

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Start the operation, or close the socket (4403) when the caller's token or rights have ended."""
        if self.connection_acknowledged and self.context.known is not None:
            known = await callers.still_valid(self.context.db, self.context.known)
            if known is None:
                await self.websocket.close(code=4403, reason="Forbidden")
                return
            self.context.known = known
        await super().handle_subscribe(message)


class View(EngineView[Context, None]):
    """The view with our callers and our GraphiQL page."""

    graphql_transport_ws_handler_class = SocketHandler

    def __init__(self, door: "GraphQLDoor", schema: EngineSchema) -> None:
        settings = door.services.settings
        super().__init__(schema, graphiql=not settings.production, allowed_origins=settings.allowed_origins)
        self._door = door

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:  # noqa: ARG002  # Strawberry's
        """The context of a request, its caller found already; of a socket the cookie's caller, until it says more."""
        return self._door.context(request.scope.get("caller"))

    async def on_ws_connect(self, context: Context) -> Any:
        """Take the caller from the socket's first message, where that names one. A bad one closes the socket with 4403."""
        params: Mapping[str, Any] = context.connection_params or {}
        try:
            context.known = await self._door.introduced(params) or context.known
        except MunimentError as error:
            raise ConnectionRejectionError(error.as_json()) from error
        return await super().on_ws_connect(context)

    async def render_graphql_ide(self, request: Request) -> Response:
        """Our own GraphiQL, which needs no other host."""
        return graphiql.page(await self._door.signed_in(request.scope))


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
            page = scope["method"] == "GET" and "query=" not in scope["query_string"].decode("latin-1")
            scope["caller"] = None if page else await self._caller(scope)
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            await self._refuse(error, scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "POST" and "text/event-stream" not in headers.get("accept", ""):
            await self._post(scope, receive, send)
        else:
            await self._view(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope["caller"] = await self._caller(scope)
        except MunimentError:
            # Before the handshake there is no code to close with: the first message decides, and finds nobody.
            scope["caller"] = None
        await self._view(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller | None:
        caller = await auth.from_scope(self.services, scope)
        if caller is not None:
            note(scope, caller=f"{caller.kind.lower()}:{caller.id}", run=caller.run_id)
            self.services.rates.spend(f"{caller.org_id}/{caller.id}")
        return caller

    async def introduced(self, params: Mapping[str, Any]) -> Caller | None:
        """Who a socket's first message names by `token` or `Authorization`. Raises Unauthenticated for a bad one."""
        named = {key.lower(): value for key, value in params.items() if isinstance(value, str)}
        if (token := named.get("token")) is not None:
            return await auth.from_token(self.services, token, named)
        if (authorization := named.get("authorization")) is not None:
            return await auth.from_bearer(self.services, authorization, named)
        return None

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            require_json(scope)
            request = _request(await read_body(scope, receive, self.services.settings.max_body_bytes))
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            await self._refuse(error, scope, receive, send)
            return
        query, variables, name = (request.get(key) for key in ("query", "variables", "operationName"))
        answer = await run(self._engine, query, variables, name, self.context(scope["caller"]))
        code = answer.errors[0].get("extensions", {}).get("code") if answer.errors else None
        note(scope, operation=answer.operation_name, counted=answer.operation_type, code=code)
        await Response(answer.body, answer.status, media_type="application/json")(scope, receive, send)

    async def _refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        known = refusal(error, logs.internal_error)
        note(scope, code=known.code)
        body = dumps({"data": None, "errors": [{"message": known.message, "extensions": known.as_json()}]})
        # Of GraphQL's own refusals only those that HTTP itself must know carry another status than 200.
        status = known.status if known.status in {401, 413, 415, 429, 503} else 200
        await Response(body, status, media_type="application/json", headers=retry_after(known))(scope, receive, send)

    async def signed_in(self, scope: Scope) -> Caller | None:
        """Who looks at the page; a session that has ended is nobody, and the page says so."""
        try:
            return await auth.from_scope(self.services, scope)
        except MunimentError:
            return None

    def context(self, caller: Caller | None) -> Context:
        """What resolvers are given for this caller."""
        return Context(db=self.services.db, feed=self.services.feed, vault=self.services.vault, known=caller)


def retry_after(error: MunimentError) -> dict[str, str]:
    """The header that tells a limited caller when to come back."""
    wait = error.extensions.get("retryAfter")
    return {} if wait is None else {"Retry-After": str(max(1, round(wait)))}


def _request(body: bytes) -> dict[str, Any]:
    try:
        request = loads(body)
    except ValueError as error:
        raise Unprocessable(f"the body is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise Unprocessable("the body must be an object with query, and if needed variables and operationName")
    return cast("dict[str, Any]", request)
