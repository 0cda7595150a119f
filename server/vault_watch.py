"""Following a mounted vault: every process keeps up with its files, one of all tells the feed of what changed."""

import asyncio
import contextlib

from resolvers.mount import Mount
from server.logs import log
from store.database import Database
from store.leadership import Leadership
from vault.watch import VaultChange, watch


class VaultWatch:
    """The watch of one process. The process that leads records; another one takes over when it ends or is killed."""

    def __init__(self, mount: Mount, db: Database, *, every: float = 2.0) -> None:
        """`every`: seconds after which the lead is asked for again, and after which what failed is tried again."""
        self._mount = mount
        self._leadership = Leadership(db, f"vault watch {mount.org_id}")
        self._every = every
        self._leads = False
        self._behind = False
        self._look = asyncio.Event()

    @property
    def leads(self) -> bool:
        """Whether this process is the one that tells the feed."""
        return self._leads

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            await asyncio.gather(self._follow(), self._lead())
        finally:
            self._leads = False
            await self._leadership.give_up()

    # ------------------------------------------------------------------ the files

    async def _follow(self) -> None:
        while True:
            try:
                await self._follow_files()
            except Exception as error:  # noqa: BLE001  # the next attempt looks at every file, so nothing is lost
                log.warning("the vault cannot be watched; every file is looked at again", error=str(error))
            await asyncio.sleep(self._every)

    async def _follow_files(self) -> None:
        known = await self._mount.catch_up()
        self._fall_behind()
        async with contextlib.aclosing(watch(self._mount.vault.root, known)) as batches:
            async for batch in batches:
                await self._mount.notice(change.key for change in batch)
                if self._leads:
                    await self._record(batch)

    async def _record(self, batch: list[VaultChange]) -> None:
        try:
            await self._mount.record(change.key for change in batch)
        except Exception as error:  # noqa: BLE001  # a comparison of all files makes up for it
            log.warning("changes of the vault could not be recorded yet", count=len(batch), error=str(error))
            self._behind = True

    # ------------------------------------------------------------------ the lead

    async def _lead(self) -> None:
        while True:
            held = await self._leadership.held()
            if held and not self._leads:
                log.info("this process follows the vault", organisation=self._mount.org_id)
                self._behind = True
            self._leads = held
            if held and self._behind:
                await self._reconcile()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), self._every)
            self._look.clear()

    def _fall_behind(self) -> None:
        self._behind = True
        self._look.set()

    async def _reconcile(self) -> None:
        self._behind = False
        try:
            count = await self._mount.reconcile()
        except Exception as error:  # noqa: BLE001  # tried again after a while
            log.warning("the vault could not be compared with the feed yet", error=str(error))
            self._behind = True
            return
        if count:
            log.info("recorded changes of the vault that nobody had seen", count=count)
