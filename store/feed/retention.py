"""Pruning old changes, and keeping the feed's positions in order when the data moves to another cluster."""

from datetime import datetime, timedelta

from models.clock import now
from store.database import Database, Row, Writer

_NEWER = """(EXISTS (SELECT FROM file_changes n WHERE n.org_id = o.org_id AND n.display_path = {path} AND n.id > o.id)
        OR EXISTS (SELECT FROM file_changes n WHERE n.org_id = o.org_id AND n.previous_path = {path} AND n.id > o.id))"""

# The newest change of a path stays, whether or not a file is there: versions go on from it, and it says who last did what.
# A move is a change of both its paths. What an open transaction may still precede is left for later.
_PRUNE = f"""WITH looked_at AS MATERIALIZED (
        SELECT org_id, id, xid, at, display_path, previous_path FROM file_changes
        WHERE ($1::text IS NULL OR org_id = $1) AND at < $2 AND (at, org_id, id) > ($3, $4, $5)
            AND xid < pg_snapshot_xmin(pg_current_snapshot())
        ORDER BY at, org_id, id LIMIT $6
    ), pruned AS (
        DELETE FROM file_changes c USING looked_at o WHERE c.org_id = o.org_id AND c.id = o.id
            AND {_NEWER.format(path="o.display_path")}
            AND (o.previous_path IS NULL OR {_NEWER.format(path="o.previous_path")})
        RETURNING c.org_id, c.xid, c.id
    ), horizon AS (
        INSERT INTO feed_horizons AS h (org_id, xid, id)
        SELECT DISTINCT ON (org_id) org_id, xid, id FROM pruned ORDER BY org_id, xid DESC, id DESC
        ON CONFLICT (org_id) DO UPDATE SET xid = excluded.xid, id = excluded.id WHERE (h.xid, h.id) < (excluded.xid, excluded.id)
    )
    SELECT last.at, last.org_id, last.id, (SELECT count(*) FROM pruned) AS pruned
    FROM (SELECT at, org_id, id FROM looked_at ORDER BY at DESC, org_id DESC, id DESC LIMIT 1) last"""

_MOVED_HERE = """SELECT EXISTS (
    SELECT FROM organisations o CROSS JOIN LATERAL (
        SELECT xid FROM file_changes c WHERE c.org_id = o.org_id ORDER BY xid DESC, id DESC LIMIT 1
    ) newest WHERE newest.xid >= pg_snapshot_xmax(pg_current_snapshot()))"""

# Within one new number the ids alone give the order, so a new one begins only where an id is lower than the one before.
_COUNTED = """SELECT org_id, id, 1 + count(*) FILTER (WHERE falls) OVER (PARTITION BY org_id ORDER BY xid, id) AS xid
    FROM (SELECT org_id, id, xid, id < lag(id) OVER (PARTITION BY org_id ORDER BY xid, id) AS falls FROM file_changes) c"""
_NEEDED = f"SELECT coalesce(max(xid), 0) FROM ({_COUNTED}) counted"
_SPEND = """DO $$ BEGIN FOR n IN 1..{count} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"""
_MARK = f"""INSERT INTO feed_horizons AS h (org_id, xid, id, rebased)
    SELECT o.org_id, coalesce(place.xid, 0)::text::xid8, coalesce(place.id, CASE WHEN h.org_id IS NULL THEN 0 ELSE 1 END), true
    FROM organisations o
    LEFT JOIN feed_horizons h ON h.org_id = o.org_id
    LEFT JOIN LATERAL (
        SELECT counted.xid, counted.id FROM file_changes c JOIN ({_COUNTED}) counted ON counted.org_id = c.org_id AND counted.id = c.id
        WHERE c.org_id = o.org_id AND (c.xid, c.id) <= (h.xid, h.id) ORDER BY c.xid DESC, c.id DESC LIMIT 1
    ) place ON true
    ON CONFLICT (org_id) DO UPDATE SET xid = excluded.xid, id = excluded.id, rebased = true"""
_RENUMBER = f"""UPDATE file_changes c SET xid = counted.xid::text::xid8 FROM ({_COUNTED}) counted
    WHERE c.org_id = counted.org_id AND c.id = counted.id"""

_SPENT_AT_ONCE = 50_000


async def prune(db: Database, *, older_than: timedelta, org_id: str | None = None, batch: int = 5_000) -> int:
    """Remove superseded changes from before `older_than` ago, a batch a transaction, and move the horizon; how many were removed.

    The newest change of each path is kept. All organisations are pruned where none is named.
    """
    cutoff = now() - older_than
    place: tuple[datetime, str, int] = (datetime.min.replace(tzinfo=cutoff.tzinfo), "", 0)
    removed = 0
    while (done := await _prune_batch(db, org_id, cutoff, place, batch)) is not None:
        removed += done.pruned
        place = (done.at, done.org_id, done.id)
    return removed


async def _prune_batch(db: Database, org_id: str | None, cutoff: datetime, place: tuple[datetime, str, int], batch: int) -> Row | None:
    async with db.write_once() as writer:
        return await writer.row(_PRUNE, org_id, cutoff, *place, batch)


async def rebase(db: Database) -> bool:
    """Count the feed's positions anew if the data came from a cluster whose transaction ids were higher; whether it did.

    Without that, no change would ever count as settled, and new ones would sort before old ones. Cursors that were given out before
    go on to work. To be called before anything is written, at each start and after migrations.
    """
    async with db.read() as reader:
        if not await reader.value(_MOVED_HERE):
            return False
        needed = await reader.value(_NEEDED)
    await spend(db, needed)
    async with db.write() as writer:
        await writer.execute("LOCK TABLE file_changes IN SHARE ROW EXCLUSIVE MODE")
        return await _renumber(writer)


async def _renumber(writer: Writer) -> bool:
    if not await writer.value(_MOVED_HERE):
        return False
    await writer.execute(_MARK)
    await writer.execute(_RENUMBER)
    return True


async def spend(db: Database, needed: int) -> None:
    """Use transaction ids up until this cluster's next one is above those that the changes need."""
    async with db.write_once() as writer:
        while (short := needed + 1 - await writer.value("SELECT pg_snapshot_xmax(pg_current_snapshot())")) > 0:
            await writer.execute(_SPEND.format(count=min(short, _SPENT_AT_ONCE)))
