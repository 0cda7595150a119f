"""Task, memory, scripts, State and embeds over GraphQL: what an operator, the agent itself and another agent get."""

from typing import Any

from models.caller import Caller
from models.embeds import markup
from models.kinds import NoteLevel
from models.paths import agent_path, note_path
from resolvers.context import Context
from schema import build
from store import memory, notes, scripts, tasks
from store.bell import Bell
from store.database import Database
from store.feed import Feed
from tests.store.rows import add_collection, column
from tests.store.trail import everything
from tests.world import World

SCHEMA = build()


async def ask(db: Database, caller: Caller, document: str, **variables: Any) -> tuple[dict[str, Any] | None, list[tuple[str, str]]]:
    """The data, and for each error its path and code."""
    result = await SCHEMA.execute(document, variable_values=variables, context_value=Context(db=db, feed=Feed(db, Bell()), known=caller))
    errors = [(".".join(map(str, error.path or ())), (error.extensions or {}).get("code", "")) for error in result.errors or ()]
    return result.data, errors


FILES = """query Files($id: ID!) { agent(id: $id) {
    task { displayPath content rendered version updatedBy { kind name } revisions { displayPath content version source savedBy { name } }
        latestChange { operation version actor { name } } }
    memory { displayPath content version revisions { displayPath source content } latestChange { operation version } }
    scripts { displayPath name content version updatedBy { name } latestChange { operation recorded } }
    state { task memory notes { displayPath version updatedAt } scripts { displayPath name version }
        collections { name purpose access scope displayPath columns { name type values } truncated } } } }"""


async def test_an_operator_sees_all_files_of_an_agent(db: Database, world: World) -> None:
    note = await notes.write(db, world.operator, NoteLevel.ORG, "charter.md", "Be kind.")
    await add_collection(db, world.operator, "leads", [column("status", values=["new"])], guild=world.writers)
    await tasks.save(db, world.operator, world.ada.id, "First.")
    await tasks.save(db, world.operator, world.ada.id, f"Now: {markup(note.display_path)}")
    await memory.write(db, world.ada, "One.")
    await memory.write(db, world.ada, "Two.")
    script = await scripts.write(db, world.ada, "report.py", "print()")
    data, errors = await ask(db, world.operator, FILES, id=world.ada.id)
    assert errors == []
    assert data is not None
    (kept,) = (await memory.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    assert data["agent"] == {
        "task": {
            "displayPath": agent_path(world.org, world.ada.id, "task.md"),
            "content": f"Now: {markup(note.display_path)}",
            "rendered": "Now: Be kind.",
            "version": 2,
            "updatedBy": {"kind": "USER", "name": "Olga"},
            "revisions": [{"displayPath": None, "content": "First.", "version": 1, "source": "operator", "savedBy": {"name": "Olga"}}],
            "latestChange": {"operation": "UPDATE", "version": 2, "actor": {"name": "Olga"}},
        },
        "memory": {
            "displayPath": agent_path(world.org, world.ada.id, "memory.md"),
            "content": "Two.",
            "version": 2,
            "revisions": [{"displayPath": kept.display_path, "source": "agent", "content": "One."}],
            "latestChange": {"operation": "UPDATE", "version": 2},
        },
        "scripts": [
            {
                "displayPath": script.display_path,
                "name": "report.py",
                "content": "print()",
                "version": 1,
                "updatedBy": {"name": "Ada"},
                "latestChange": {"operation": "CREATE", "recorded": True},
            }
        ],
        "state": {
            "task": "Now: Be kind.",
            "memory": "Two.",
            "notes": [{"displayPath": note.display_path, "version": 1, "updatedAt": note.updated_at}],
            "scripts": [{"displayPath": script.display_path, "name": "report.py", "version": 1}],
            "collections": [
                {
                    "name": "leads",
                    "purpose": "Testing.",
                    "access": "WRITE",
                    "scope": "GUILD",
                    "displayPath": f"org/{world.org}/collections/leads",
                    "columns": [{"name": "status", "type": "TEXT", "values": ["new"]}],
                    "truncated": False,
                }
            ],
        },
    }
    revision, _ = await ask(db, world.operator, "query R($p: String!) { memoryRevision(path: $p) { content } }", p=kept.display_path)
    assert revision == {"memoryRevision": {"content": "One."}}


async def test_agents_see_their_own_files_and_no_others(db: Database, world: World) -> None:
    short = "query Q($id: ID!) { agent(id: $id) { task { rendered } memory { content } scripts { name } state { memory } } }"
    own, errors = await ask(db, world.ada, short, id=world.ada.id)
    assert (own, errors) == ({"agent": {"task": {"rendered": ""}, "memory": None, "scripts": [], "state": {"memory": None}}}, [])
    for field in ("task { content }", "memory { content }", "scripts { name }", "state { memory }"):
        _, errors = await ask(db, world.bob, f"query Q($id: ID!) {{ agent(id: $id) {{ {field} }} }}", id=world.ada.id)
        assert errors == [(f"agent.{field.split()[0]}", "FORBIDDEN")]
    _, errors = await ask(db, world.ada, "query Q($id: ID!) { agent(id: $id) { task { revisions { version } } } }", id=world.ada.id)
    assert errors == [("agent.task.revisions", "FORBIDDEN")]
    _, errors = await ask(db, world.ada, "{ embeddable { name } }")
    assert errors == [("embeddable", "FORBIDDEN")]


WRITES = """mutation Write($agent: ID!) {
    taskSave(agentId: $agent, content: "Go.", expectedVersion: 0) { version rendered }
    memoryWrite(agentId: $agent, content: "M.") { version }
    scriptWrite(agentId: $agent, name: "a.py", content: "1") { displayPath version } }"""


async def test_writes(db: Database, world: World) -> None:
    data, errors = await ask(db, world.operator, WRITES, agent=world.ada.id)
    path = agent_path(world.org, world.ada.id, "scripts/a.py")
    assert errors == []
    assert data == {
        "taskSave": {"version": 1, "rendered": "Go."},
        "memoryWrite": {"version": 1},
        "scriptWrite": {"displayPath": path, "version": 1},
    }
    deleted, _ = await ask(db, world.ada, "mutation D($p: String!) { scriptDelete(path: $p) { operation version kind } }", p=path)
    assert deleted == {"scriptDelete": {"operation": "DELETE", "version": 2, "kind": "SCRIPT"}}
    await memory.write(db, world.ada, "Two.")
    (kept,) = (await memory.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    restore = "mutation R($p: String!) { memoryRestore(path: $p, expectedVersion: 2) { content version latestChange { operation } } }"
    restored, _ = await ask(db, world.operator, restore, p=kept.display_path)
    assert restored == {"memoryRestore": {"content": "M.", "version": 3, "latestChange": {"operation": "RESTORE"}}}
    before = await everything(db)
    for caller, document, code in (
        (world.ada, 'mutation M($x: ID!) { taskSave(agentId: $x, content: "x") { version } }', "FORBIDDEN"),
        (world.ada, 'mutation M($x: ID!) { memoryWrite(agentId: $x, content: "x") { version } }', "UNPROCESSABLE"),
        (world.operator, 'mutation M($x: ID!) { taskSave(agentId: $x, content: "x", expectedVersion: 9) { version } }', "VERSION_CONFLICT"),
        (world.operator, 'mutation M($x: ID!) { scriptWrite(agentId: $x, name: "../a", content: "x") { version } }', "UNPROCESSABLE"),
    ):
        _, errors = await ask(db, caller, document, x=world.ada.id)
        assert [found for _, found in errors] == [code]
    assert await everything(db) == before


async def test_what_is_embedded_stays(db: Database, world: World) -> None:
    await notes.write(db, world.operator, NoteLevel.ORG, "charter.md", "Be kind.")
    path = note_path(world.org, NoteLevel.ORG, world.org, "charter.md")
    await tasks.save(db, world.operator, world.ada.id, markup(path))
    before = await everything(db)
    _, errors = await ask(db, world.operator, "mutation D($p: String!) { noteDelete(path: $p) { version } }", p=path)
    assert errors == [("noteDelete", "CONFLICT")]
    move = 'mutation M($p: String!) { noteMove(path: $p, level: ORG, key: "b.md") { version } }'
    _, errors = await ask(db, world.operator, move, p=path)
    assert errors == [("noteMove", "CONFLICT")]
    assert await everything(db) == before
    found, _ = await ask(db, world.operator, '{ embeddable(query: "CHART") { displayPath name kind markup } }')
    assert found == {"embeddable": [{"displayPath": path, "name": "charter.md", "kind": "NOTE", "markup": markup(path)}]}
