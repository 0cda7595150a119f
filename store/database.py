"""The connection to PostgreSQL: asyncpg run directly, since its rows need no copying and its own pool costs more than most queries."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, overload

import asyncpg

from models.errors import Conflict, Unavailable, Unprocessable
from store.connections import Connection, Connections
from store.known_tables import KnownTables
from store.reaching import UNREACHED, unreached
from store.shares import Shares
from store.sql import Query, Shape, Statement
from store.usage import AnswerTooLarge, current

R = TypeVar("R", bound=Shape)


class Row(asyncpg.Record):  # type: ignore[misc]  # asyncpg ships no types
    """A row whose columns are attributes too, as GraphQL types and templates read them."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


# Which refusal a violated constraint means, by the constraint's name.
_REFUSALS: dict[str, str] = {
    "guilds_live_name": "a guild of this name exists already",
    "agents_live_name": "an agent of this name exists already",
    "schedules_live_name": "this agent has a routine of this name already",
    "collections_live_name": "a collection of this name exists already",
    "artifacts_live_key": "a file of this name exists already",
}


class DatabaseUnavailable(Exception):
    """The database cannot be reached, or did not answer in time."""


_CAUSED_BY_REQUEST = (
    asyncpg.UniqueViolationError,
    asyncpg.CharacterNotInRepertoireError,
    asyncpg.UntranslatableCharacterError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.PostgresConnectionError,
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    # What the driver says of a connection that is lost just when it is used; of a wrong argument as well.
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)


def _refusal(error: Exception) -> Exception:
    """What one of the driver's errors means to whoever asked; the error itself where it means nothing to them."""
    match error:
        case asyncpg.InterfaceError() if isinstance(error, ValueError):
            return error  # a wrong argument is a fault of ours
        case asyncpg.UniqueViolationError():
            message = _REFUSALS.get(error.constraint_name or "")
            return Conflict(message) if message else error
        case asyncpg.CharacterNotInRepertoireError() | asyncpg.UntranslatableCharacterError():
            return Unprocessable("the text holds a character that cannot be stored")
        case asyncpg.QueryCanceledError():
            return TimeoutError("the database took longer than a statement may")
        case asyncpg.DeadlockDetectedError():
            # Locks are taken in one order everywhere, so this is a fault of ours; the client loses nothing by trying again.
            return Unavailable("others were changing the same at this moment; nothing was changed, try again")
    return DatabaseUnavailable("the database does not answer")


async def _answer(call: Awaitable[Any]) -> Any:
    """What the driver answers. Raises our error for one of the driver's that a request caused; others pass."""
    try:
        return await call
    except _CAUSED_BY_REQUEST as error:
        if (refusal := _refusal(error)) is error:
            raise
        raise refusal from error


def _sent(statement: Statement | str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Sequence[Any]:
    """Return what the driver takes: the text, then the values in the order of their numbers."""
    if isinstance(statement, str):
        return (statement, *arguments)
    return (statement.text, *statement.arguments(named))


class Reader:
    """One connection, for statements that change nothing."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    @overload
    async def rows(self, statement: Query[R], **named: Any) -> list[R]: ...
    @overload
    async def rows(self, statement: str, *arguments: Any) -> list[Row]: ...
    async def rows(self, statement: Query[Any] | str, *arguments: Any, **named: Any) -> list[Any]:
        """Return every row of the answer."""
        found: list[Any] = await _answer(self._connection.fetch(*_sent(statement, arguments, named)))
        return found

    @overload
    async def row(self, statement: Query[R], **named: Any) -> R | None: ...
    @overload
    async def row(self, statement: str, *arguments: Any) -> Row | None: ...
    async def row(self, statement: Query[Any] | str, *arguments: Any, **named: Any) -> Any:
        """Return the first row of the answer, or None."""
        return await _answer(self._connection.fetchrow(*_sent(statement, arguments, named)))

    async def one(self, statement: Query[R], **named: Any) -> R:
        """Return the row of a statement that always has one, such as an insert. Raises RuntimeError if it has none."""
        row = await self.row(statement, **named)
        if row is None:
            raise RuntimeError("a statement that always returns a row returned none")
        return row

    async def value(self, statement: Statement | str, *arguments: Any, **named: Any) -> Any:
        """Return the first column of the first row, or None."""
        return await _answer(self._connection.fetchval(*_sent(statement, arguments, named)))

    def transaction(self, **options: Any) -> AbstractAsyncContextManager[None]:
        """A transaction on the connection, for the length of a block."""
        started: AbstractAsyncContextManager[None] = self._connection.transaction(**options)
        return started

    async def stream(self, statement: str, *arguments: Any, batch: int = 500) -> AsyncIterator[Row]:
        """The rows of a long answer, fetched in batches, as of one moment."""
        async with self.transaction(isolation="repeatable_read", readonly=True):
            async for row in self._connection.cursor(statement, *arguments, prefetch=batch):
                yield row


class Writer(Reader):
    """One connection within one transaction, committed at its end, or within one statement that is a transaction by itself."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        super().__init__(connection)
        self.touched: set[str] = set()

    async def execute(self, statement: Statement | str, *arguments: Any, **named: Any) -> int:
        """Run a statement; return the number of rows that it touched."""
        status: str = await _answer(self._connection.execute(*_sent(statement, arguments, named)))
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def execute_many(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement once for each row of arguments, in one exchange."""
        await _answer(self._connection.executemany(statement, rows))


class _Borrowed:
    """A connection of the set for the length of a block. A class, since a generator would cost as much as a small statement."""

    __slots__ = ("_connection", "_db")

    def __init__(self, db: "Database") -> None:
        self._db = db

    async def __aenter__(self) -> Any:
        return await self._take()

    async def _take(self) -> Connection:
        self._connection = await self._db.connections.take()
        return self._connection

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._db.connections.give_back(self._connection)


class _Reading(_Borrowed):
    __slots__ = ()

    async def __aenter__(self) -> Reader:
        connection = await self._take()
        # What a write reads for itself is no part of an answer.
        connection.meter.usage = current.get()
        return Reader(connection)

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        usage = self._connection.meter.usage
        self._db.connections.give_back(self._connection)
        if kind is not None and usage is not None and usage.left < 0:
            raise AnswerTooLarge(usage.most)


class _WritingOnce(_Borrowed):
    __slots__ = ("_usage", "_writer")

    async def __aenter__(self) -> Writer:
        self._writer = Writer(await self._take())
        self._usage = current.get()
        if self._usage is not None:
            self._usage.commit()
        return self._writer

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._db.connections.give_back(self._connection)
        if self._usage is not None:
            self._usage.committed(written=kind is None and bool(self._writer.touched))
        if kind is None:
            self._db.committed(self._writer)


class Database:
    """A bounded set of connections, and the hook that is called after each commit with the organisations it touched."""

    def __init__(self, dsn: str, *, size: int = 10, shares: Shares | None = None, statement_timeout: float = 30.0) -> None:
        """`size` is the number of connections where `shares` does not say it, with what callers may hold of them."""
        self._dsn = dsn
        self._timeout = statement_timeout
        self.connections = Connections(self.apart, shares or Shares(size))
        self.tables = KnownTables()
        self.after_commit: Callable[[set[str]], None] = lambda _orgs: None

    @property
    def pool(self) -> dict[str, int]:
        """How many connections may be open, are idle, and are waited for."""
        return self.connections.counts

    async def open(self) -> "Database":
        """Connect once, so that a wrong address is known at the start. Raises DatabaseUnavailable."""
        async with self.read() as reader:
            await reader.value("SELECT 1")
        return self

    async def close(self) -> None:
        """Close the idle connections; busy ones close as they come back."""
        await self.connections.close()

    async def apart(self) -> Connection:
        """A connection of the caller's own, outside the bounded set; the caller closes it. Raises DatabaseUnavailable."""
        return await connect(self._dsn, statement_timeout=self._timeout)

    def read(self) -> AbstractAsyncContextManager[Reader]:
        """A connection for reading; each statement sees what is committed when it starts."""
        return _Reading(self)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Reader]:
        """A connection for reading whose statements all see the same moment."""
        async with self.read() as reader, reader.transaction(isolation="repeatable_read", readonly=True):
            yield reader

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[Writer]:
        """A transaction: committed when the block ends, rolled back when it raises."""
        usage = current.get()
        async with _Borrowed(self) as connection:
            writer, done = Writer(connection), False
            try:
                async with writer.transaction():
                    yield writer
                    if usage is not None:
                        usage.commit()
                done = True
            finally:
                if usage is not None:
                    usage.committed(written=done and bool(writer.touched))
        self.committed(writer)

    def write_once(self) -> AbstractAsyncContextManager[Writer]:
        """A connection for one statement that is its own transaction: two exchanges with the database less than `write`."""
        return _WritingOnce(self)

    def committed(self, writer: Writer) -> None:
        """Tell of what a writer has committed."""
        if writer.touched:
            self.after_commit(writer.touched)


async def connect(dsn: str, *, statement_timeout: float = 30.0) -> Connection:
    """One connection with our settings. JSON stays text: it is passed on, not looked into. Raises DatabaseUnavailable."""
    try:
        connection: Connection = await asyncpg.connect(
            dsn,
            connection_class=Connection,
            record_class=Row,
            statement_cache_size=500,
            max_cached_statement_lifetime=0,
            timeout=10,
            server_settings={
                "application_name": "muniment",
                "timezone": "UTC",
                "jit": "off",
                "statement_timeout": str(int(statement_timeout * 1000)),
                "idle_in_transaction_session_timeout": "60000",
            },
        )
    except UNREACHED as error:
        raise DatabaseUnavailable(unreached(dsn, error)) from error
    return connection.measured()
