"""Bringing a database to the schema that this version of the product needs."""

import asyncio
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from store.database import connect

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS = Path(__file__).resolve().parent.parent / "migrations"
HEAD = "head"


class MigrationError(Exception):
    """The database cannot be brought to a revision; the message says why and what to do."""


# Alembic takes a third of a second to import, which only a command that migrates should wait for.
def _config(dsn: str) -> "Config":
    from alembic.config import Config

    # Its own default is what stdout was when Alembic was imported.
    config = Config(stdout=sys.stdout)
    config.set_main_option("script_location", str(_SCRIPTS))
    # Alembic's options are read with interpolation, where a per cent sign must be doubled.
    config.set_main_option("sqlalchemy.url", _driver_url(dsn).replace("%", "%%"))
    return config


def _driver_url(dsn: str) -> str:
    _, _, rest = dsn.partition("://")
    return f"postgresql+asyncpg://{rest}"


def upgrade(dsn: str, revision: str = HEAD) -> None:
    """Apply the migrations up to a revision; one process at a time does so. Must not be called inside a running event loop.

    Raises MigrationError, after which the database is as it was, and DatabaseUnavailable.
    """
    from alembic import command
    from sqlalchemy.exc import DBAPIError

    if revision not in {HEAD, *revisions()}:
        raise MigrationError(f"there is no revision {revision!r}; there are {', '.join(revisions())}")
    require_known(asyncio.run(current(dsn)))
    try:
        command.upgrade(_config(dsn), revision)
    except DBAPIError as error:
        reason = str(error.orig).partition(": ")[2] or str(error.orig)
        raise MigrationError(f"the database could not be migrated, and is as it was: {reason}") from error


def require_known(revision: str | None) -> None:
    """Raise MigrationError for a revision that a later version of the product has left."""
    if revision is not None and revision not in revisions():
        raise MigrationError(
            f"the database is at revision {revision}, which this version of Muniment does not know (its last one is {head()}): "
            "a later version has migrated it. Run that version, or restore a backup from before. Nothing was changed"
        )


def downgrade(dsn: str, revision: str) -> None:
    """Take migrations back down to a revision (`base`: all of them), with their data."""
    from alembic import command

    command.downgrade(_config(dsn), revision)


def check(dsn: str) -> None:
    """Raise when the tables of the models and of the database differ."""
    from alembic import command

    command.check(_config(dsn))


@cache
def revisions() -> tuple[str, ...]:
    """Every revision, oldest first: the history is a line, and the files' names begin with their numbers."""
    return tuple(sorted(file.name.partition("_")[0] for file in (_SCRIPTS / "versions").glob("[0-9]*.py")))


def head() -> str:
    """The revision that this version of the product needs."""
    return revisions()[-1]


async def current(dsn: str) -> str | None:
    """The revision that a database is at; None for one that was never migrated. Raises DatabaseUnavailable."""
    connection = await connect(dsn)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None
        revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
        return revision
    finally:
        await connection.close()
