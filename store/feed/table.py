"""Reading the feed from its table: in (xid, id) order, and only what no open transaction can still precede."""

from dataclasses import dataclass

from models.cursor import Cursor
from models.errors import CursorExpired
from store.changes import COLUMNS
from store.database import Database, Reader
from store.feed.change import Batch, FeedChange

# One row more than a batch is read, to tell whether more follow. What is not settled sorts last.
_NEXT = f"""SELECT {COLUMNS}, c.xid < pg_snapshot_xmin(pg_current_snapshot()) AS settled
    FROM file_changes c WHERE c.org_id = $1 AND (c.xid, c.id) > ($2::xid8, $3::bigint) ORDER BY c.xid, c.id LIMIT $4"""
_HORIZON = "SELECT xid, id, rebased FROM feed_horizons WHERE org_id = $1"
_SNAPSHOT = "SELECT pg_current_snapshot()::text"
_STORED_XID = "SELECT xid FROM file_changes WHERE org_id = $1 AND id = $2"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which transactions had committed at a moment: those below `xmin`, and those below `xmax` that were not in progress."""

    xmin: int
    xmax: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """From PostgreSQL's text, `xmin:xmax:xip,xip,…`."""
        xmin, xmax, running = text.split(":")
        return cls(int(xmin), int(xmax), frozenset(int(xid) for xid in running.split(",") if xid))

    def sees(self, xid: int) -> bool:
        """Whether what this transaction wrote was there."""
        return xid < self.xmax and xid not in self.running


@dataclass(frozen=True, slots=True)
class Start:
    """Where a subscriber begins: read after `position`, but leave out what was there before, up to `after` where that is given."""

    position: Cursor
    snapshot: Snapshot
    after: Cursor | None

    def leaves_out(self, change: FeedChange) -> bool:
        """Whether the subscriber had, or did not ask for, this change."""
        return (self.after is None or change.cursor <= self.after) and self.snapshot.sees(change.xid)


@dataclass(frozen=True, slots=True)
class Part:
    """What one reading gave: settled changes, whether more may be there already, and the oldest that an open transaction holds back."""

    batch: Batch | None
    more: bool
    held: FeedChange | None
    horizon: Cursor | None


async def start(db: Database, org_id: str, after: Cursor | None) -> Start:
    """The beginning of a subscription: now, or after a position. Raises CursorExpired where changes after it are no longer kept."""
    async with db.read() as reader:
        snapshot = Snapshot.parse(await reader.value(_SNAPSHOT))
        now = Cursor(snapshot.xmin, 0)
        if after is None:
            return Start(now, snapshot, None)
        after = await _known(reader, org_id, after, snapshot)
    # A change that was read in a query may stand above an open transaction, whose own changes are still to come below it.
    return Start(min(after, now), snapshot, after)


async def read(db: Database, org_id: str, after: Cursor, limit: int) -> Part:
    """The next changes after a position, at most `limit`."""
    async with db.read() as reader:
        rows = await reader.rows(_NEXT, org_id, after.xid, after.id, limit + 1)
        # Read after the rows: what was pruned before they were read is within this horizon.
        horizon = await _horizon(reader, org_id)
    changes, held = [], None
    for row in rows[:limit]:
        fields = dict(row)
        settled = fields.pop("settled")
        change = FeedChange(**fields)
        if not settled:
            held = change
            break
        changes.append(change)
    return Part(Batch(changes) if changes else None, held is None and len(rows) > limit, held, horizon[0] if horizon else None)


async def _known(reader: Reader, org_id: str, after: Cursor, snapshot: Snapshot) -> Cursor:
    """The position in today's count of transactions, which a move to another cluster begins anew."""
    stored = await reader.value(_STORED_XID, org_id, after.id)
    horizon = await _horizon(reader, org_id)
    if horizon and horizon[1] and stored is not None:
        return Cursor(stored, after.id)
    if after.xid >= snapshot.xmax or (horizon and (after < horizon[0] or (horizon[1] and after != horizon[0]))):
        raise CursorExpired
    return after


async def _horizon(reader: Reader, org_id: str) -> tuple[Cursor, bool] | None:
    row = await reader.row(_HORIZON, org_id)
    return (Cursor(row.xid, row.id), row.rebased) if row else None
