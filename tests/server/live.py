"""The application behind real sockets of the loopback interface, and a client of graphql-transport-ws."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from server.app import App
from server.serve import uvicorn_config

PATIENCE = 20
FOLLOW = (
    "subscription Follow($after: Cursor, $prefix: String) { fileChanges(after: $after, prefix: $prefix) { cursor displayPath operation } }"
)
WRITE = """mutation Write($key: String!, $content: String = "text") {
    noteWrite(level: ORG, key: $key, content: $content) { displayPath version latestChange { cursor run { id } toolCallId toolName } } }"""


@contextlib.asynccontextmanager
async def serving(app: App) -> AsyncIterator[str]:
    """The application served as `muniment serve` serves it; the address without scheme."""
    config = uvicorn_config(app, host="127.0.0.1", port=0, ws_max_size=2_097_152, timeout_graceful_shutdown=1)
    server, listener = uvicorn.Server(config), config.bind_socket()
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            assert not task.done(), "the server did not start"
            await asyncio.sleep(0.01)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


class Line:
    """One connection that speaks graphql-transport-ws."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, message: Any) -> None:
        await self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    async def receive(self) -> Any:
        return json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE))

    async def start(self, payload: Any = None) -> None:
        """Introduce oneself and be acknowledged."""
        await self.send({"type": "connection_init"} if payload is None else {"type": "connection_init", "payload": payload})
        assert await self.receive() == {"type": "connection_ack"}

    async def subscribe(self, query: str, operation: str = "1", **variables: Any) -> None:
        await self.send({"type": "subscribe", "id": operation, "payload": {"query": query, "variables": variables}})

    async def ask(self, query: str, operation: str = "q", **variables: Any) -> Any:
        """Run a query or mutation to its completion; its payload."""
        await self.subscribe(query, operation, **variables)
        answer = await self.receive()
        assert (answer["id"], answer["type"]) == (operation, "next")
        assert await self.receive() == {"id": operation, "type": "complete"}
        return answer["payload"]

    async def closed(self) -> tuple[int, str]:
        """The code and reason that the server closes with, whatever it sends before."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.wait_for(self.socket.recv(), PATIENCE)
        assert self.socket.close_code is not None
        return self.socket.close_code, self.socket.close_reason or ""


@contextlib.asynccontextmanager
async def line(address: str, payload: Any = None, *, init: bool = True, headers: dict[str, str] | None = None) -> AsyncIterator[Line]:
    """A socket, introduced unless told otherwise."""
    async with connect(f"ws://{address}/graphql", subprotocols=[Subprotocol("graphql-transport-ws")], additional_headers=headers) as socket:
        found = Line(socket)
        if init:
            await found.start(payload)
        yield found


async def subscribers(address: str, expected: int) -> None:
    """Wait until the server counts this many open subscriptions."""
    async with httpx.AsyncClient(base_url=f"http://{address}") as client, asyncio.timeout(PATIENCE):
        while f"muniment_feed_subscribers {float(expected)}\n" not in (await client.get("/metrics")).text:  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.02)
