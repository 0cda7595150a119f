"""The tools for memory and scripts, by the protocol's client over HTTP."""

from typing import Any

from server.app import App
from store.database import Database
from tests.server.conftest import Tokens
from tests.server.mcp.speaking import ask, last_change, refused, speaking, state
from tests.world import World


async def test_an_agent_writes_its_memory(app: App, db: Database, world: World, tokens: Tokens) -> None:
    path = f"org/{world.org}/agents/{world.ada.id}/memory.md"
    async with speaking(app, tokens.ada) as ada:
        memory = (await ask(ada, "memory_write", content="Zoë said no"))["memory"]
        assert (memory["display_path"], memory["version"], memory["updated_by"]["name"]) == (path, 1, "Ada")
        assert "content" not in memory
        assert (await ask(ada, "memory_write", content=""))["memory"]["version"] == 2
        assert await last_change(db) == ("UPDATE", path, 2, "Ada", None, None, None)


async def test_an_agent_keeps_scripts_and_an_operator_reads_them(app: App, db: Database, world: World, tokens: Tokens) -> None:
    path = f"org/{world.org}/agents/{world.ada.id}/scripts/report.py"
    async with speaking(app, tokens.ada) as ada, speaking(app, tokens.operator) as operator:
        assert await ask(ada, "script_list") == {"scripts": []}
        made = (await ask(ada, "script_write", name="report.py", content="print(1)\n"))["script"]
        assert (made["display_path"], made["name"], made["version"]) == (path, "report.py", 1)
        assert await ask(ada, "script_list") == {"scripts": [made]}
        assert await ask(ada, "script_get", path=path) == {"script": {**made, "content": "print(1)\n"}}
        assert (await ask(operator, "script_get", path=path))["script"]["content"] == "print(1)\n"
        assert await ask(ada, "script_delete", path=path) == {"removed": path}
        assert await last_change(db) == ("DELETE", path, 2, "Ada", None, None, None)
        assert await ask(ada, "script_list") == {"scripts": []}


REFUSALS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("ada", "memory_write", {}, "UNPROCESSABLE", "memory rejected\n- content is required"),
    ("ada", "memory_write", {"content": "x", "agent_id": "b"}, "UNPROCESSABLE", 'unknown argument "agent_id"; memory_write takes content'),
    ("ada", "memory_write", {"content": "x" * 262_145}, "LIMIT_EXCEEDED", "this memory is 262,145 bytes; the limit is 256 KB"),
    ("operator", "memory_write", {"content": "x"}, "UNPROCESSABLE", "memory_write is for agents, each with its own memory"),
    ("operator", "script_write", {"name": "a.py", "content": ""}, "UNPROCESSABLE", "script_write is for agents, each with its own scripts"),
    ("operator", "script_list", {}, "UNPROCESSABLE", "script_list is for agents"),
    ("ada", "script_list", {"limit": 1}, "UNPROCESSABLE", 'unknown argument "limit"; script_list takes no arguments'),
    ("ada", "script_write", {"name": "../a", "content": "\x00"}, "UNPROCESSABLE", 'script rejected\n- column "name": must be one file'),
    ("ada", "script_write", {"name": 7, "content": None}, "UNPROCESSABLE",
        "script rejected\n- name must be a text; got 7\n- content is required"),
    ("bob", "script_get", {"path": "org/ORG/agents/ADA/scripts/a.py"}, "NOT_FOUND", "unknown script org/"),
    ("bob", "script_delete", {"path": "org/ORG/agents/ADA/scripts/a.py"}, "NOT_FOUND", "unknown script org/"),
    ("stranger", "script_delete", {"path": "org/ORG/agents/ADA/scripts/a.py"}, "NOT_FOUND", "unknown path org/"),
    ("ada", "script_get", {"path": "org/ORG/agents/ADA/scripts/b.py"}, "NOT_FOUND", "unknown script org/"),
    ("ada", "script_delete", {"path": "org/ORG/agents/ADA/x.md"}, "UNPROCESSABLE", "note_delete"),
]  # fmt: skip


async def test_refusals_say_why_and_change_nothing(app: App, db: Database, world: World, tokens: Tokens) -> None:
    async with speaking(app, tokens.ada) as ada:
        await ask(ada, "script_write", name="a.py", content="print(1)")
    before = await state(db)
    for who, tool, arguments, code, message in REFUSALS:
        given = dict(arguments)
        if "path" in given:
            given["path"] = given["path"].replace("ORG", world.org).replace("ADA", world.ada.id)
        async with speaking(app, getattr(tokens, who)) as client:
            answered = await refused(client, tool, **given)
        assert answered[0] == code, (who, tool, arguments, answered)
        assert message in answered[1], (who, tool, arguments, answered)
    assert await state(db) == before
