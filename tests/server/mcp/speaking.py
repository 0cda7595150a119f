"""The protocol's own client, speaking to the application, and what its answers hold."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from server.app import App
from store.database import Database

URL = "http://127.0.0.1:8000/mcp"


@asynccontextmanager
async def speaking(app: App, token: str, *, mode: str = "legacy", headers: dict[str, str] | None = None) -> AsyncIterator[Client]:
    given = {"Authorization": f"Bearer {token}", **(headers or {})}
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=given) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


async def ask(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The answer of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error is False, result.structured_content
    return whole(result)


async def refused(client: Client, tool: str, /, **arguments: Any) -> tuple[str, str]:
    """Code and message of a call that must be refused."""
    return refusal(await client.call_tool(tool, arguments))


def refusal(result: CallToolResult) -> tuple[str, str]:
    value = result.structured_content
    assert result.is_error is True, value
    assert value is not None
    assert {"code", "status", "message", "problems"} <= value.keys()
    [text] = result.content
    assert text.type == "text"
    assert text.text == value["message"]
    return value["code"], value["message"]


def whole(result: CallToolResult) -> dict[str, Any]:
    value: dict[str, Any] | None = result.structured_content
    [text] = result.content
    assert value is not None
    assert text.type == "text"
    assert json.loads(text.text) == value
    return value


async def state(db: Database) -> dict[str, list[tuple[Any, ...]]]:
    """All that tools could change, to compare before and after a refusal."""
    tables = ("artifact_collections", "artifacts", "collection_access", "file_changes", "memory_revisions", "idempotency_keys")
    async with db.read() as reader:
        return {table: [tuple(row) for row in await reader.rows(f"SELECT * FROM {table} t ORDER BY t::text")] for table in tables}


async def last_change(db: Database) -> tuple[Any, ...]:
    """Operation, path, version, actor, run, tool call and tool of the newest change."""
    statement = """SELECT operation, display_path, version, actor_name, run_id, tool_call_id, tool_name
        FROM file_changes ORDER BY id DESC LIMIT 1"""
    async with db.read() as reader:
        row = await reader.row(statement)
    assert row is not None
    return tuple(row)
