import asyncio
from datetime import datetime

from models.caller import Caller
from models.clock import now
from models.cursor import Cursor
from store.database import Database
from store.feed import table
from store.feed.change import Filter
from store.feed.patience import patiently
from store.feed.standing import Standing
from store.feed.subscription import Subscription

# Seconds between looks while an open transaction holds changes back: it rings no bell when it ends without a write.
_HELD_FIRST, _HELD_LONGEST = 0.005, 0.25


class OrgReader:
    """Reads one organisation's feed for all its subscribers in this process, from the first one's coming to the last one's leaving."""

    def __init__(self, db: Database, org_id: str, *, poll: float, rights_every: float, batch: int) -> None:
        """`poll` is the seconds after which to look without a bell, `rights_every` those after which rights are read without a change."""
        self.db = db
        self.org_id = org_id
        self.batch = batch
        self.standing = Standing(db, org_id)
        self.position: Cursor | None = None
        self.subscriptions: set[Subscription] = set()
        self._held_since: datetime | None = None
        self._poll = poll
        self._rights_every = rights_every
        self._rung = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: list[asyncio.Task[None]] = []

    @property
    def lag(self) -> float:
        """Seconds since the oldest change was written that is known and not handed out; 0 when there is none."""
        return max(0.0, (now() - self._held_since).total_seconds()) if self._held_since else 0.0

    def join(self, caller: Caller, wanted: Filter, start: table.Start, queue: int) -> Subscription:
        """A new subscriber, registered from this moment on; the first one starts the reading."""
        if self.position is None:
            self.position = Cursor(start.snapshot.xmin, 0)
        subscription = Subscription(self, caller, wanted, start, queue)
        self.standing.join(caller)
        self.subscriptions.add(subscription)
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._follow(), name=f"feed of {self.org_id}"),
                asyncio.create_task(self._watch_rights(), name=f"rights of {self.org_id}"),
            ]
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Forget a subscriber; the last one ends the reading."""
        self.subscriptions.discard(subscription)
        self.standing.leave(subscription.caller)
        if not self.subscriptions:
            self._ending = self.stop()

    async def ended(self) -> None:
        """Wait until the reading that was last stopped has ended."""
        await asyncio.gather(*self._ending, return_exceptions=True)

    def ring(self) -> None:
        """Look at the table now."""
        self._rung.set()

    def stop(self) -> list[asyncio.Task[None]]:
        """End the reading; the tasks that are about to end."""
        ending, self._tasks = self._tasks, []
        for task in ending:
            task.cancel()
        self.position = None
        self._held_since = None
        return ending

    async def _follow(self) -> None:
        wait = _HELD_FIRST
        while True:
            self._rung.clear()
            if await patiently(self._advance):
                await self._rest(wait)
                wait = min(wait * 2, _HELD_LONGEST)
            else:
                wait = _HELD_FIRST
                await self._rest(self._poll)

    async def _rest(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return

    async def _advance(self) -> bool:
        """Hand out all that can be read; whether more is there that an open transaction holds back."""
        while True:
            part = await table.read(self.db, self.org_id, self._place(), self.batch)
            if part.batch is not None:
                # Rights are read after the changes: what was taken away before a change was written is gone by now.
                await self.standing.refresh()
                self._hand_out(part)
            self._held_since = part.held.at if part.held else None
            if not part.more:
                return part.held is not None

    def _place(self) -> Cursor:
        if self.position is None:
            raise RuntimeError("the feed is read without a subscriber")
        return self.position

    def _hand_out(self, part: table.Part) -> None:
        if part.batch is None:
            return
        # Retention has pruned between two readings: subscribers go back to the table, which tells them that changes are gone.
        missed = part.horizon is not None and self._place() < part.horizon
        self.position = part.batch.end
        for subscription in list(self.subscriptions):
            if missed:
                subscription.behind = True
                subscription.wake()
            else:
                subscription.push(part.batch)

    async def _watch_rights(self) -> None:
        """Bindings, tokens and memberships change without a change of a file: those who lost everything must be told."""
        while True:
            await asyncio.sleep(self._rights_every)
            await patiently(self.standing.refresh)
            for subscription in list(self.subscriptions):
                if self.standing.knows(subscription.caller) and self.standing.of(subscription.caller) is None:
                    subscription.wake()
