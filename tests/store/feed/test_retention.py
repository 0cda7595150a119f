import asyncio
from datetime import timedelta
from typing import Any

import pytest

from models.cursor import START, Cursor
from models.errors import CursorExpired
from models.kinds import FileOperation
from store.changes import last_version
from store.database import Database, Row
from store.feed import Feed
from store.feed.retention import prune, rebase
from tests.store.feed.helpers import change_ids, keys_until, long_ago, run, write_note
from tests.world import World

DAY = timedelta(days=1)


def cursor(row: Row) -> Cursor:
    return Cursor(row.xid, row.change_id)


async def settled_prune(db: Database, **options: Any) -> int:
    """Prune once no transaction can precede what is there: those of other databases of the cluster, other tests', count as well."""
    settled = "SELECT coalesce(max(xid), '0'::xid8) < pg_snapshot_xmin(pg_current_snapshot()) FROM file_changes"
    async with asyncio.timeout(20), db.read() as reader:
        while not await reader.value(settled):  # noqa: ASYNC110  # other transactions ring no bell here
            await asyncio.sleep(0.01)
    return await prune(db, **options)


async def old_note(db: Database, world: World, key: str, version: int, **more: object) -> Row:
    return await write_note(db, world.operator, key, version=version, at=long_ago(), **more)


@pytest.mark.parametrize("batch", [1, 2, 5000])
async def test_superseded_changes_go_and_the_newest_of_each_path_stays(db: Database, world: World, batch: int) -> None:
    await old_note(db, world, "a.md", 1)
    await old_note(db, world, "a.md", 2)
    gone = await old_note(db, world, "b.md", 1)
    kept = [
        await old_note(db, world, "a.md", 3, operation=FileOperation.DELETE),
        await old_note(db, world, "moved.md", 2, operation=FileOperation.MOVE, previous_path=f"org/{world.org}/b.md"),
        await old_note(db, world, "moved.md", 3),
        await write_note(db, world.operator, "new.md"),
        await write_note(db, world.operator, "new.md", version=2),
    ]
    theirs = await write_note(db, world.stranger, "t.md", at=long_ago())
    await write_note(db, world.stranger, "t.md", version=2)
    assert await settled_prune(db, older_than=DAY, org_id=world.org, batch=batch) == 3
    assert await change_ids(db, world.org) == [row.change_id for row in kept]
    assert (await change_ids(db, world.stranger.org_id))[0] == theirs.change_id
    async with db.write() as tx:
        versions = [await last_version(tx, world.org, f"org/{world.org}/{key}") for key in ("a.md", "b.md", "moved.md", "new.md")]
        horizon = await tx.row("SELECT * FROM feed_horizons")
    assert versions == [3, 2, 3, 2]
    assert dict(horizon or {}) == {"org_id": world.org, "xid": gone.xid, "id": gone.change_id, "rebased": False}
    assert await settled_prune(db, older_than=DAY, org_id=world.org, batch=batch) == 0
    assert await settled_prune(db, older_than=DAY, batch=batch) == 1


async def test_a_cursor_from_before_what_was_pruned_is_expired_and_later_ones_are_not(db: Database, world: World, feed: Feed) -> None:
    rows = [await old_note(db, world, "a.md", version) for version in (1, 2, 3)]
    await write_note(db, world.operator, "b.md")
    assert await settled_prune(db, older_than=DAY) == 2
    for position in (START, cursor(rows[0])):
        with pytest.raises(CursorExpired):
            await feed.open(world.operator, after=position)
    assert feed.subscribers == 0
    for position, expected in ((cursor(rows[1]), ["a.md", "b.md"]), (cursor(rows[2]), ["b.md"])):
        async with await feed.open(world.operator, after=position) as subscription:
            assert await keys_until(subscription, "b.md") == expected


async def test_one_that_is_overtaken_by_pruning_is_told(db: Database, world: World, feed: Feed) -> None:
    for version in (1, 2, 3):
        await old_note(db, world, "a.md", version)
    subscription = await feed.open(world.operator, after=START)
    assert await settled_prune(db, older_than=DAY) == 2
    with pytest.raises(CursorExpired):
        await anext(subscription)
    assert feed.subscribers == 0


async def test_what_an_open_transaction_may_precede_is_left(db: Database, world: World) -> None:
    async with db.write() as tx:
        await tx.value("SELECT pg_current_xact_id()")
        await old_note(db, world, "a.md", 1)
        await old_note(db, world, "a.md", 2)
        assert await prune(db, older_than=DAY) == 0
    assert await settled_prune(db, older_than=DAY) == 1


async def from_elsewhere(db: Database, world: World, order: list[int], first: int) -> list[Row]:
    """Changes with the transaction ids of another cluster; `order` gives how their transactions began."""
    for number in range(len(order)):
        await write_note(db, world.operator, f"{number}.md")
    async with db.read() as reader:
        stored = await reader.rows("SELECT id FROM file_changes WHERE org_id = $1 ORDER BY id", world.org)
    for row, xid in zip(stored, order, strict=True):
        await run(db, "UPDATE file_changes SET xid = $3::xid8 WHERE org_id = $1 AND id = $2", world.org, row.id, first + xid)
    async with db.read() as reader:
        return await reader.rows(
            "SELECT xid, id AS change_id, display_path FROM file_changes WHERE org_id = $1 ORDER BY xid, id", world.org
        )


async def test_data_that_stays_in_its_cluster_is_left_alone(db: Database, world: World) -> None:
    row = await write_note(db, world.operator, "a.md")
    assert await rebase(db) is False
    async with db.read() as reader:
        assert await reader.value("SELECT xid FROM file_changes") == row.xid


async def test_restored_data_keeps_its_order_and_new_changes_come_after_it(db: Database, world: World, feed: Feed) -> None:
    rows = await from_elsewhere(db, world, [5, 3, 4, 9, 8, 8], 10**12)
    keys = ["1.md", "2.md", "0.md", "4.md", "5.md", "3.md"]
    assert [row.display_path.rpartition("/")[2] for row in rows] == keys
    assert await rebase(db) is True
    assert await rebase(db) is False
    assert await change_ids(db, world.org) == [row.change_id for row in rows]
    await write_note(db, world.operator, "new.md")
    async with await feed.open(world.operator, after=START) as subscription:
        assert await keys_until(subscription, "new.md") == [*keys, "new.md"]
    for number, row in enumerate(rows):
        async with await feed.open(world.operator, after=cursor(row)) as subscription:
            assert await keys_until(subscription, "new.md") == [*keys[number + 1 :], "new.md"]


async def test_restored_data_that_needs_more_positions_than_the_cluster_has_spent_gets_them(db: Database, world: World) -> None:
    async with db.read() as reader:
        upcoming = await reader.value("SELECT pg_snapshot_xmax(pg_current_snapshot())")
    count = upcoming + 500
    insert = """INSERT INTO file_changes
        (org_id, xid, file_id, display_path, event_path, kind, operation, actor_kind, actor_id, actor_name, at)
        SELECT $1, ($2::bigint - n)::text::xid8, n::text, n::text, '', 'NOTE', 'UPDATE', 'USER', '', '', now()
        FROM generate_series(1, $3) n"""
    await run(db, insert, world.org, 10**12, count)
    before = await change_ids(db, world.org)
    assert await rebase(db) is True
    assert await change_ids(db, world.org) == before
    row = await write_note(db, world.operator, "new.md")
    assert await change_ids(db, world.org) == [*before, row.change_id]


async def test_the_horizon_moves_with_restored_data(db: Database, world: World, feed: Feed) -> None:
    rows = await from_elsewhere(db, world, [1, 2, 3, 4], 10**12)
    await run(db, "DELETE FROM file_changes WHERE id = $1", rows[1].change_id)
    await run(db, "INSERT INTO feed_horizons (org_id, xid, id) VALUES ($1, $2::xid8, $3)", world.org, rows[1].xid, rows[1].change_id)
    assert await rebase(db) is True
    for position in (START, cursor(rows[1])):
        with pytest.raises(CursorExpired):
            await feed.open(world.operator, after=position)
    async with await feed.open(world.operator, after=cursor(rows[2])) as subscription:
        assert await keys_until(subscription, "3.md") == ["3.md"]
