"""Bringing a database to the schema that this version of the product needs."""

from functools import cache
from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

_SCRIPTS = Path(__file__).resolve().parent.parent / "migrations"


def _config(dsn: str) -> Config:
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
    command.upgrade(_config(dsn), revision)


def downgrade(dsn: str, revision: str) -> None:
    """Take migrations back down to a revision (`base`: all of them), with their data."""
    command.downgrade(_config(dsn), revision)


def check(dsn: str) -> None:
    """Raise when the tables of the models and of the database differ."""
    command.check(_config(dsn))


@cache
def head() -> str:
    """The revision that this version of the product needs."""
    return ScriptDirectory.from_config(_config("postgresql://")).get_current_head() or ""


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
