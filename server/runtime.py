"""The database of a command: the embedded one, started or joined, or the one that the settings name."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from server import migrate
from server.postgres import EmbeddedPostgres
from server.settings import Settings
from store.bell import Bell
from store.database import Database
from store.feed.retention import rebase

Answer = TypeVar("Answer")


class OldSchema(Exception):
    """The database is not at the revision that this version needs; the message says what to do."""


@contextlib.contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The address of a database that is ready to use; an embedded one is migrated, and left when the block ends.

    Raises OldSchema for a database of others' that is not migrated, MigrationError for one that is ahead of this version,
    DatabaseUnavailable, and PostgresError where the embedded one cannot start.
    """
    with _opened(settings) as dsn:
        if settings.database_url is not None:
            _require_current(dsn)
        elif asyncio.run(migrate.current(dsn)) != migrate.head():
            migrate.upgrade(dsn)
        # At every start: a restored database whose positions are of another cluster would hold the feed back for good.
        asyncio.run(_rebase(dsn))
        yield dsn


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[str]:
    """The address of a database that runs, whatever revision it is at."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.home) as postgres:
        postgres.ensure_database("muniment")
        yield postgres.dsn("muniment")


def migrate_database(settings: Settings, revision: str = migrate.HEAD) -> str:
    """Apply the migrations; what to tell of it. Raises MigrationError, DatabaseUnavailable, PostgresError."""
    with _opened(settings) as dsn:
        migrate.upgrade(dsn, revision)
        if (reached := asyncio.run(migrate.current(dsn))) == migrate.head():
            asyncio.run(_rebase(dsn))
        return f"the database is at revision {reached}"


def _require_current(dsn: str) -> None:
    current, head = asyncio.run(migrate.current(dsn)), migrate.head()
    migrate.require_known(current)
    if current != head:
        state = "has no tables yet" if current is None else f"is at revision {current}"
        raise OldSchema(f"the database {state}; this version needs revision {head}. Run `muniment migrate` first")


async def _rebase(dsn: str) -> None:
    db = await Database(dsn, size=1).open()
    try:
        await rebase(db)
    finally:
        await db.close()


def run(settings: Settings, work: Callable[[Database], Awaitable[Answer]]) -> Answer:
    """What a piece of work with the database answers. Servers that run are told of what it changed before it ends."""

    async def within(dsn: str) -> Answer:
        db = await Database(dsn, size=4, statement_timeout=0).open()
        bell = Bell(settings.broadcast_url or dsn)
        await bell.start()
        db.after_commit = bell.ring
        try:
            return await work(db)
        finally:
            await bell.stop()
            await db.close()

    with database(settings) as dsn:
        return asyncio.run(within(dsn))
