"""Memories: versions, the archive, restoring, and who may."""

import asyncio
from datetime import UTC, datetime

import pytest

from models import clock
from models.errors import Forbidden, LimitExceeded, NotFound, Unprocessable, VersionConflict
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER, MEMORY_BYTES
from models.paths import agent_path
from store import agents, memory, note_search, notes
from store.database import Database
from tests.store.statements import counted
from tests.store.trail import changes_at, everything, history
from tests.world import World, add_run


def path_of(world: World, name: str = "memory.md") -> str:
    return agent_path(world.org, world.ada.id, name)


async def archive(db: Database, world: World) -> list[tuple[str, int, str]]:
    rows = (await memory.revisions(db, world.operator, [world.ada.id])).get(world.ada.id, [])
    return [(row.display_path.removeprefix(path_of(world, "history-archive/")), row.version, row.content) for row in rows]


async def test_an_agent_writes_its_own_memory(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    written = await memory.write(db, world.ada.in_call(run, "call-1", "memory_write"), "  One.\r\n")
    assert (written.display_path, written.agent_id, written.content, written.version) == (path_of(world), world.ada.id, "  One.\r\n", 1)
    assert (written.updated_by_kind, written.updated_by_id, written.updated_by_name) == ("AGENT", world.ada.id, "Ada")
    assert await memory.of_agents(db, world.ada, [world.ada.id]) == {world.ada.id: written}
    assert await memory.get(db, world.ada, world.ada.id) == await memory.get(db, world.operator, world.ada.id) == written
    (change,) = await changes_at(db, path_of(world))
    assert (change.kind, change.operation, change.version, change.file_id) == ("MEMORY", "CREATE", 1, written.id)
    assert (change.level, change.owner_id, change.run_id, change.tool_call_id) == ("AGENT", world.ada.id, run, "call-1")
    assert await archive(db, world) == []


async def test_what_is_replaced_is_archived_by_what_made_it(db: Database, world: World) -> None:
    moments = iter(datetime(2026, 11, 30, 8, 0, n // 2, 500 * n, tzinfo=UTC) for n in range(20))
    clock.set_clock(lambda: next(moments))
    first = await memory.write(db, world.ada, "One.")
    await memory.write(db, world.operator, "Two.", agent_id=world.ada.id)
    await memory.write(db, world.ada, "Three.")
    await memory.write(db, world.ada, "Four.")
    restored = await memory.restore(db, world.operator, path_of(world, "history-archive/20261130T080000Z-agent.md"))
    assert (restored.content, restored.version, restored.id, restored.updated_by_name) == ("One.", 5, first.id, "Olga")
    await memory.write(db, world.ada, "Six.")
    assert await archive(db, world) == [
        ("20261130T080002Z-restore.md", 5, "One."),
        ("20261130T080001Z.4-agent.md", 4, "Four."),
        ("20261130T080001Z-agent.md", 3, "Three."),
        ("20261130T080000Z.2-operator.md", 2, "Two."),
        ("20261130T080000Z-agent.md", 1, "One."),
    ]
    operations = ["CREATE", "UPDATE", "UPDATE", "UPDATE", "RESTORE", "UPDATE"]
    assert await history(db, path_of(world)) == list(zip(operations, range(1, 7), strict=True))
    revision = await memory.archived(db, world.operator, path_of(world, "history-archive/20261130T080000Z.2-operator.md"))
    assert (revision.content, revision.version, revision.source, revision.saved_by_kind) == ("Two.", 2, "operator", "USER")
    assert (await notes.get(db, world.operator, revision.display_path)).content == "Two."


async def test_expected_versions(db: Database, world: World) -> None:
    with pytest.raises(VersionConflict) as missing:
        await memory.write(db, world.ada, "x", expected_version=1)
    assert missing.value.extensions == {"currentVersion": 0}
    assert (await memory.write(db, world.ada, "One.", expected_version=0)).version == 1
    assert (await memory.write(db, world.ada, "Two.", expected_version=1)).version == 2
    ((name, _, _),) = await archive(db, world)
    before = await everything(db)
    for stale in (0, 1, 3):
        with pytest.raises(VersionConflict):
            await memory.write(db, world.ada, "Three.", expected_version=stale)
        assert (await memory.write(db, world.ada, "Two.", expected_version=stale)).version == 2
        with pytest.raises(VersionConflict):
            await memory.restore(db, world.operator, path_of(world, f"history-archive/{name}"), expected_version=stale)
    assert await everything(db) == before


async def test_writers_at_once_each_make_a_version(db: Database, world: World) -> None:
    written = await asyncio.gather(*(memory.write(db, world.ada, f"{n}") for n in range(10)))
    assert sorted(row.version for row in written) == list(range(1, 11))
    assert len({row.id for row in written}) == 1
    kept = await archive(db, world)
    assert [version for _, version, _ in kept] == list(range(9, 0, -1))
    assert len({name for name, _, _ in kept}) == 9


async def test_refusals(db: Database, world: World) -> None:
    await memory.write(db, world.ada, "One.")
    await memory.write(db, world.ada, "Two.")
    ((name, _, _),) = await archive(db, world)
    archived = path_of(world, f"history-archive/{name}")
    before = await everything(db)
    for error, text, attempt in (
        (Unprocessable, "agentId is for operators", memory.write(db, world.ada, "x", agent_id=world.ada.id)),
        (Unprocessable, "agentId is required", memory.write(db, world.operator, "x")),
        (NotFound, "unknown agent nobody", memory.write(db, world.operator, "x", agent_id="nobody")),
        (NotFound, "unknown agent", memory.write(db, world.stranger, "x", agent_id=world.ada.id)),
        (Unprocessable, "NUL", memory.write(db, world.ada, "\x00")),
        (LimitExceeded, "this memory is 262,145 bytes; the limit is 256 KB", memory.write(db, world.ada, "a" * (MEMORY_BYTES + 1))),
        (NotFound, "unknown path", memory.archived(db, world.ada, archived)),
        (NotFound, "unknown path", memory.archived(db, world.stranger, archived)),
        (NotFound, "unknown path", memory.archived(db, world.operator, archived.replace("agent.md", "operator.md"))),
        (Unprocessable, "is no previous version of a memory", memory.archived(db, world.operator, path_of(world))),
        (Forbidden, "memoryRestore is for operators", memory.restore(db, world.ada, archived)),
        (NotFound, "unknown path", memory.restore(db, world.stranger, archived)),
        (NotFound, "unknown path", memory.restore(db, world.operator, archived.replace(world.ada.id, world.bob.id))),
        (Unprocessable, "must be a version", memory.restore(db, world.operator, archived, expected_version=-1)),
        (Unprocessable, "never deleted", notes.delete(db, world.ada, path_of(world))),
        (NotFound, "unknown note", notes.get(db, world.ada, archived)),
        (Forbidden, "another agent's memory", memory.get(db, world.bob, world.ada.id)),
        (NotFound, "unknown agent", memory.get(db, world.stranger, world.ada.id)),
        (NotFound, "Bob has written no memory yet", memory.get(db, world.operator, world.bob.id)),
        (Forbidden, "another agent's memory", memory.of_agents(db, world.bob, [world.ada.id])),
        (Forbidden, "the memory archive", memory.revisions(db, world.ada, [world.ada.id])),
    ):
        with pytest.raises(error, match=text):
            await attempt
    assert await everything(db) == before


async def test_a_memory_counts_as_one_of_the_agents_artifacts(db: Database, world: World) -> None:
    await memory.write(db, world.bob, "One.")
    async with db.write() as tx:
        await tx.execute(
            """INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, content, version, created_at, created_by_kind,
                created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
            SELECT $1, owner || n, 'SCRIPT', 'AGENT', owner, 'n' || n, '', 1, now(), 'SYSTEM', 's', 's', now(), 'SYSTEM', 's', 's'
            FROM (VALUES ($2, $4::int), ($3, $4 - 1)) owners(owner, room), generate_series(1, room) n""",
            world.org,
            world.ada.id,
            world.bob.id,
            ARTIFACTS_PER_OWNER,
        )
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="10,000 artifacts"):
        await memory.write(db, world.ada, "x")
    assert await everything(db) == before
    assert (await memory.write(db, world.bob, "Two.")).version == 2


async def test_a_deleted_agent_has_no_memory(db: Database, world: World) -> None:
    await memory.write(db, world.ada, "One.")
    await memory.write(db, world.ada, "Two.")
    ((name, _, _),) = await archive(db, world)
    await agents.delete(db, world.operator, world.ada.id)
    assert await history(db, path_of(world)) == [("CREATE", 1), ("UPDATE", 2), ("DELETE", 3)]
    assert await memory.of_agents(db, world.operator, [world.ada.id]) == {}
    before = await everything(db)
    for attempt in (
        memory.write(db, world.ada, "x"),
        memory.write(db, world.operator, "x", agent_id=world.ada.id),
        memory.archived(db, world.operator, path_of(world, f"history-archive/{name}")),
        memory.restore(db, world.operator, path_of(world, f"history-archive/{name}")),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await everything(db) == before


async def test_one_statement_for_many_agents_and_no_search(db: Database, world: World) -> None:
    for caller in (world.ada, world.bob):
        await memory.write(db, caller, "Heliotrope.")
        await memory.write(db, caller, "Heliotrope again.")
    ids = [world.ada.id, world.bob.id, world.cyd.id, "\x00"]
    with counted() as sent:
        found = await memory.of_agents(db, world.operator, ids)
        kept = await memory.revisions(db, world.operator, ids)
    assert len(sent) == 2
    assert {agent: row.version for agent, row in found.items()} == {world.ada.id: 2, world.bob.id: 2}
    assert {agent: len(rows) for agent, rows in kept.items()} == {world.ada.id: 1, world.bob.id: 1}
    assert await note_search.find(db, world.ada, "heliotrope", NoteLevel.AGENT) == []
