"""A served vault for tests: real servers on one database, the command `memo` as people start it, and clients of both roles."""

import asyncio
import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
import websockets
from websockets.typing import Subprotocol

from server.app import App
from server.settings import Settings

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 30
HISTORY = "query($p: String!) { fileChanges(displayPath: $p) { operation version kind toolName run { id } actor { kind name } } }"


@dataclass(frozen=True)
class Client:
    """One caller at one server."""

    base: str
    token: str | None
    headers: dict[str, str]

    async def answer(self, query: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = self.headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        async with httpx.AsyncClient(base_url=self.base, timeout=PATIENCE) as http:
            response = await http.post("/graphql", json={"query": query, "variables": variables or {}}, headers=headers)
        answer: dict[str, Any] = response.json()
        return answer

    async def data(self, query: str, **variables: Any) -> Any:
        answer = await self.answer(query, variables)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    async def refused(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = await self.answer(query, variables)
        (error,) = answer["errors"]
        found: dict[str, Any] = error["extensions"]
        assert error["message"] == found["message"]
        return found

    async def history(self, path: str) -> list[tuple[str, int, str, str]]:
        """Operation, version, kind of actor and name of actor, oldest first."""
        found = (await self.data(HISTORY, p=path))["fileChanges"]
        assert {row["kind"] for row in found} <= {"VAULT"}
        return [(row["operation"], row["version"], row["actor"]["kind"], row["actor"]["name"]) for row in reversed(found)]

    async def until(self, path: str, count: int) -> list[tuple[str, int, str, str]]:
        """The history of a path once it has so many changes."""
        async with asyncio.timeout(PATIENCE):
            while len(found := await self.history(path)) < count:  # noqa: ASYNC110  # another process has no event to give
                await asyncio.sleep(0.02)
        return found

    @contextlib.asynccontextmanager
    async def subscription(self, query: str) -> AsyncIterator[Callable[[], Any]]:
        """A subscription over a socket; calling what is yielded waits for the next change."""
        url = f"{self.base.replace('http', 'ws', 1)}/graphql"
        async with websockets.connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
            await socket.send(json.dumps({"type": "connection_init", "payload": {"token": self.token}}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}))

            async def following() -> Any:
                async with asyncio.timeout(PATIENCE):
                    message = json.loads(await socket.recv())
                assert message["type"] == "next", message
                return message["payload"]["data"]["fileChanges"]

            yield following


@dataclass(frozen=True)
class Served:
    """A running server."""

    base: str

    def client(self, token: str | None, **headers: str) -> Client:
        return Client(self.base, token, {f"X-{name.replace('_', '-')}": value for name, value in headers.items()})


@contextlib.asynccontextmanager
async def serving(dsn: str, root: Path, organisation: str) -> AsyncIterator[Served]:
    settings = Settings(vault_root=root, vault_organisation=organisation, database_connections=5, log_format="json")
    config = uvicorn.Config(App(settings, dsn), host="127.0.0.1", port=0, log_config=None, access_log=False, lifespan="on")
    config.timeout_graceful_shutdown = 3
    listener = config.bind_socket()
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with asyncio.timeout(PATIENCE):
            while not server.started and not task.done():  # noqa: ASYNC110  # uvicorn sets no event
                await asyncio.sleep(0.01)
        assert server.started
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        await task


async def memo(root: Path, *arguments: str, text: str = "") -> Any:
    """What the command answers, run as a process of its own on the vault."""
    command = [sys.executable, "-c", "from vault.cli import main; main()", *arguments, "--json", "--project-id", "p"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "SPEC_MEMO_ROOT": str(root)}
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=root.parent, env=environment, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Save a file as editors do: write another one and move it over."""
    draft = path.with_name(f".{path.name}.swp")
    draft.write_text(change(path.read_text()))
    draft.replace(path)


def files(root: Path) -> dict[str, str]:
    """Every record of the vault by its path, with what tells its content."""
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in root.glob("projects/*/*/*.md")}
