"""Waiting for a database that is away: a subscription outlives its restarts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from store.database import DatabaseUnavailable

logger = logging.getLogger(__name__)

AWAY = (DatabaseUnavailable, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""What a lost, restarting or overloaded database raises."""

_FIRST, _LONGEST = 0.05, 2.0

T = TypeVar("T")


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """The result of the work, which is tried again, ever more slowly, while the database is away."""
    delay = _FIRST
    while True:
        try:
            return await work()
        except AWAY as error:
            logger.warning("the feed waits for the database: %s", error)
        await asyncio.sleep(delay)
        delay = min(delay * 2, _LONGEST)
