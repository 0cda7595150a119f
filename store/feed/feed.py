import asyncio
from collections.abc import AsyncGenerator, Collection

from models.caller import Caller
from models.cursor import Cursor
from models.errors import Problem, Unprocessable
from models.limits import PATHS_PER_REQUEST
from models.text import fault
from store.bell import EVERYONE, Bell
from store.database import Database
from store.feed import table
from store.feed.change import FeedChange, Filter
from store.feed.reader import OrgReader
from store.feed.subscription import Subscription


class Feed:
    """The live feed of one process: the changes of every organisation that somebody here subscribes to."""

    def __init__(
        self, db: Database, bell: Bell, *, poll: float = 5.0, rights_every: float = 0.5, batch: int = 500, queue: int = 1_000
    ) -> None:
        """A feed that is told by the bell, and looks every `poll` seconds anyway.

        `rights_every`: seconds after which rights are read again though nothing changed. `batch`: changes read at once. `queue`:
        changes that wait for one subscriber before it goes back to reading from the table.
        """
        self._db = db
        self._bell = bell
        self._poll = poll
        self._rights_every = rights_every
        self._batch = batch
        self._queue = queue
        self._readers: dict[str, OrgReader] = {}
        self._ear: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen to the bell."""
        self._ear = asyncio.create_task(self._listen(), name="feed bell")

    async def stop(self) -> None:
        """End every subscription and stop listening."""
        for reader in list(self._readers.values()):
            for subscription in list(reader.subscriptions):
                await subscription.aclose()
            await reader.ended()
        if self._ear is not None:
            self._ear.cancel()
            # Cancelled in its first moments, it may end with an error of the library that has not registered it yet.
            await asyncio.gather(self._ear, return_exceptions=True)
            self._ear = None

    @property
    def subscribers(self) -> int:
        """How many subscriptions are open."""
        return sum(len(reader.subscriptions) for reader in self._readers.values())

    @property
    def behind(self) -> int:
        """How many subscribers read from the table, because they resume or are slow."""
        return sum(subscription.behind for reader in self._readers.values() for subscription in reader.subscriptions)

    @property
    def lag(self) -> float:
        """Seconds that the oldest change has been waiting which an open transaction holds back; 0 when none is."""
        return max((reader.lag for reader in self._readers.values()), default=0.0)

    async def open(
        self,
        caller: Caller,
        *,
        after: Cursor | None = None,
        paths: Collection[str] | None = None,
        prefix: str | None = None,
        kinds: Collection[str] | None = None,
        run_id: str | None = None,
    ) -> Subscription:
        """A subscription that misses nothing committed from this moment on, or after a position; filters are ANDed.

        Raises CursorExpired, Unprocessable for what is no text, and, while it is read, Unauthenticated.
        """
        wanted = _filter(paths, prefix, kinds, run_id)
        start = await table.start(self._db, caller.org_id, after)
        reader = self._readers.get(caller.org_id)
        if reader is None:
            reader = self._readers[caller.org_id] = OrgReader(
                self._db, caller.org_id, poll=self._poll, rights_every=self._rights_every, batch=self._batch
            )
        return reader.join(caller, wanted, start, self._queue)

    async def subscribe(
        self,
        caller: Caller,
        *,
        after: Cursor | None = None,
        paths: Collection[str] | None = None,
        prefix: str | None = None,
        kinds: Collection[str] | None = None,
        run_id: str | None = None,
    ) -> AsyncGenerator[FeedChange]:
        """The changes of `open`, as a generator that begins when it is first asked and leaves the feed when it is closed."""
        async with await self.open(caller, after=after, paths=paths, prefix=prefix, kinds=kinds, run_id=run_id) as subscription:
            async for change in subscription:
                yield change

    async def _listen(self) -> None:
        async for org_id in self._bell.heard():
            if org_id == EVERYONE:
                for reader in self._readers.values():
                    reader.ring()
            elif org_id in self._readers:
                self._readers[org_id].ring()


def _filter(paths: Collection[str] | None, prefix: str | None, kinds: Collection[str] | None, run_id: str | None) -> Filter:
    if paths is not None and len(paths) > PATHS_PER_REQUEST:
        raise Unprocessable(f"{len(paths)} paths are too many for one subscription; at most {PATHS_PER_REQUEST} are allowed")
    texts = [*(("paths", path) for path in paths or ()), ("prefix", prefix or ""), ("runId", run_id or "")]
    problems = [Problem(name, why) for name, text in texts if (why := fault(text))]
    if problems:
        raise Unprocessable.listing("subscription rejected", problems)
    return Filter(
        None if paths is None else frozenset(paths),
        prefix,
        None if kinds is None else frozenset(str(kind) for kind in kinds),
        run_id,
    )
