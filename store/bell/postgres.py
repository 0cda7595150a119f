"""The bell over PostgreSQL: LISTEN and NOTIFY on a connection of its own, outside the pool and outside every transaction."""

import asyncio
from typing import Any

import asyncpg

from store.bell.link import BellUnavailable, Link

_TIMEOUT = 10.0


class PostgresLink(Link):
    """One connection in autocommit; asyncpg allows one statement at a time on it, hence the lock."""

    failures = (OSError, TimeoutError, BellUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

    def __init__(self, url: str, **options: float) -> None:
        super().__init__(url, **options)
        self._connection: asyncpg.Connection | None = None
        self._lock = asyncio.Lock()

    async def publish(self, channel: str, message: str) -> None:
        """Tell everybody who listens; raises one of `failures` without a connection."""
        # A NOTIFY takes a lock that serialises all commits: alone in its transaction it holds it for an instant only.
        await self._run("SELECT pg_notify($1, $2)", channel, message)

    async def listen(self, channel: str) -> None:
        """Listen to one more channel."""
        async with self._lock:
            await self._standing().add_listener(channel, self._arrived)

    async def hold(self, channels: frozenset[str]) -> None:
        """Stay connected; after a silence the connection is tried, since a dead one may look alive for hours."""
        lost = asyncio.Event()
        connection = await asyncpg.connect(self._url, timeout=_TIMEOUT, server_settings={"application_name": "muniment bell"})
        try:
            connection.add_termination_listener(lambda _: lost.set())
            for channel in channels:
                await connection.add_listener(channel, self._arrived)
            self._connection = connection
            await self.up()
            await self._watch(lost)
        finally:
            self._connection = None
            connection.terminate()

    async def _watch(self, lost: asyncio.Event) -> None:
        while not lost.is_set():
            try:
                await asyncio.wait_for(lost.wait(), self._silence)
            except TimeoutError:
                await self._run("SELECT 1")
        raise BellUnavailable("the server closed the connection")

    async def _run(self, statement: str, *arguments: str) -> None:
        async with self._lock:
            await self._standing().execute(statement, *arguments, timeout=_TIMEOUT)

    def _standing(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            raise BellUnavailable("there is no connection")
        return self._connection

    def _arrived(self, _connection: Any, _pid: int, channel: str, message: str) -> None:
        self.hear(channel, message)
