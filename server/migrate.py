"""Bringing a database to the schema that this version of the product needs."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS = Path(__file__).resolve().parent.parent / "migrations"


# Alembic takes a third of a second to import, which only a command that migrates should wait for.
def _config(dsn: str) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    # Alembic's options are read with interpolation, where a per cent sign must be doubled.
    config.set_main_option("sqlalchemy.url", _driver_url(dsn).replace("%", "%%"))
    return config


def _driver_url(dsn: str) -> str:
    _, _, rest = dsn.partition("://")
    return f"postgresql+asyncpg://{rest}"


def upgrade(dsn: str, revision: str = "head") -> None:
    """Apply the migrations up to a revision; one process at a time does so. Must not be called inside a running event loop."""
    from alembic import command

    command.upgrade(_config(dsn), revision)


def downgrade(dsn: str, revision: str) -> None:
    """Take migrations back down to a revision (`base`: all of them), with their data."""
    from alembic import command

    command.downgrade(_config(dsn), revision)


def check(dsn: str) -> None:
    """Raise when the tables of the models and of the database differ."""
    from alembic import command

    command.check(_config(dsn))


@cache
def head() -> str:
    """The revision that this version of the product needs: its history is a line, and the files' names begin with their numbers."""
    return max(file.name.partition("_")[0] for file in (_SCRIPTS / "versions").glob("[0-9]*.py"))


async def current(dsn: str) -> str | None:
    """The revision that a database is at; None for one that was never migrated."""
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None
        revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
        return revision
    finally:
        await connection.close()
