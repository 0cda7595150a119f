"""Several servers on one database: what is written at one is heard at the other; nothing that was acknowledged dies with a server."""

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from store import invariants
from store.database import Database
from tests.programs import program
from tests.server.conftest import Tokens, bearer
from tests.server.live import FOLLOW, WRITE, line, subscribers
from tests.server.processes import Served, served

# No timer helps within a test: what is heard, the bell has told.
NEVER = {"feed_poll": 3600}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(tmp_path)]
    process = subprocess.Popen([program("redis-server"), *options], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            break
        assert time.monotonic() < deadline, "redis-server did not start"
        time.sleep(0.02)
    yield f"redis://127.0.0.1:{port}/0"
    process.kill()
    process.wait()


async def hears(reader: Any, writer: Any, key: str) -> None:
    """What one line writes, the other hears."""
    path = (await writer.ask(WRITE, key=key))["data"]["noteWrite"]["displayPath"]
    assert (await reader.receive())["payload"]["data"]["fileChanges"]["displayPath"] == path


async def each_hears_the_other(one: str, other: str, token: str) -> None:
    async with line(one, {"token": token}) as here, line(other, {"token": token}) as there:
        for address, follower, writer in ((one, here, there), (other, there, here)):
            await follower.subscribe(FOLLOW)
            await subscribers(address, 1)
            await hears(follower, writer, f"{address.replace(':', '-')}.md")
            await follower.send({"type": "complete", "id": "1"})
            await subscribers(address, 0)


async def test_two_servers_hear_each_other_through_the_database(tmp_path: Path, dsn: str, tokens: Tokens) -> None:
    with served(tmp_path / "one", dsn, **NEVER) as one, served(tmp_path / "other", dsn, **NEVER) as other:
        await each_hears_the_other(one.address, other.address, tokens.operator)
        assert (one.stop(), other.stop()) == (130, 130)  # as Ctrl-C ends a command
        assert "Traceback" not in one.said + other.said


async def test_two_servers_hear_each_other_through_redis(tmp_path: Path, dsn: str, tokens: Tokens, redis: str) -> None:
    settings = NEVER | {"broadcast_url": redis}
    with served(tmp_path / "one", dsn, **settings) as one, served(tmp_path / "other", dsn, **settings) as other:
        await each_hears_the_other(one.address, other.address, tokens.operator)
        async with httpx.AsyncClient(base_url=f"http://{one.address}") as client:
            assert (await client.get("/readyz")).json()["checks"]["bell"] == "ok"


async def test_worker_processes_of_one_server_hear_each_other(tmp_path: Path, dsn: str, tokens: Tokens) -> None:
    with served(tmp_path / "server", dsn, "--workers", "2", **NEVER) as server:
        async with contextlib.AsyncExitStack() as stack:
            # Connections fall to either process, so that some of these are not the writer's.
            followers = [await stack.enter_async_context(line(server.address, {"token": tokens.operator})) for _ in range(12)]
            writer = await stack.enter_async_context(line(server.address, {"token": tokens.operator}))
            first = (await writer.ask(WRITE, key="first.md"))["data"]["noteWrite"]["latestChange"]["cursor"]
            for follower in followers:
                await follower.subscribe(FOLLOW, after=first)
            path = (await writer.ask(WRITE, key="all.md"))["data"]["noteWrite"]["displayPath"]
            heard = await asyncio.gather(*(follower.receive() for follower in followers))
            assert [event["payload"]["data"]["fileChanges"]["displayPath"] for event in heard] == [path] * 12


# ---------------------------------------------------------------------- a server that is killed


async def write_until_cut(address: str, token: str, name: str, acknowledged: list[tuple[str, int, str]], enough: asyncio.Event) -> None:
    """Write notes one after the other, each key twice, and keep what the server has acknowledged, until it is gone."""
    async with httpx.AsyncClient(base_url=f"http://{address}", headers=bearer(token), timeout=20) as client:
        with contextlib.suppress(httpx.TransportError):
            for number in range(10_000):
                body = {"query": WRITE, "variables": {"key": f"{name}-{number // 2}.md", "content": f"{name} {number}"}}
                note = (await client.post("/graphql", json=body)).json()["data"]["noteWrite"]
                acknowledged.append((note["displayPath"], note["version"], note["latestChange"]["cursor"]))
                if len(acknowledged) >= 200:
                    enough.set()


async def follow_until_cut(address: str, token: str, read: list[str]) -> None:
    """Keep the cursor of each change that arrives, until the server is gone."""
    async with line(address, {"token": token}) as reader:
        await reader.subscribe(FOLLOW)
        with contextlib.suppress(Exception):  # the connection ends in whatever way a killed server ends it
            while True:
                read.append((await reader.receive())["payload"]["data"]["fileChanges"]["cursor"])


async def killed_in_the_middle(server: Served, token: str) -> tuple[list[tuple[str, int, str]], list[str]]:
    """What four writers were told was written, and what a reader had read, when the server was killed."""
    acknowledged: list[tuple[str, int, str]] = []
    read: list[str] = []
    enough = asyncio.Event()
    reading = asyncio.create_task(follow_until_cut(server.address, token, read))
    await subscribers(server.address, 1)
    writing = [asyncio.create_task(write_until_cut(server.address, token, f"w{n}", acknowledged, enough)) for n in range(4)]
    await asyncio.wait_for(enough.wait(), 60)
    server.kill()
    await asyncio.gather(reading, *writing)
    return acknowledged, read


async def test_a_killed_server_loses_no_acknowledged_write_and_no_reader_a_change(
    tmp_path: Path, dsn: str, db: Database, tokens: Tokens
) -> None:
    with served(tmp_path / "one", dsn) as one:
        acknowledged, read = await killed_in_the_middle(one, tokens.operator)
    assert len(acknowledged) >= 200
    async with db.read() as reader:
        rows = await reader.rows("SELECT display_path, version, xid, id FROM file_changes ORDER BY xid, id")
    trail = {f"{row.xid:016x}{row.id:016x}": (row.display_path, row.version) for row in rows}
    assert {cursor: (path, version) for path, version, cursor in acknowledged}.items() <= trail.items()
    assert await invariants.findings(db) == []
    cursors = list(trail)
    assert read == cursors[: len(read)]
    with served(tmp_path / "again", dsn) as again:
        async with line(again.address, {"token": tokens.operator}) as late, line(again.address, {"token": tokens.operator}) as writer:
            await late.subscribe(FOLLOW, after=read[-1])
            for expected in cursors[len(read) :]:
                assert (await late.receive())["payload"]["data"]["fileChanges"]["cursor"] == expected
            await hears(late, writer, "after.md")
