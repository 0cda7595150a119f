"""How Alembic reaches the database: over one asyncpg connection, one migrating process at a time."""

import asyncio

from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel

import models.tables  # noqa: F401  # registers the tables
from models.tables.columns import Xid8

ischema_names["xid8"] = Xid8

# Any number that no other user of this database takes for its advisory lock.
_LOCK = 0x6D756E69


def _run(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
    # A migration that waits for a lock would make every later request wait behind it: it gives up instead.
    connection.execute(text("SET lock_timeout = '5s'"))
    # Both outlive this transaction, and Alembic begins one of its own.
    connection.commit()
    try:
        context.configure(connection=connection, target_metadata=SQLModel.metadata, compare_type=True)
        with context.begin_transaction():
            context.run_migrations()
    finally:
        # A failed transaction would refuse the unlock.
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


async def _online(url: str) -> None:
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_run)
        await connection.commit()
    await engine.dispose()


asyncio.run(_online(context.config.get_main_option("sqlalchemy.url") or ""))
