import asyncio
from bisect import bisect_right
from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from models.caller import Caller
from models.cursor import Cursor
from models.errors import CursorExpired, Unauthenticated
from store.feed import table
from store.feed.change import Batch, FeedChange, Filter, Rights
from store.feed.patience import patiently

if TYPE_CHECKING:
    from store.feed.reader import OrgReader

_CURSOR = attrgetter("cursor")

# Rights older than this are read again before anything is delivered; the reader reads them more often anyway.
OLDEST_RIGHTS = 0.9


class Subscription:
    """One subscriber: an async iterator of changes. Close it with `aclose`, or use it as an async context manager.

    Whatever it takes is judged at that moment by the rights that its caller has then. What comes while its queue is full is not
    kept: it is read from the table once the queue has been taken.
    """

    def __init__(self, reader: "OrgReader", caller: Caller, wanted: Filter, start: table.Start, limit: int) -> None:
        self.caller = caller
        self.behind = start.position < reader.position if reader.position else False
        self._reader = reader
        self._filter = wanted
        self._start: table.Start | None = start
        self._limit = limit
        self._at = start.position
        self._queue: deque[Batch] = deque()
        self._queued = 0
        self._batch: Batch | None = None
        self._view: list[FeedChange] | None = None
        self._index = 0
        self._woken = asyncio.Event()
        self._closed = False

    @property
    def position(self) -> Cursor:
        """All changes up to here are delivered or were not meant for this subscriber."""
        return self._at

    def push(self, batch: Batch) -> None:
        """Queue what the reader has read; when there is no room the subscriber falls behind."""
        if self.behind:
            return
        if self._queued and self._queued + len(batch) > self._limit:
            self.behind = True
        else:
            self._queue.append(batch)
            self._queued += len(batch)
        self.wake()

    def wake(self) -> None:
        """Have a waiting subscriber look again."""
        self._woken.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedChange:
        """The next change. Raises Unauthenticated once the caller has lost every right, CursorExpired where changes are gone."""
        try:
            return await self._next()
        except Exception:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Leave the feed; harmless when done twice."""
        if not self._closed:
            self._closed = True
            self._reader.leave(self)
            self.wake()

    async def _next(self) -> FeedChange:
        while not self._closed:
            self._woken.clear()
            if (change := self._take(await self._rights())) is not None:
                return change
            if self._queue:
                self._batch = self._queue.popleft()
                self._queued -= len(self._batch)
            elif self.behind:
                await self._catch_up()
            else:
                await self._woken.wait()
        raise StopAsyncIteration

    async def _rights(self) -> Rights:
        standing = self._reader.standing
        if not standing.knows(self.caller) or standing.age > OLDEST_RIGHTS:
            await patiently(standing.refresh)
        rights = standing.of(self.caller)
        if rights is None:
            raise Unauthenticated("the caller of this subscription may no longer read anything; sign in again")
        return rights

    def _take(self, rights: Rights) -> FeedChange | None:
        while self._batch is not None:
            view = self._batch.view(rights, self._filter)
            if view is not self._view:
                self._view, self._index = view, bisect_right(view, self._at, key=_CURSOR)
            if self._index == len(view):
                self._at = max(self._at, self._batch.end)
                self._batch = self._view = None
                continue
            change = view[self._index]
            self._index += 1
            self._at = change.cursor
            if not self._leaves_out(change):
                return change
        return None

    def _leaves_out(self, change: FeedChange) -> bool:
        if self._start is None:
            return False
        if change.xid >= self._start.snapshot.xmax:
            # Nothing that comes now had been there at the beginning.
            self._start = None
            return False
        return self._start.leaves_out(change)

    async def _catch_up(self) -> None:
        handed_out = self._reader.position
        part = await patiently(lambda: table.read(self._reader.db, self._reader.org_id, self._at, self._reader.batch))
        if part.horizon is not None and self._at < part.horizon:
            raise CursorExpired
        if part.batch is not None:
            # Rights are read after the changes: what was taken away before a change was written is gone by now.
            await patiently(self._reader.standing.refresh)
            self._batch = part.batch
        elif self._reader.position == handed_out:
            # Nothing is left of what the reader had handed out, and it has handed out nothing since: what comes next, it brings.
            self.behind = False
