"""A real browser without any other host, steered over its DevTools protocol."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.programs import program

PATIENCE = 60
_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--remote-debugging-port=0"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = iter(range(1, 1_000_000))

    async def call(self, method: str, **params: Any) -> Any:
        """Return what the browser answers."""
        number = next(self._numbers)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))
            if message.get("id") == number:
                return message["result"]

    async def open(self, address: str) -> None:
        """Go to an address, as a person who types it in."""
        await self.call("Page.navigate", url=address)

    async def run(self, script: str) -> Any:
        """Return the value of a script."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    async def until(self, script: str) -> Any:
        """Run a script until its value is true, and return it."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await self.run(script)):  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.05)
        return found


@contextlib.asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """A browser of its own, at an empty page."""
    command = [program("chromium"), *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient() as client:
            while not (file := folder / "DevToolsActivePort").exists() or "\n" not in file.read_text():  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.05)
            tabs = (await client.get(f"http://127.0.0.1:{file.read_text().split()[0]}/json/list")).json()
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        async with connect(address, max_size=None) as socket:
            yield Page(socket)
    finally:
        process.kill()
        await process.wait()
