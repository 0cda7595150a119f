"""The note tools, by the protocol's client over HTTP, for agents and an operator."""

from typing import Any

import pytest

from server.app import App
from store.database import Database
from tests.server.conftest import Tokens
from tests.server.mcp.speaking import ask, last_change, refused, speaking, state
from tests.world import World


async def test_an_agent_keeps_notes(app: App, db: Database, world: World, tokens: Tokens) -> None:
    own = f"org/{world.org}/agents/{world.ada.id}/plan.md"
    async with speaking(app, tokens.ada) as ada, speaking(app, tokens.bob) as bob:
        made = (await ask(ada, "note_write", level="agent", key="plan.md", content="Call *Zoë*\n"))["note"]
        assert (made["display_path"], made["level"], made["key"], made["version"]) == (own, "agent", "plan.md", 1)
        assert made["updated_by"] == {"kind": "agent", "id": world.ada.id, "name": "Ada"}
        assert "content" not in made
        assert (await ask(ada, "note_get", path=own))["note"] == {**made, "content": "Call *Zoë*\n"}
        shared = (await ask(ada, "note_write", level="GUILD", key="shared.md", content="Zoë is our contact"))["note"]["display_path"]
        found = (await ask(bob, "note_find", query="zoë"))["notes"]
        assert [(hit["display_path"], hit["level"], hit["key"], hit["version"]) for hit in found] == [(shared, "guild", "shared.md", 1)]
        assert found[0].keys() == {"display_path", "level", "key", "snippet", "version", "updated_at"}
        assert found[0]["snippet"] == "Zoë is our contact"
        assert len((await ask(ada, "note_find", query="zoë"))["notes"]) == 2
        assert len((await ask(ada, "note_find", query="zoë", level="agent", limit=1))["notes"]) == 1
        assert await ask(bob, "note_delete", path=shared) == {"removed": shared}
        assert await last_change(db) == ("DELETE", shared, 2, "Bob", None, None, None)


async def test_an_operator_writes_for_the_organisation_and_reads_all(app: App, world: World, tokens: Tokens) -> None:
    async with speaking(app, tokens.operator) as operator, speaking(app, tokens.ada) as ada:
        path = (await ask(operator, "note_write", level="org", key="rules.md", content="Be kind"))["note"]["display_path"]
        assert path == f"org/{world.org}/rules.md"
        own = (await ask(ada, "note_write", level="agent", key="a.md", content="mine"))["note"]["display_path"]
        assert (await ask(operator, "note_get", path=own))["note"]["content"] == "mine"
        assert (await ask(ada, "note_get", path=path))["note"]["updated_by"] == {"kind": "user", "id": world.operator.id, "name": "Olga"}


REFUSALS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("ada", "note_write", {"level": "org", "key": "x.md", "content": ""}, "FORBIDDEN", "its binding write_org is off"),
    ("loner", "note_write", {"level": "guild", "key": "x.md", "content": ""}, "FORBIDDEN", "Loner is in no guild"),
    ("ada", "note_write", {"level": "agent", "key": "a/b", "content": "\x00"}, "UNPROCESSABLE", 'note rejected\n- column "key": must be'),
    ("ada", "note_write", {"level": "agent", "key": "memory.md", "content": ""}, "UNPROCESSABLE", "write it with memory_write"),
    ("ada", "note_write", {"level": "agent", "key": "x.md", "content": "x" * 262_145}, "LIMIT_EXCEEDED", "the limit is 256 KB"),
    ("ada", "note_write", {"level": "team", "key": 1}, "UNPROCESSABLE",
        'note rejected\n- level must be one of agent, guild, org; got "team"\n- key must be a text; got 1\n- content is required'),
    ("ada", "note_write", {"level": "agent", "key": "x.md", "content": "", "owner_id": "bob", "run_id": "r"}, "UNPROCESSABLE",
        'note rejected\n- unknown argument "owner_id"; note_write takes level, key, content\n- unknown argument "run_id"; note_write'),
    ("operator", "note_write", {"level": "agent", "key": "x.md", "content": ""}, "UNPROCESSABLE", "no argument that says whose note"),
    ("operator", "note_write", {"level": "guild", "key": "x.md", "content": ""}, "UNPROCESSABLE", "writes notes of the organisation alone"),
    ("ada", "note_find", {"query": " "}, "UNPROCESSABLE", "the query is empty"),
    ("ada", "note_find", {"query": "x", "limit": 101}, "UNPROCESSABLE", "limit must be from 1 to 100; got 101"),
    ("ada", "note_find", {"query": "x", "limit": "20"}, "UNPROCESSABLE", 'limit must be a whole number; got "20"'),
    ("ada", "note_get", {"path": "plan.md"}, "UNPROCESSABLE", "is not a display path"),
    ("ada", "note_get", {"path": "ORG/none.md"}, "NOT_FOUND", "unknown note org/"),
    ("ada", "note_get", {"path": "ORG/agents/BOB/secret.md"}, "NOT_FOUND", "unknown note org/"),
    ("cyd", "note_get", {"path": "ORG/guilds/WRITERS/ours.md"}, "NOT_FOUND", "unknown note org/"),
    ("stranger", "note_get", {"path": "ORG/rules.md"}, "NOT_FOUND", "unknown path org/"),
    ("ada", "note_get", {"path": "ORG/agents/ADA/history-archive/x-agent.md"}, "NOT_FOUND", "unknown note org/"),
    ("ada", "note_get", {"path": "ORG/agents/ADA/memory.md"}, "UNPROCESSABLE", "memory_write"),
    ("operator", "note_get", {"path": "ORG/collections/leads"}, "UNPROCESSABLE", "record_search and record_list"),
    ("ada", "note_get", {"path": "ORG/collections/leads"}, "NOT_FOUND", "unknown collection leads"),
    ("ada", "note_delete", {"path": "ORG/rules.md"}, "FORBIDDEN", "its binding write_org is off"),
    ("cyd", "note_delete", {"path": "ORG/guilds/WRITERS/ours.md"}, "NOT_FOUND", "unknown note org/"),
    ("operator", "note_delete", {"path": "ORG/collections/leads"}, "UNPROCESSABLE", "collections are managed by the operator"),
    ("operator", "note_delete", {"path": "ORG/collections/leads/1"}, "UNPROCESSABLE", "record_remove"),
    ("ada", "note_move", {}, "NOT_FOUND", 'there is no tool "note_move"; there are note_find, note_get'),
]  # fmt: skip


@pytest.fixture
async def furnished(db: Database, world: World) -> World:
    from models.kinds import NoteLevel
    from store import notes
    from tests.store.tables import add_table

    await notes.write(db, world.operator, NoteLevel.ORG, "rules.md", "Be kind")
    await notes.write(db, world.ada, NoteLevel.GUILD, "ours.md", "ours")
    await notes.write(db, world.bob, NoteLevel.AGENT, "secret.md", "bob's")
    await add_table(db, world.operator)
    return world


async def test_refusals_say_why_and_change_nothing(app: App, db: Database, furnished: World, tokens: Tokens) -> None:
    before = await state(db)
    names = {"ORG": f"org/{furnished.org}", "BOB": furnished.bob.id, "ADA": furnished.ada.id, "WRITERS": furnished.writers}
    for who, tool, arguments, code, message in REFUSALS:
        given = dict(arguments)
        for name, value in names.items():
            if isinstance(given.get("path"), str):
                given["path"] = given["path"].replace(name, value)
        async with speaking(app, getattr(tokens, who)) as client:
            answered = await refused(client, tool, **given)
        assert answered[0] == code, (tool, arguments, answered)
        assert message in answered[1], (tool, arguments, answered)
    assert await state(db) == before
