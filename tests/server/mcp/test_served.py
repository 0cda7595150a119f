"""/mcp behind a real socket, for many callers at once."""

import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from server.app import App
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import serving
from tests.server.mcp.speaking import ask
from tests.store.tables import add_table
from tests.world import World

CALLERS, CALLS = 8, 8


async def test_callers_at_once_keep_apart(app: App, db: Database, world: World, tokens: Tokens) -> None:
    await add_table(db, world.operator, guild=world.writers)

    async def work(address: str, token: str, number: int) -> None:
        async with (
            httpx2.AsyncClient(headers=bearer(token)) as http,
            Client(streamable_http_client(f"http://{address}/mcp", http_client=http), mode="legacy") as client,
        ):
            for call in range(CALLS):
                await ask(client, "record_add", collection="leads", body={"email": f"{number}-{call}@x.org", "status": "new"})

    async with serving(app) as address, asyncio.TaskGroup() as group:
        for number in range(CALLERS):
            group.create_task(work(address, tokens.ada if number % 2 else tokens.bob, number))
    async with db.read() as reader:
        rows = await reader.rows("SELECT number, content_json->>'email' AS email, created_by_name FROM artifacts ORDER BY number")
    assert [row.number for row in rows] == list(range(1, CALLERS * CALLS + 1))
    assert {row.email: row.created_by_name for row in rows} == {
        f"{number}-{call}@x.org": "Ada" if number % 2 else "Bob" for number in range(CALLERS) for call in range(CALLS)
    }
