"""Strawberry's ASGI view on an EngineSchema: WebSocket, server-sent events, GraphiQL, and GET.

Strawberry 0.341 has both protocols: `graphql-transport-ws` (close codes: 4400 bad message, 4401 subscribe before the
acknowledgement, 4403 refused by `on_ws_connect`, 4406 other subprotocol, 4408 no `connection_init` in time, 4409 id in use, 4429 second
`connection_init`; 403 at the handshake for a foreign Origin) and graphql-sse's distinct connections mode.
"""

from datetime import timedelta
from typing import Any

from starlette.responses import Response
from strawberry.asgi import GraphQL
from strawberry.http.typevars import Context, RootValue
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL

from engine.encoding import dumps, loads
from engine.errors import status_of
from engine.schema import EngineSchema


class EngineView(GraphQL[Context, RootValue]):
    """The view for everything but plain POST, which `execute.run` answers faster.

    Override `get_context` (called with a Request or a WebSocket; for the latter before `connection_init`, whose payload then becomes
    `context.connection_params`, if the context is a dict or has that attribute) and `on_ws_connect` (raise ConnectionRejectionError
    to close with 4403).
    """

    def __init__(
        self,
        schema: EngineSchema,
        *,
        graphiql: bool = True,
        allowed_origins: tuple[str, ...] = (),
        connection_init_wait_timeout: timedelta = timedelta(seconds=10),
        max_subscriptions_per_connection: int = 100,
    ) -> None:
        super().__init__(
            schema,
            graphql_ide="graphiql" if graphiql else None,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            connection_init_wait_timeout=connection_init_wait_timeout,
            max_subscriptions_per_connection=max_subscriptions_per_connection,
            allowed_origins=allowed_origins,
        )

    def encode_json(self, data: object) -> str:
        """Return JSON text, not bytes: WebSocket messages of this protocol are text frames."""
        return dumps(data).decode()

    def decode_json(self, data: str | bytes) -> object:
        """Return the value of a JSON text."""
        return loads(data)

    def create_response(self, response_data: Any, sub_response: Response) -> Response:
        """Return the answer with the status that its errors call for."""
        errors = response_data.get("errors") if isinstance(response_data, dict) else None
        if errors and sub_response.status_code is None:
            sub_response.status_code = status_of(errors)
        return super().create_response(response_data, sub_response)
