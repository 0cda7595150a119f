"""A GraphQL socket: Strawberry's protocol handler, made safe against what clients send and against rights that end while it is open."""

import contextlib
from time import perf_counter, time_ns
from typing import Any
from uuid import uuid4

from starlette.websockets import WebSocketDisconnect
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import SubscribeMessage

from engine import RefusedError
from models.errors import MunimentError, Unauthenticated
from resolvers.context import Context
from server import logs
from server.errors import shown

# Of the protocol, and of RFC 6455.
FORBIDDEN, INTERNAL, TRY_LATER = 4403, 1011, 1013

# A close frame holds no more (RFC 6455, 5.5).
_REASON_BYTES = 120


class Socket(ASGIWebSocketAdapter):
    """The transport, for which a client that has gone is no error."""

    async def send_json(self, message: Any) -> None:
        """Send a message. Raises WebSocketDisconnected once either side has closed."""
        try:
            await super().send_json(message)
        except RuntimeError as error:  # Starlette's, for a socket that we have closed ourselves
            raise WebSocketDisconnected from error

    async def close(self, code: int, reason: str) -> None:
        """Close, unless that has happened already."""
        try:
            await super().close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))
        except (WebSocketDisconnect, RuntimeError):
            return


class SocketHandler(BaseGraphQLTransportWSHandler[Context, None]):
    """A socket that asks again, before each operation, whether its caller is still who it was."""

    view: Any  # our View, which knows the door

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._codes: dict[str, str] = {}

    async def handle_message(self, message: Any) -> None:
        """Serve one message; one of another shape than the protocol's closes the socket with 4400."""
        if not _well_formed(message):
            await self.handle_invalid_message("Failed to parse message")
            return
        if message["type"] == "connection_init" and message.get("payload") is None:
            message = {key: value for key, value in message.items() if key != "payload"}  # the protocol lets it be null
        try:
            await super().handle_message(message)
        except WebSocketDisconnected:
            raise
        except Exception as error:  # noqa: BLE001  # one socket's failure must not reach the server
            await self._fail(error)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Start the operation; a caller whose token or rights have ended loses the socket (4403)."""
        if self.connection_acknowledged:
            try:
                self.context = await self.view.door.renewed(self.context)
            except Unauthenticated:
                await self.websocket.close(FORBIDDEN, "Forbidden")
                return
            except MunimentError as error:
                payload = [{"message": error.message, "extensions": error.as_json()}]
                await self.send_message({"id": message["id"], "type": "error", "payload": payload})
                return
        await super().handle_subscribe(message)

    async def shutdown(self) -> None:
        """End the operations, and give the place of the socket back."""
        try:
            await super().shutdown()
        finally:
            if (party := self.context.held_socket) is not None:
                self.view.door.services.sockets.give_back(party)

    async def run_operation(self, operation: Operation[Context, None]) -> None:
        """Run it to its end, and tell of it."""
        started, began, caller = perf_counter(), time_ns(), self.context.known
        try:
            await super().run_operation(operation)
        finally:
            code = self._codes.pop(operation.id, "OK")
            self.view.door.services.metrics.operations.labels("socket", "", code).inc()
            milliseconds = round((perf_counter() - started) * 1000, 2)
            facts = {"operation": self._name_of(operation), "caller": caller and f"{caller.kind.lower()}:{caller.id}"}
            known = {key: value for key, value in (facts | {"run": caller and caller.run_id}).items() if value is not None}
            logs.log.info("operation", door="socket", code=code, milliseconds=milliseconds, **known)
            if (telemetry := self.view.door.services.telemetry) is not None:
                telemetry.tell("socket", began, known | {"code": code})

    def _name_of(self, operation: Operation[Context, None]) -> str | None:
        documents = self.view.schema.engine.documents
        if operation.query not in documents:
            return None  # it was refused
        with contextlib.suppress(RefusedError):
            name: str | None = documents.get(operation.query).operation(operation.operation_name or None).name
            return name
        return None

    async def send_message(self, message: Any) -> None:
        """Send a message, and remember the code of the first error in it."""
        payload = message.get("payload")
        errors = payload if message["type"] == "error" else payload.get("errors") if message["type"] == "next" else None
        if errors:
            self._codes.setdefault(message["id"], errors[0].get("extensions", {}).get("code", "UNPROCESSABLE"))
        await super().send_message(message)

    async def handle_task_exception(self, error: Exception) -> None:
        """Log what went wrong in an operation, unless the client has just gone."""
        if not isinstance(error, WebSocketDisconnected):
            logs.internal_error(error, uuid4().hex)

    async def _fail(self, error: Exception) -> None:
        known = shown(error)
        if known is None:
            logs.internal_error(error, uuid4().hex)
        await self.websocket.close(INTERNAL if known is None else TRY_LATER, known.message if known else "Internal error")


def _well_formed(message: Any) -> bool:
    """Whether a message has the shape that Strawberry's handler takes for granted."""
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        return False
    if message["type"] == "complete":
        return isinstance(message.get("id"), str)
    if message["type"] != "subscribe":
        return True
    payload = message.get("payload")
    return (
        isinstance(message.get("id"), str)
        and bool(message["id"])
        and isinstance(payload, dict)
        and isinstance(payload.get("query"), str)
        and isinstance(payload.get("variables"), dict | None)
        and isinstance(payload.get("operationName"), str | None)
    )
