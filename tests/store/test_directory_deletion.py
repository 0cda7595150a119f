"""What goes, and what stays, when a guild or an agent is deleted."""

import asyncio

import pytest

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.kinds import NoteLevel
from models.paths import agent_path, collection_path, note_path
from store import agents, guilds, notes, runs, schedules
from store.database import Database
from tests.store.rows import add_collection, add_records, column, grant
from tests.store.trail import changes_at, everything, history
from tests.world import World, add_run

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def add_file(db: Database, agent: Caller, kind: str, key: str, version: int) -> None:
    async with db.write() as tx:
        await tx.execute(
            """INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, content, version, created_at, created_by_kind, created_by_id,
                created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
            VALUES ($1, $2, $3, 'AGENT', $4, $5, 'x', $6, $7, 'AGENT', $4, 'Ada', $7, 'AGENT', $4, 'Ada')""",
            agent.org_id,
            new_id(),
            kind,
            agent.id,
            key,
            version,
            now(),
        )


async def live(db: Database, table: str) -> int:
    async with db.read() as reader:
        return int(await reader.value(f"SELECT count(*) FROM {table} WHERE deleted_at IS NULL"))


async def test_a_guild_takes_its_notes_tables_and_grants(db: Database, world: World) -> None:
    for key in ("a.md", "b.md"):
        await notes.write(db, world.ada, GUILD, key, "x")
    await notes.write(db, world.ada, GUILD, "a.md", "y")
    kept = await notes.write(db, world.cyd, GUILD, "a.md", "x")
    own = await add_collection(db, world.operator, "own", [column("a")], guild=world.writers, version=3)
    common = await add_collection(db, world.operator, "common", [column("a")])
    for table in (own, common):
        await add_records(db, world.operator, table, [{"a": "x"}, {"a": "y"}])
    await grant(db, world.operator, own, subject_type="AGENT", subject=world.ada.id, mode="READ")
    await grant(db, world.operator, common, subject_type="AGENT", subject=world.ada.id, mode="NONE")
    for guild in (world.writers, world.readers):
        await grant(db, world.operator, common, subject_type="GUILD", subject=guild, mode="WRITE")

    assert await guilds.delete(db, world.operator, world.writers) is True

    members = await agents.by_ids(db, world.org, [world.ada.id, world.bob.id, world.cyd.id])
    assert [members[agent.id].guild_id for agent in (world.ada, world.bob, world.cyd)] == [None, None, world.readers]
    assert [row.name for row in await guilds.listed(db, world.org)] == ["readers"]
    assert (await guilds.by_ids(db, world.org, [world.writers]))[world.writers].deleted_at is not None
    async with db.read() as reader:
        grants = await reader.rows("SELECT subject_type, subject_id, collection_id FROM collection_access ORDER BY 1")
        tables = await reader.rows("SELECT name, record_count, version FROM artifact_collections WHERE deleted_at IS NULL")
        records = await reader.rows("SELECT DISTINCT collection_id FROM artifacts WHERE kind = 'OBJECT' AND deleted_at IS NULL")
    assert [tuple(row) for row in grants] == [("AGENT", world.ada.id, common), ("GUILD", world.readers, common)]
    assert [(row.name, row.record_count) for row in tables] == [("common", 2)]
    assert [row.collection_id for row in records] == [common]
    assert await history(db, note_path(world.org, GUILD, world.writers, "a.md")) == [("CREATE", 1), ("UPDATE", 2), ("DELETE", 3)]
    assert await history(db, note_path(world.org, GUILD, world.writers, "b.md")) == [("CREATE", 1), ("DELETE", 2)]
    assert await history(db, collection_path(world.org, "own")) == [("DELETE", 4)]
    (deleted,) = [row for row in await changes_at(db, note_path(world.org, GUILD, world.writers, "b.md")) if row.operation == "DELETE"]
    assert (deleted.kind, deleted.level, deleted.owner_id, deleted.actor_name) == ("NOTE", "GUILD", world.writers, "Olga")
    assert await notes.get(db, world.cyd, kept.display_path) == kept
    before = await everything(db)
    with pytest.raises(NotFound, match="unknown guild"):
        await guilds.delete(db, world.operator, world.writers)
    assert await everything(db) == before


async def test_the_changes_of_a_deletion_are_one_transaction(db: Database, world: World) -> None:
    for n in range(5):
        await notes.write(db, world.ada, GUILD, f"{n}.md", "x")
    await add_collection(db, world.operator, "own", [column("a")], guild=world.writers)
    rung: list[set[str]] = []
    db.after_commit = rung.append
    await guilds.delete(db, world.operator, world.writers)
    assert rung == [{world.org}]
    async with db.read() as reader:
        assert await reader.value("SELECT count(DISTINCT xid::text) FROM file_changes WHERE operation = 'DELETE'") == 1
        assert await reader.value("SELECT count(*) FROM file_changes WHERE operation = 'DELETE'") == 6


async def test_an_agent_takes_its_files_tokens_and_grants(db: Database, world: World) -> None:
    own = await notes.write(db, world.ada, AGENT, "own.md", "x")
    shared = await notes.write(db, world.ada, GUILD, "shared.md", "x")
    await notes.write(db, world.bob, AGENT, "own.md", "x")
    await add_file(db, world.ada, "MEMORY", "memory.md", 4)
    await add_file(db, world.ada, "SCRIPT", "run.py", 2)
    common = await add_collection(db, world.operator, "common", [column("a")])
    for agent in (world.ada, world.bob):
        await grant(db, world.operator, common, subject_type="AGENT", subject=agent.id, mode="READ")
    await schedules.save(db, world.operator, agent_id=world.ada.id, name="daily", instruction="x")
    open_run, ended = await add_run(db, world.ada), await add_run(db, world.ada)
    done = await runs.finish(db, world.operator, ended, "completed")

    assert await agents.delete(db, world.operator, world.ada.id) is True

    with pytest.raises(NotFound):
        await notes.get(db, world.operator, own.display_path)
    assert await history(db, own.display_path) == [("CREATE", 1), ("DELETE", 2)]
    assert await history(db, agent_path(world.org, world.ada.id, "memory.md")) == [("DELETE", 5)]
    assert await history(db, agent_path(world.org, world.ada.id, "scripts/run.py")) == [("DELETE", 3)]
    (script,) = await changes_at(db, agent_path(world.org, world.ada.id, "scripts/run.py"))
    assert (script.kind, script.level, script.owner_id) == ("SCRIPT", "AGENT", world.ada.id)
    left = await notes.get(db, world.bob, shared.display_path)
    assert (left.created_by_id, left.created_by_name, left.version) == (world.ada.id, "Ada", 1)
    assert [note.key for note in await notes.listed(db, world.operator, AGENT, world.bob.id)] == ["own.md"]
    async with db.read() as reader:
        assert [row.subject_id for row in await reader.rows("SELECT subject_id FROM collection_access")] == [world.bob.id]
    assert await live(db, "schedules") == 0
    found = await runs.by_ids(db, world.org, [open_run, ended])
    assert (found[open_run].status, found[open_run].finished_at is None, found[ended]) == ("cancelled", False, done)
    before = await everything(db)
    with pytest.raises(NotFound, match="unknown agent"):
        await agents.delete(db, world.operator, world.ada.id)
    with pytest.raises(NotFound, match="unknown agent"):
        await agents.update(db, world.operator, world.ada.id, name="x")
    assert await everything(db) == before
    assert (await agents.create(db, world.operator, name="Ada")).id != world.ada.id


async def test_nothing_is_written_for_an_owner_that_goes_meanwhile(db: Database, world: World) -> None:
    async def write(n: int) -> bool:
        try:
            await notes.write(db, world.ada, GUILD if n % 2 else AGENT, f"{n}.md", "x")
        except NotFound:
            return False
        return True

    gone = (guilds.delete(db, world.operator, world.writers), agents.delete(db, world.operator, world.ada.id))
    written = await asyncio.gather(*(write(n) for n in range(6)), *gone, *(write(n) for n in range(6, 12)))
    async with db.read() as reader:
        assert await reader.value("SELECT count(*) FROM artifacts WHERE deleted_at IS NULL") == 0
        changes = await reader.rows("SELECT operation, count(*) AS n FROM file_changes GROUP BY operation")
    writes = sum(written) - len(gone)
    assert {row.operation: row.n for row in changes} == ({"CREATE": writes, "DELETE": writes} if writes else {})


async def test_joining_a_guild_that_goes_meanwhile(db: Database, world: World) -> None:
    joins = (agents.update(db, world.operator, agent.id, guild_id=world.writers) for agent in (world.cyd, world.loner, world.ada))
    answers = await asyncio.gather(*joins, guilds.delete(db, world.operator, world.writers), return_exceptions=True)
    assert answers[-1] is True
    assert {type(answer) for answer in answers if isinstance(answer, Exception)} <= {NotFound}
    async with db.read() as reader:
        assert await reader.value("SELECT count(*) FROM agents WHERE guild_id = $1", world.writers) == 0
