"""`muniment mcp`: the tools over standard input and output of a process that the client starts."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from store import tokens as secrets
from store.database import Database
from tests.server.conftest import Tokens
from tests.server.mcp.speaking import ask, last_change, refusal, refused, state
from tests.store.tables import add_table
from tests.world import World, add_run

REPOSITORY = Path(__file__).resolve().parents[3]
COMMAND = str(REPOSITORY / ".venv/bin/muniment")


@asynccontextmanager
async def started(dsn: str, token: str, mode: str = "legacy", *options: str) -> AsyncIterator[Client]:
    environment = {"MUNIMENT_DATABASE_URL": dsn, **({} if options else {"MUNIMENT_TOKEN": token})}
    parameters = StdioServerParameters(command=COMMAND, args=["mcp", *options], env=environment, cwd=REPOSITORY)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


async def run(**environment: str) -> tuple[int | None, str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        COMMAND, "mcp", env=kept | environment, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    out, errors = await process.communicate()
    return process.returncode, out.decode(), errors.decode()


async def test_an_agents_session(db: Database, dsn: str, world: World, tokens: Tokens) -> None:
    await add_table(db, world.operator, guild=world.writers)
    run_id = await add_run(db, world.ada)
    async with started(dsn, tokens.ada) as ada:
        assert ada.server_info is not None
        assert (ada.server_info.name, ada.server_info.title) == ("muniment", "Muniment")
        assert ada.instructions is not None
        tools = {tool.name: tool for tool in (await ada.list_tools()).tools}
        assert len(tools) == 14
        assert tools["note_write"].input_schema["properties"]["level"]["enum"] == ["agent", "guild", "org"]
        hints = tools["note_delete"].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (False, True, True, False)
        meta: Any = {"run_id": run_id, "tool_call_id": "call-7"}
        added = await ada.call_tool("record_add", {"collection": "leads", "body": {"status": "new", "score": 2**64 + 1}}, meta=meta)
        assert added.structured_content is not None
        assert added.structured_content["record"]["body"] == {"status": "new", "score": 2**64 + 1}
        path = added.structured_content["record"]["display_path"]
        assert await last_change(db) == ("CREATE", path, 1, "Ada", run_id, "call-7", "record_add")
        before = await state(db)
        assert await refused(ada, "record_add", collection="leads", body={"status": "old"}) == (
            "UNPROCESSABLE",
            'record rejected\n- column "status": expected one of new, contacted, won, lost; got "old"',
        )
        await secrets.revoke(db, tokens.ada)
        assert refusal(await ada.call_tool("memory_write", {"content": "x"})) == (
            "UNAUTHENTICATED",
            "this token is unknown or has been revoked",
        )
        assert await state(db) == before


async def test_an_operators_session_with_a_newer_client(db: Database, dsn: str, world: World, tokens: Tokens) -> None:
    async with started(dsn, tokens.operator, "auto", "--token", tokens.operator) as operator:
        assert operator.protocol_version == "2026-07-28"
        path = (await ask(operator, "note_write", level="org", key="rules.md", content="Be kind"))["note"]["display_path"]
        assert await last_change(db) == ("CREATE", path, 1, "Olga", None, None, None)
        before = await state(db)
        assert (await refused(operator, "note_write", level="guild", key="x.md", content=""))[0] == "UNPROCESSABLE"
        assert await state(db) == before
    assert world.org in path


@pytest.mark.parametrize("token", ["mun_nobody", "nonsense"])
async def test_a_bad_token_is_told_at_once(dsn: str, token: str) -> None:
    code, out, errors = await run(MUNIMENT_DATABASE_URL=dsn, MUNIMENT_TOKEN=token)
    assert (code, out) == (1, "")
    assert errors.splitlines()[-1].startswith("muniment: this ")
    assert "Traceback" not in errors


async def test_no_token_is_told_without_a_database() -> None:
    code, out, errors = await run()
    assert (code, out) == (2, "")
    assert "give --token or set MUNIMENT_TOKEN; `muniment token create --agent ID` makes a token" in " ".join(errors.split())


async def test_the_end_of_input_ends_it(dsn: str, tokens: Tokens) -> None:
    assert await run(MUNIMENT_DATABASE_URL=dsn, MUNIMENT_TOKEN=tokens.ada) == (0, "", "")
