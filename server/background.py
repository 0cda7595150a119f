"""What a process does besides answering: it prunes what retention no longer keeps, and it follows the vault."""

import asyncio
import contextlib
from datetime import timedelta
from types import TracebackType
from typing import Self

from server.logs import log
from server.services import Services
from server.vault_watch import VaultWatch
from store.feed.retention import prune

_PRUNE_EVERY = 3600.0


class Background:
    """The tasks of one process, from entering to leaving."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        if self._services.settings.retention_days:
            self._tasks.append(asyncio.create_task(self._prune(), name="retention"))
        if self._services.vault is not None:
            watch = VaultWatch(self._services.vault, self._services.db)
            self._tasks.append(asyncio.create_task(watch.run(), name="vault watch"))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _prune(self) -> None:
        days = self._services.settings.retention_days or 0
        while True:
            try:
                pruned = await prune(self._services.db, older_than=timedelta(days=days))
                log.info("pruned file changes", count=pruned, days=days)
            except Exception as error:  # noqa: BLE001  # the next round tries again
                log.warning("pruning failed", error=str(error))
            await asyncio.sleep(_PRUNE_EVERY)
