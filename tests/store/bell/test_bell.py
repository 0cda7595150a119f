import asyncio
import contextlib
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from store.bell import EVERYONE, Bell
from tests.programs import program

QUICK = {"first_delay": 0.01, "longest_delay": 0.05, "retry": 0.05}


@contextlib.asynccontextmanager
async def started(url: str) -> AsyncIterator[Bell]:
    bell = Bell(url, **QUICK)
    await bell.start()
    try:
        yield bell
    finally:
        await bell.stop()


class Listener:
    def __init__(self, bell: Bell) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self._task = asyncio.create_task(self._listen(bell))

    async def _listen(self, bell: Bell) -> None:
        async for org in bell.heard():
            self.heard.put_nowait(org)

    async def next(self) -> str:
        return await asyncio.wait_for(self.heard.get(), 20)

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


@contextlib.asynccontextmanager
async def listening(bell: Bell) -> AsyncIterator[Listener]:
    listener = Listener(bell)
    try:
        await until_it_listens(bell, listener)
        yield listener
    finally:
        await listener.close()


async def until_it_listens(bell: Bell, listener: Listener) -> None:
    """Ring until one ring comes back, then wait for the last of them."""
    count = 0
    while listener.heard.empty():
        count += 1
        bell.ring({f"probe {count}"})
        await asyncio.sleep(0.02)
    while await listener.next() != f"probe {count}":
        pass


async def until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # the connection is looked at from outside
            await asyncio.sleep(0.01)


class RedisServer:
    def __init__(self, folder: Path) -> None:
        self._binary = program("redis-server")
        self._socket = folder / "redis.sock"
        self.url = f"unix://{self._socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", str(self._socket), "--save", "", "--appendonly", "no", "--dir", str(self._socket.parent)]
        self._process = subprocess.Popen([self._binary, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not self._socket.exists():
            assert time.monotonic() < deadline, "redis-server did not start"
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._socket.unlink(missing_ok=True)


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("r"))
    server.start()
    yield server
    server.stop()


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the bell knows memory://, postgresql://, redis:// and rediss:// addresses, not kafka://$"):
        Bell("kafka://somewhere")


async def test_a_ring_is_heard_within_the_process() -> None:
    async with started("memory://") as bell, listening(bell) as listener:
        assert bell.connected
        bell.ring({"acme"})
        assert await listener.next() == "acme"


async def test_a_burst_rings_once() -> None:
    async with started("memory://") as bell, listening(bell) as listener:
        for _ in range(1000):
            bell.ring({"acme"})
        bell.ring({"last"})
        assert {await listener.next(), await listener.next()} == {"acme", "last"}
        assert listener.heard.empty()


async def test_a_bell_that_was_never_started_takes_rings() -> None:
    bell = Bell()
    bell.ring({"acme"})
    assert not bell.connected
    await bell.stop()


async def test_postgres_carries_a_ring_to_another_process(dsn: str) -> None:
    async with started(dsn) as one, started(dsn) as other, listening(other) as listener:
        one.ring({"acme"})
        assert await listener.next() == "acme"


async def test_a_killed_postgres_connection_is_opened_again_and_says_that_something_may_be_missed(dsn: str) -> None:
    async with started(dsn) as one, started(dsn) as other, listening(other) as listener:
        admin = await asyncpg.connect(dsn)
        killed = await admin.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'muniment bell'"
        )
        await admin.close()
        assert killed == 2
        assert await listener.next() == EVERYONE
        await until(lambda: one.connected and other.connected)
        one.ring({"acme"})
        assert await listener.next() == "acme"


async def test_what_was_rung_without_a_connection_is_sent_later_and_heard_here_at_once(redis_server: RedisServer) -> None:
    async with (
        started(redis_server.url) as one,
        started(redis_server.url) as other,
        listening(one) as here,
        listening(other) as there,
    ):
        redis_server.stop()
        await until(lambda: not one.connected and not other.connected)
        one.ring({"acme"})
        assert [name async for name in upto(here, "acme")][-1] == "acme"
        redis_server.start()
        assert [name async for name in upto(there, EVERYONE)][-1] == EVERYONE
        await until(lambda: one.connected and other.connected)
        one.ring({"later"})
        assert [name async for name in upto(there, "later")][-1] == "later"


async def upto(listener: Listener, name: str) -> AsyncIterator[str]:
    while True:
        heard = await listener.next()
        yield heard
        if heard == name:
            return


async def test_redis_carries_a_ring_to_another_process(redis_server: RedisServer) -> None:
    async with started(redis_server.url) as one, started(redis_server.url) as other, listening(other) as listener:
        one.ring({"acme"})
        assert await listener.next() == "acme"


@pytest.mark.parametrize("kind", ["postgres", "redis"])
async def test_a_silent_connection_is_tried_and_stays(kind: str, dsn: str, redis_server: RedisServer) -> None:
    url = dsn if kind == "postgres" else redis_server.url
    bell = Bell(url, **QUICK, silence=0.02)
    await bell.start()
    try:
        async with listening(bell) as listener:
            await asyncio.sleep(0.2)
            bell.ring({"acme"})
            assert await listener.next() == "acme"
            assert bell.connected
    finally:
        await bell.stop()


async def test_a_server_that_is_not_there_is_no_error_at_the_start(tmp_path: Path) -> None:
    async with started(f"unix://{tmp_path}/nothing.sock") as bell:
        assert not bell.connected
