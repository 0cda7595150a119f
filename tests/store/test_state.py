"""State: what a new run of an agent is given, and who may look."""

import json
from datetime import UTC, datetime

import pytest

from models import clock
from models.columns import ColumnDef
from models.embeds import markup
from models.errors import Forbidden, NotFound, Unprocessable
from models.kinds import AccessMode, CollectionScope, ColumnType, NoteLevel
from models.limits import STATE_COLLECTIONS
from models.paths import agent_path, collection_path, note_path, script_path
from store import agents, memory, notes, scripts, state, tasks
from store.database import Database
from store.state import StateCollection
from tests.store.rows import add_collection, column, grant
from tests.store.statements import counted
from tests.store.trail import everything
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def test_an_agent_with_nothing(db: Database, world: World) -> None:
    found = await state.of_agent(db, world.loner, world.loner.id)
    assert (found.task, found.memory, found.notes, found.scripts, found.collections) == ("", None, [], [], [])
    assert state.as_json(found) == {"task": "", "memory": None, "notes": [], "scripts": [], "collections": []}


async def test_everything_that_an_agent_has(db: Database, world: World) -> None:
    clock.set_clock(lambda: datetime(2026, 11, 30, 8, tzinfo=UTC))
    for level, owner in ((ORG, None), (GUILD, world.writers), (GUILD, world.readers), (AGENT, world.ada.id), (AGENT, world.bob.id)):
        await notes.write(db, world.operator, level, "plan.md", f"{level} of {owner}", owner)
    await notes.write(db, world.operator, ORG, "A.md", "Alpha")
    await memory.write(db, world.ada, "Remember.")
    for caller, name in ((world.ada, "b.py"), (world.ada, "A.py"), (world.bob, "c.py")):
        await scripts.write(db, caller, name, "print()")
    columns = [column("email", unique=True, required=True), column("status", values=["new", "won"])]
    leads = await add_collection(db, world.operator, "leads", columns)
    await grant(db, world.operator, leads, subject_type="GUILD", subject=world.writers, mode="READ")
    await add_collection(db, world.operator, "hidden", columns)
    await add_collection(db, world.operator, "board", [column("done", "boolean")], guild=world.writers)
    await tasks.save(db, world.operator, world.ada.id, f"Do {markup(note_path(world.org, ORG, world.org, 'A.md'))}.")

    found = await state.of_agent(db, world.operator, world.ada.id)
    assert await state.of_agent(db, world.ada, world.ada.id) == found
    assert (found.task, found.memory) == ("Do Alpha.", "Remember.")
    paths = [note_path(world.org, AGENT, world.ada.id, "plan.md"), note_path(world.org, GUILD, world.writers, "plan.md")]
    paths += [note_path(world.org, ORG, world.org, key) for key in ("A.md", "plan.md")]
    assert [(note.display_path, note.version, note.updated_at) for note in found.notes] == [(path, 1, clock.now()) for path in paths]
    files = [script_path(world.org, world.ada.id, name) for name in ("A.py", "b.py")]
    assert [(file.display_path, file.name, file.version) for file in found.scripts] == list(
        zip(files, ("A.py", "b.py"), (1, 1), strict=True)
    )
    email = ColumnDef("email", ColumnType.TEXT, "The email.", required=True, unique=True)
    status = ColumnDef("status", ColumnType.TEXT, "The status.", values=("new", "won"))
    board, granted = found.collections
    assert (board.name, board.access, board.scope, board.truncated) == ("board", AccessMode.WRITE, CollectionScope.GUILD, False)
    assert granted == StateCollection(
        "leads", "Testing.", AccessMode.READ, CollectionScope.ORG, collection_path(world.org, "leads"), [email, status]
    )

    shown = state.as_json(found)
    assert json.loads(json.dumps(shown)) == shown
    assert shown["notes"][0] == {"display_path": paths[0], "version": 1, "updated_at": "2026-11-30T08:00:00Z"}
    assert shown["scripts"][1] == {"display_path": files[1], "name": "b.py", "version": 1}
    assert shown["collections"][1] == {
        "name": "leads",
        "purpose": "Testing.",
        "access": "read",
        "scope": "org",
        "display_path": collection_path(world.org, "leads"),
        "columns": columns,
    }


async def test_notes_follow_the_agents_bindings_whoever_asks(db: Database, world: World) -> None:
    for level, owner in ((ORG, None), (GUILD, world.writers), (AGENT, world.ada.id)):
        await notes.write(db, world.operator, level, f"{level.lower()}.md", "x", owner)

    async def seen() -> list[str]:
        found = [await state.of_agent(db, caller, world.ada.id) for caller in (world.operator, world.ada)]
        assert found[0] == found[1]
        return [note.display_path.rpartition("/")[2] for note in found[0].notes]

    assert await seen() == ["agent.md", "guild.md", "org.md"]
    await agents.update(db, world.operator, world.ada.id, read_guild=False)
    assert await seen() == ["agent.md", "org.md"]
    await agents.update(db, world.operator, world.ada.id, read_guild=True, read_org=False)
    assert await seen() == ["agent.md", "guild.md"]
    await agents.update(db, world.operator, world.ada.id, guild_id=None)
    assert await seen() == ["agent.md"]


async def test_collections_are_capped(db: Database, world: World) -> None:
    for n in range(STATE_COLLECTIONS):
        await add_collection(db, world.operator, f"t{n:02}", [column("a")], guild=world.writers)
    exact = (await state.of_agent(db, world.ada, world.ada.id)).collections
    assert [entry.name for entry in exact] == [f"t{n:02}" for n in range(STATE_COLLECTIONS)]
    own = await add_collection(db, world.operator, "a_first", [column("a")])
    await grant(db, world.operator, own, subject_type="AGENT", subject=world.ada.id, mode="WRITE")
    *listed, last = (await state.of_agent(db, world.ada, world.ada.id)).collections
    assert [entry.name for entry in listed] == ["a_first", *(f"t{n:02}" for n in range(STATE_COLLECTIONS - 1))]
    assert last == StateCollection(None, None, None, None, None, None, truncated=True)
    assert last.as_json() == {"truncated": True}


async def test_the_number_of_statements_does_not_grow(db: Database, world: World) -> None:
    async def fill(count: int) -> None:
        parts = []
        for n in range(count):
            inner = await notes.write(db, world.operator, ORG, f"inner{n}.md", "i")
            outer = await notes.write(db, world.operator, GUILD, f"outer{n}.md", markup(inner.display_path), world.writers)
            parts.append(markup(outer.display_path))
            await scripts.write(db, world.ada, f"s{n}.py", "x")
            await add_collection(db, world.operator, f"t{count}_{n}", [column("a")], guild=world.writers)
        await memory.write(db, world.ada, f"{count}")
        await tasks.save(db, world.operator, world.ada.id, "".join(parts))

    sizes = []
    for count in (1, 30):
        await fill(count)
        with counted() as sent:
            found = await state.of_agent(db, world.ada, world.ada.id)
        assert (found.task, len(found.scripts), len(found.notes)) == ("i" * count, count, 2 * count)
        sizes.append(len(sent))
    assert sizes == [6, 6]


async def test_who_may_look(db: Database, world: World) -> None:
    await notes.write(db, world.operator, AGENT, "plan.md", "x", world.ada.id)
    before = await everything(db)
    for caller in (world.bob, world.cyd, world.foreign_agent):
        with pytest.raises(Forbidden, match="another agent's State is for operators"):
            await state.of_agent(db, caller, world.ada.id)
    for caller, agent in ((world.stranger, world.ada.id), (world.operator, "nobody"), (world.operator, world.foreign_agent.id)):
        with pytest.raises(NotFound, match="unknown agent"):
            await state.of_agent(db, caller, agent)
    with pytest.raises(Unprocessable, match="NUL"):
        await state.of_agent(db, world.operator, "\x00")
    assert await everything(db) == before
    await agents.delete(db, world.operator, world.ada.id)
    for caller in (world.operator, world.ada):
        with pytest.raises(NotFound):
            await state.of_agent(db, caller, world.ada.id)


async def test_a_path_of_the_task_is_no_note_to_list(db: Database, world: World) -> None:
    await tasks.save(db, world.operator, world.ada.id, markup(agent_path(world.org, world.ada.id, "task.md")))
    found = await state.of_agent(db, world.ada, world.ada.id)
    assert found.notes == []
    assert found.task.startswith("[cannot be embedded: ")
