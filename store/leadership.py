import contextlib

import asyncpg

from store.database import Database
from store.feed.patience import AWAY

_TAKE = "SELECT pg_try_advisory_lock(hashtextextended($1, 3))"
_ANSWER = 5.0  # seconds


class Leadership:
    """One process among all that share a database does a task; another one takes over when it ends or is killed.

    It is a lock of a database session, so it needs a connection of its own, and a direct one where a pooler stands in between.
    """

    def __init__(self, db: Database, task: str) -> None:
        self._db = db
        self._task = task
        self._connection: asyncpg.Connection | None = None
        self._held = False

    async def held(self) -> bool:
        """Whether this process leads now; it takes the lead if nobody has it. To be asked again and again: the lead can be lost."""
        try:
            if self._connection is None:
                self._connection = await self._db.apart()
            if self._held:
                await self._connection.fetchval("SELECT 1", timeout=_ANSWER)
            else:
                self._held = await self._connection.fetchval(_TAKE, self._task, timeout=_ANSWER)
        except AWAY:
            self._drop()
        return self._held

    async def give_up(self) -> None:
        """Let another process lead."""
        if self._connection is not None:
            with contextlib.suppress(*AWAY):
                await self._connection.close(timeout=_ANSWER)
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
        self._connection, self._held = None, False
