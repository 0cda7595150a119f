import asyncio
import json
from typing import Any

import pytest
from sqlmodel import SQLModel

import models.tables  # noqa: F401  # registers the tables
from models.cursor import Cursor
from models.errors import Conflict, Unprocessable
from models.kinds import NoteLevel
from store import agents, backup, collections, notes, provenance, records, runs
from store.backup import LEFT_OUT, TABLES, Part
from store.database import Database
from store.feed import table as feed_table
from store.feed.change import FeedChange, Filter, Rights
from store.feed.retention import rebase
from tests.store.tables import add_table, allow
from tests.world import World

NOT_COMPARED = {"file_changes": {"xid"}}


@pytest.fixture
async def other(cluster: Any) -> Any:
    """A second database, as another server has it."""
    import asyncpg

    from tests.conftest import TEMPLATE

    admin = await asyncpg.connect(cluster.dsn("postgres"))
    await admin.execute(f'CREATE DATABASE "restored" TEMPLATE "{TEMPLATE}" STRATEGY FILE_COPY')
    database = await Database(cluster.dsn("restored"), size=5).open()
    yield database
    await database.close()
    await admin.execute('DROP DATABASE "restored" WITH (FORCE)')
    await admin.close()


async def fill(db: Database, world: World) -> None:
    run = await runs.start(db, world.operator, agent_id=world.ada.id, kind="chat")
    ada = world.ada.in_call(run.id, "call-1", "note_write")
    await notes.write(db, ada, NoteLevel.AGENT, "plan.md", 'Zeile "1"\r\n\tZeile 2 — 日本 \\u0000')
    await notes.write(db, ada, NoteLevel.AGENT, "plan.md", "again")
    await notes.write(db, world.operator, NoteLevel.ORG, "gone.md", "x")
    await notes.delete(db, world.operator, f"org/{world.org}/gone.md")
    leads = await add_table(db, world.operator)
    await allow(db, world.operator, leads, world.writers, "WRITE")
    await records.add(db, ada, "leads", {"email": "a@x", "status": "new", "score": 2**70}, idempotency_key="k")
    await records.add(db, ada, "leads", {"email": "b@x", "status": "won", "score": 0.1})
    await records.remove(db, ada, "leads", "1")
    old = await add_table(db, world.operator, "old")
    await collections.delete(db, world.operator, old.id)
    await agents.delete(db, world.operator, world.cyd.id)


async def dumped(db: Database, org: str) -> dict[str, Part]:
    parts = {}
    async with db.snapshot() as reader:
        for table in TABLES:
            parts[table] = Part(await backup.columns_of(reader, table), [line async for line in backup.dump(reader, org, table)])
    return parts


def compared(parts: dict[str, Part], table: str) -> list[dict[str, Any]]:
    left_out = NOT_COMPARED.get(table, set())
    return [{name: value for name, value in json.loads(line).items() if name not in left_out} for line in parts[table].lines]


async def test_every_table_is_taken_along_or_left_out_on_purpose() -> None:
    assert TABLES.keys() | LEFT_OUT.keys() == SQLModel.metadata.tables.keys()
    position = {table: place for place, table in enumerate(TABLES)}
    for name in TABLES:
        referred = {key.column.table.name for key in SQLModel.metadata.tables[name].foreign_keys} - {name}
        assert all(position[table] < position[name] for table in referred)


async def test_it_answers_there_as_it_did_here(db: Database, world: World, other: Database) -> None:
    await fill(db, world)
    parts = await dumped(db, world.org)
    done: list[int] = []
    await backup.restore(other, world.org, parts, progress=done.append)
    back = await dumped(other, world.org)
    for table in TABLES:
        if table != "feed_horizons":
            assert compared(back, table) == compared(parts, table), table
    assert sum(done) == sum(len(list(part.lines)) for table, part in parts.items() if table != "feed_horizons")
    plan = [f"org/{world.org}/agents/{world.ada.id}/plan.md"]
    here, there = [await provenance.latest(each, world.operator, plan) for each in (db, other)]
    assert [(row.version, row.at, row.run_id, row.tool_call_id) for row in there] == [
        (row.version, row.at, row.run_id, row.tool_call_id) for row in here
    ]


async def test_writing_goes_on_where_it_ended(db: Database, world: World, other: Database) -> None:
    await fill(db, world)
    await backup.restore(other, world.org, await dumped(db, world.org))
    again = await notes.write(other, world.operator, NoteLevel.ORG, "gone.md", "back")
    assert again.version == 3
    added = await records.add(other, world.operator, "leads", {"status": "new"})
    assert added.record.id == "3"
    repeated = await records.add(other, world.ada, "leads", {"email": "a@x", "status": "new", "score": 2**70}, idempotency_key="k")
    assert (repeated.record.id, repeated.record.version) == ("1", 1)
    assert await rebase(other) is False
    await settled(other)
    part = await feed_table.read(other, world.org, Cursor(0, 0), 1000)
    ids = [change.change_id for change in changes_of(part)]
    assert ids == sorted(ids)
    assert [change.display_path for change in changes_of(part)][-2:] == [
        f"org/{world.org}/gone.md",
        f"org/{world.org}/collections/leads/3",
    ]


async def test_changes_keep_the_feeds_order_also_where_ids_run_backwards(db: Database, world: World, other: Database) -> None:
    for key in "abcd":
        await notes.write(db, world.operator, NoteLevel.ORG, f"{key}.md", "x")
    async with db.write() as writer:
        # The second change was made by a transaction that began after the third's.
        swap = """UPDATE file_changes c SET xid = o.xid FROM file_changes o WHERE c.org_id = $1 AND o.org_id = $1
            AND (right(c.display_path, 5), right(o.display_path, 5)) IN (('/b.md', '/c.md'), ('/c.md', '/b.md'))"""
        assert await writer.execute(swap, world.org) == 2
    cursor = Cursor(await _xid(db, world.org, "c.md"), await _id(db, world.org, "c.md"))
    await backup.restore(other, world.org, await dumped(db, world.org))
    await settled(other)
    part = await feed_table.read(other, world.org, Cursor(0, 0), 10)
    assert [change.display_path[-4:] for change in changes_of(part)] == ["a.md", "c.md", "b.md", "d.md"]
    start = await feed_table.start(other, world.org, cursor)
    rest = await feed_table.read(other, world.org, start.position, 10)
    assert [change.display_path[-4:] for change in changes_of(rest)] == ["b.md", "d.md"]


async def settled(db: Database) -> None:
    """Wait for the open transactions of tests beside this one in the cluster, behind which the feed holds changes back."""
    statement = "SELECT coalesce(max(xid), '0'::xid8) < pg_snapshot_xmin(pg_current_snapshot()) FROM file_changes"
    async with db.read() as reader, asyncio.timeout(60):
        while not await reader.value(statement):  # noqa: ASYNC110  # other transactions ring no bell here
            await asyncio.sleep(0.05)


def changes_of(part: feed_table.Part) -> list[FeedChange]:
    assert part.batch is not None
    return part.batch.view(Rights(everything=True), Filter())


async def _xid(db: Database, org: str, key: str) -> int:
    async with db.read() as reader:
        found: int = await reader.value("SELECT xid FROM file_changes WHERE org_id = $1 AND display_path LIKE '%' || $2", org, key)
        return found


async def _id(db: Database, org: str, key: str) -> int:
    async with db.read() as reader:
        found: int = await reader.value("SELECT id FROM file_changes WHERE org_id = $1 AND display_path LIKE '%' || $2", org, key)
        return found


async def test_an_organisation_that_is_there_is_refused(db: Database, world: World) -> None:
    await fill(db, world)
    parts = await dumped(db, world.org)
    with pytest.raises(Conflict, match=f'organisation {world.org} \\("Acme"\\) is in this database already'):
        await backup.restore(db, world.org, parts)
    assert {table: list(part.lines) for table, part in (await dumped(db, world.org)).items()} == {
        table: list(part.lines) for table, part in parts.items()
    }


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("guilds", {"org_id": "elsewhere"}, "guilds holds rows of another organisation"),
        ("agents", {"guild_id": "nowhere"}, "do not fit together"),
        ("runs", {"started_at": "never"}, "do not fit together"),
    ],
)
async def test_rows_that_do_not_fit_leave_nothing_behind(
    db: Database, world: World, other: Database, table: str, change: dict[str, str], message: str
) -> None:
    await fill(db, world)
    parts = await dumped(db, world.org)
    lines = [json.dumps({**json.loads(line), **change}).encode() + b"\n" for line in parts[table].lines]
    parts[table] = Part(parts[table].columns, lines)
    with pytest.raises(Unprocessable, match=message):
        await backup.restore(other, world.org, parts)
    assert [list(part.lines) for part in (await dumped(other, world.org)).values()] == [[]] * len(TABLES)


async def test_columns_of_a_newer_version_are_refused(db: Database, world: World, other: Database) -> None:
    parts = await dumped(db, world.org)
    parts["guilds"] = Part([*parts["guilds"].columns, "motto"], parts["guilds"].lines)
    with pytest.raises(Unprocessable, match="guilds has columns that this version does not know: motto"):
        await backup.restore(other, world.org, parts)


async def test_records_of_a_deleted_collection_are_left_out_and_its_name_goes_on(db: Database, world: World, other: Database) -> None:
    table = await add_table(db, world.operator, "short")
    await records.add(db, world.operator, "short", {"email": "a@x", "status": "new"})
    kept = await add_table(db, world.operator, "kept")
    await records.add(db, world.operator, "kept", {"email": "b@x", "status": "new"})
    await collections.delete(db, world.operator, table.id)
    parts = await dumped(db, world.org)
    assert [json.loads(line)["collection_id"] for line in parts["artifacts"].lines] == [kept.id]
    await backup.restore(other, world.org, parts)
    await add_table(other, world.operator, "short")
    added = await records.add(other, world.operator, "short", {"email": "c@x", "status": "new"})
    assert (added.record.id, added.record.version) == ("1", 2)
