"""Scripts: versions, names, caps, provenance, and who may."""

import asyncio

import pytest

from models.errors import Forbidden, LimitExceeded, NotFound, Unprocessable, VersionConflict
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER, SCRIPT_BYTES
from models.paths import agent_path, collection_path, note_path, record_path, script_path
from store import agents, note_search, notes, scripts
from store.database import Database
from tests.store.rows import add_collection, column
from tests.store.statements import counted
from tests.store.test_notes_write import fill
from tests.store.trail import changes_at, everything, history
from tests.world import World, add_run


def path_of(world: World, name: str = "report.py") -> str:
    return script_path(world.org, world.ada.id, name)


async def test_an_agent_keeps_scripts(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    caller = world.ada.in_call(run, "call-1", "script_write")
    written = await scripts.write(db, caller, "report.py", "print(1)\r\n")
    assert (written.display_path, written.name, written.agent_id) == (path_of(world), "report.py", world.ada.id)
    assert (written.content, written.version, written.updated_by_name) == ("print(1)\r\n", 1, "Ada")
    assert await scripts.get(db, world.ada, path_of(world)) == written
    again = await scripts.write(db, world.operator, "report.py", "print(2)", agent_id=world.ada.id)
    assert (again.id, again.version, again.created_by_name, again.updated_by_name) == (written.id, 2, "Ada", "Olga")
    created, updated = await changes_at(db, path_of(world))
    assert (created.kind, created.operation, created.file_id, created.version) == ("SCRIPT", "CREATE", written.id, 1)
    assert (created.level, created.owner_id, created.run_id, created.tool_name) == ("AGENT", world.ada.id, run, "script_write")
    assert (updated.operation, updated.version, updated.actor_kind, updated.run_id) == ("UPDATE", 2, "USER", None)


async def test_versions_go_on_after_a_deletion(db: Database, world: World) -> None:
    first = await scripts.write(db, world.ada, "report.py", "1")
    deletion = await scripts.delete(db, world.ada, path_of(world))
    assert (deletion.operation, deletion.version, deletion.kind) == ("DELETE", 2, "SCRIPT")
    assert (deletion.file_id, deletion.display_path, deletion.recorded) == (first.id, path_of(world), True)
    for attempt in (scripts.get(db, world.ada, path_of(world)), scripts.delete(db, world.operator, path_of(world))):
        with pytest.raises(NotFound, match="unknown script"):
            await attempt
    async with db.write() as tx:
        await tx.execute("DELETE FROM file_changes")
    again = await scripts.write(db, world.ada, "report.py", "2", expected_version=0)
    assert (again.version, again.id == first.id) == (3, False)


async def test_expected_versions(db: Database, world: World) -> None:
    with pytest.raises(VersionConflict) as missing:
        await scripts.write(db, world.ada, "report.py", "1", expected_version=4)
    assert missing.value.extensions == {"currentVersion": 0}
    await scripts.write(db, world.ada, "report.py", "1")
    await scripts.write(db, world.ada, "report.py", "2", expected_version=1)
    before = await everything(db)
    for stale in (0, 1, 3):
        with pytest.raises(VersionConflict, match="is at version 2"):
            await scripts.write(db, world.ada, "report.py", "3", expected_version=stale)
        assert (await scripts.write(db, world.ada, "report.py", "2", expected_version=stale)).version == 2
    assert await everything(db) == before


async def test_writers_at_once_each_make_a_version(db: Database, world: World) -> None:
    async def churn(n: int) -> None:
        for _ in range(4):
            await scripts.write(db, world.ada, "report.py", f"{n}")
            try:
                await scripts.delete(db, world.ada, path_of(world))
            except NotFound:
                continue

    await asyncio.gather(*(churn(n) for n in range(5)))
    versions = [version for _, version in await history(db, path_of(world))]
    assert sorted(versions) == list(range(1, len(versions) + 1))


async def test_refused_writes(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "report.py", "1")
    before = await everything(db)
    for error, text, attempt in (
        (Unprocessable, "agentId is for operators", scripts.write(db, world.ada, "a.py", "x", agent_id=world.ada.id)),
        (Unprocessable, "agentId is required", scripts.write(db, world.operator, "a.py", "x")),
        (NotFound, "unknown agent nobody", scripts.write(db, world.operator, "a.py", "x", agent_id="nobody")),
        (NotFound, "unknown agent", scripts.write(db, world.stranger, "a.py", "x", agent_id=world.ada.id)),
        (LimitExceeded, "this script is 262,145 bytes", scripts.write(db, world.ada, "a.py", "x" * (SCRIPT_BYTES + 1))),
    ):
        with pytest.raises(error, match=text):
            await attempt
    with pytest.raises(Unprocessable, match="script rejected") as refusal:
        await scripts.write(db, world.ada, "../" + "a" * 200, "\x00", expected_version=2**31)
    assert [problem.column for problem in refusal.value.problems] == ["name", "name", "content", "expectedVersion"]
    assert await everything(db) == before
    assert (await scripts.write(db, world.ada, "a.py", "x" * SCRIPT_BYTES)).version == 1


async def test_an_agent_reaches_its_own_scripts_alone(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "report.py", "1")
    before = await everything(db)
    for caller in (world.bob, world.stranger, world.foreign_agent):
        for attempt in (scripts.get(db, caller, path_of(world)), scripts.delete(db, caller, path_of(world))):
            with pytest.raises(NotFound, match="unknown"):
                await attempt
    with pytest.raises(Forbidden, match="another agent's scripts"):
        await scripts.of_agents(db, world.bob, [world.ada.id])
    assert await scripts.of_agents(db, world.stranger, [world.ada.id]) == {}
    assert await everything(db) == before


async def test_paths_of_other_families(db: Database, world: World) -> None:
    await add_collection(db, world.operator, "leads", [column("email")])
    own, guild = agent_path(world.org, world.ada.id, ""), note_path(world.org, NoteLevel.GUILD, world.readers, "x.md")
    cases = [
        (world.ada, own + "x.md", Unprocessable, "use note_get"),
        (world.ada, own + "task.md", Unprocessable, "its State"),
        (world.ada, own + "memory.md", Unprocessable, "memory_write"),
        (world.ada, own + "history-archive/a-agent.md", NotFound, "unknown script"),
        (world.operator, own + "history-archive/a-agent.md", Unprocessable, "previous version"),
        (world.ada, guild, NotFound, "unknown script"),
        (world.operator, guild, Unprocessable, "use note_get"),
        (world.ada, collection_path(world.org, "leads"), NotFound, "unknown collection leads"),
        (world.operator, collection_path(world.org, "leads"), Unprocessable, "record_search"),
        (world.operator, record_path(world.org, "leads", 1), Unprocessable, "record_remove"),
        (world.ada, "report.py", Unprocessable, "is not a display path"),
        (world.ada, own + "scripts/\x00", Unprocessable, "NUL"),
    ]
    before = await everything(db)
    for caller, path, error, text in cases:
        for attempt in (scripts.get(db, caller, path), scripts.delete(db, caller, path)):
            with pytest.raises(error, match=text):
                await attempt
    assert await everything(db) == before


async def test_scripts_and_notes_share_the_cap_of_an_agent(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "report.py", "1")
    await notes.write(db, world.ada, NoteLevel.AGENT, "plan.md", "x")
    async with db.write() as tx:
        await tx.execute("UPDATE agents SET guild_id = NULL")
    await fill(db, world, ARTIFACTS_PER_OWNER - 2)
    async with db.write() as tx:
        await tx.execute(
            "UPDATE artifacts SET owner_id = $1, level = 'AGENT' WHERE id LIKE 'n%' AND owner_id = $2", world.ada.id, world.writers
        )
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="10,000 artifacts"):
        await scripts.write(db, world.ada, "more.py", "1")
    with pytest.raises(LimitExceeded, match="10,000 artifacts"):
        await notes.write(db, world.ada, NoteLevel.AGENT, "more.md", "1")
    assert await everything(db) == before
    assert (await scripts.write(db, world.ada, "report.py", "2")).version == 2
    await scripts.delete(db, world.ada, path_of(world))
    assert (await scripts.write(db, world.ada, "more.py", "1")).version == 1


async def test_lists(db: Database, world: World) -> None:
    for name in ("b.py", "A.py", "c.py"):
        await scripts.write(db, world.ada, name, name)
    await scripts.write(db, world.bob, "b.py", "Bob's")
    assert [row.name for row in await scripts.listed(db, world.ada)] == ["A.py", "b.py", "c.py"]
    assert [row.content for row in await scripts.listed(db, world.operator, world.bob.id)] == ["Bob's"]
    assert [row.content for row in await scripts.listed(db, world.operator, world.bob.id, content=False)] == [None]
    assert await scripts.listed(db, world.cyd) == []
    with pytest.raises(NotFound, match="unknown agent nobody"):
        await scripts.listed(db, world.operator, "nobody")
    with pytest.raises(Unprocessable, match="agentId is for operators"):
        await scripts.listed(db, world.ada, world.ada.id)
    with counted() as sent:
        found = await scripts.of_agents(db, world.operator, [world.ada.id, world.bob.id, world.cyd.id, "\x00"])
    assert len(sent) == 1
    assert {agent: len(rows) for agent, rows in found.items()} == {world.ada.id: 3, world.bob.id: 1}


async def test_scripts_are_in_no_search_of_notes_and_in_no_list(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "heliotrope.md", "heliotrope")
    assert await note_search.find(db, world.ada, "heliotrope") == []
    assert await notes.listed(db, world.operator, NoteLevel.AGENT, world.ada.id) == []
    assert (await notes.write(db, world.ada, NoteLevel.AGENT, "heliotrope.md", "x")).version == 1


async def test_a_deleted_agent_has_no_scripts(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "report.py", "1")
    await agents.delete(db, world.operator, world.ada.id)
    assert await history(db, path_of(world)) == [("CREATE", 1), ("DELETE", 2)]
    before = await everything(db)
    for attempt in (
        scripts.get(db, world.operator, path_of(world)),
        scripts.delete(db, world.operator, path_of(world)),
        scripts.write(db, world.operator, "report.py", "2", agent_id=world.ada.id),
        scripts.write(db, world.ada, "report.py", "2"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await everything(db) == before
