"""The bounded set of connections, which callers share, and the count of what each reads for its caller."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from store.shares import Shares
from store.usage import Party, Usage, current


class Connection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg ships no types
    """A connection of the set, with the party that holds it."""

    meter: "Meter"
    party: Party | None = None

    def measured(self) -> "Connection":
        """Count, from here on, what the connection receives."""
        transport = self._transport
        self.meter = Meter(transport, transport.get_protocol())
        transport.set_protocol(self.meter)
        return self


class Meter(asyncio.Protocol):
    """Stands between the socket and the driver, which would take in an answer of any size before anybody could look at it.

    A connection whose request has read more than it may is cut, which ends its statement in the database as well.
    """

    def __init__(self, transport: asyncio.Transport, driver: Any) -> None:
        self._transport = transport
        self._driver = driver
        self.usage: Usage | None = None

    def data_received(self, data: bytes) -> None:
        """Count the bytes and pass them on."""
        if (usage := self.usage) is not None:
            usage.left -= len(data)
            if usage.left < 0:
                self._transport.abort()
                return
        self._driver.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass it on."""
        answer: bool | None = self._driver.eof_received()
        return answer

    def pause_writing(self) -> None:
        """Pass it on."""
        self._driver.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._driver.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        """Pass it on."""
        self._driver.connection_lost(error)


class Connections:
    """A bounded set of connections; the last that came back is the first to go out."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], shares: Shares) -> None:
        self._connect = connect
        self._size = shares.places
        self._shares = shares
        self._idle: list[Connection] = []

    @property
    def counts(self) -> dict[str, int]:
        """How many connections may be open, are idle, and are waited for."""
        return {"size": self._size, "idle": len(self._idle), "waiting": self._shares.waiting}

    async def take(self) -> Connection:
        """Take a connection, for `give_back`; waits while all are busy, or all that the caller or its organisation may hold.

        Raises DatabaseUnavailable, RateLimited.
        """
        usage = current.get()
        party = None if usage is None else usage.party
        if not self._shares.take_now(party):
            await self._shares.take(party)
        try:
            connection = self._last_idle() or await self._connect()
        except BaseException:
            self._shares.give_back(party)
            raise
        connection.party = party
        return connection

    def _last_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def give_back(self, connection: Connection) -> None:
        """Take a connection back into the set."""
        connection.meter.usage = None
        self._shares.give_back(connection.party)
        if connection.is_closed():
            return
        if connection.is_in_transaction() or len(self._idle) >= self._size:
            # A transaction that is still open belongs to a cancelled request.
            connection.terminate()
        else:
            self._idle.append(connection)

    async def close(self) -> None:
        """Close the idle connections; busy ones close as they come back."""
        self._size = 0
        while self._idle:
            await self._idle.pop().close(timeout=5)
