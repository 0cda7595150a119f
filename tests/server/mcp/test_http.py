"""/mcp as HTTP sees it: who may come in, within which bounds, and what is told of each request."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager
from mcp.shared.exceptions import MCPError

from server.app import App
from server.settings import Settings
from store import tokens as secrets
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.mcp.speaking import ask, speaking, state

ACCEPT = {"Accept": "application/json, text/event-stream"}


def calling(tool: str = "script_list", **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@asynccontextmanager
async def started(app: App, base_url: str = "http://muniment.test") -> AsyncIterator[httpx.AsyncClient]:
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base_url) as client,
    ):
        yield client


async def post(client: httpx.AsyncClient, token: str | None, body: Any = None, **headers: str) -> httpx.Response:
    given = {**ACCEPT, **(bearer(token) if token is not None else {}), **headers}
    return await client.post("/mcp", json=calling() if body is None else body, headers=given)


def error(response: httpx.Response) -> dict[str, Any]:
    body = response.json()
    assert (body["jsonrpc"], body["id"], body["error"]["message"]) == ("2.0", None, body["error"]["data"]["message"])
    data: dict[str, Any] = body["error"]["data"]
    assert data["status"] == response.status_code
    return data


async def test_a_call_needs_no_session(client: httpx.AsyncClient, tokens: Tokens) -> None:
    response = await post(client, tokens.ada)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["result"]["structuredContent"] == {"scripts": []}
    assert "mcp-session-id" not in response.headers


NO_MESSAGE = 'the body is no JSON-RPC message: an object with "jsonrpc": "2.0"'
NO_REQUEST = "the body is no JSON-RPC request: "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "send one JSON-RPC message at a time; lists of them are not taken"),
        ([calling()], "send one JSON-RPC message at a time; lists of them are not taken"),
        ({}, NO_MESSAGE),
        ("text", NO_MESSAGE),
        ({**calling(), "jsonrpc": "1.0"}, NO_MESSAGE),
        ({"jsonrpc": "2.0", "id": 1}, f"{NO_REQUEST}method must be a text"),
        (
            {"jsonrpc": "2.0", "id": True, "method": 5, "params": []},
            f"{NO_REQUEST}method must be a text; id must be a text or a whole number; params must be an object",
        ),
        ({**calling(), "id": None}, f"{NO_REQUEST}id must be a text or a whole number"),
    ],
)
async def test_json_that_is_no_message_is_refused_in_our_words(client: httpx.AsyncClient, tokens: Tokens, body: Any, message: str) -> None:
    response = await post(client, tokens.ada, body)
    assert (response.status_code, error(response)["message"]) == (400, message)


async def test_text_that_is_no_json_is_an_error_of_the_protocol(client: httpx.AsyncClient, tokens: Tokens) -> None:
    headers = {**ACCEPT, **bearer(tokens.ada), "Content-Type": "application/json"}
    for content in (b"x", b"", b"[" * 100_000):
        response = await client.post("/mcp", content=content, headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32700)


async def test_no_line_of_the_log_tells_of_sessions_that_there_are_not(
    client: httpx.AsyncClient, tokens: Tokens, capsys: pytest.CaptureFixture[str]
) -> None:
    await post(client, tokens.ada)
    capsys.readouterr()
    await post(client, tokens.ada)
    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert [event for event in events if not event.startswith("HTTP Request")] == ["request"]  # the client speaks in this process too


@pytest.mark.parametrize(
    ("token", "asked", "message"),
    [
        (None, "Bearer", "say who you are: send `Authorization: Bearer <token>`"),
        ("mun_nobody", 'Bearer error="invalid_token"', "this token is unknown or has been revoked"),
        ("", 'Bearer error="invalid_token"', "the Authorization header must be `Bearer <token>`"),
    ],
)
async def test_nobody_is_asked_for_a_token(client: httpx.AsyncClient, token: str | None, asked: str, message: str) -> None:
    response = await post(client, token)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, asked)
    assert (error(response)["code"], error(response)["message"]) == ("UNAUTHENTICATED", message)


async def test_a_session_cookie_is_no_credential_here(client: httpx.AsyncClient, session: str) -> None:
    response = await client.post("/mcp", json=calling(), headers={**ACCEPT, "Cookie": f"muniment_session={session}"})
    assert response.status_code == 401


async def test_a_revoked_token_ends_at_once(app: App, db: Database, tokens: Tokens) -> None:
    async with speaking(app, tokens.ada) as ada:
        assert await ask(ada, "script_list") == {"scripts": []}
        await secrets.revoke(db, tokens.ada)
        before = await state(db)
        with pytest.raises(MCPError, match="this token is unknown or has been revoked"):
            await ada.call_tool("memory_write", {"content": "x"})
        assert await state(db) == before


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")])
async def test_clients_of_either_generation(app: App, tokens: Tokens, mode: str, version: str) -> None:
    async with speaking(app, tokens.ada, mode=mode) as ada:
        assert ada.protocol_version == version
        assert len((await ada.list_tools()).tools) == 14
        assert (await ask(ada, "memory_write", content="x"))["memory"]["version"] == 1


async def test_any_process_takes_the_next_request(app: App, settings: Settings, dsn: str, tokens: Tokens) -> None:
    other = App(settings, dsn)
    async with (
        LifespanManager(other, startup_timeout=60, shutdown_timeout=60),
        speaking(app, tokens.ada) as one,
        speaking(other, tokens.ada) as two,
    ):
        await ask(one, "script_write", name="a.py", content="")
        assert [script["name"] for script in (await ask(two, "script_list"))["scripts"]] == ["a.py"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_is_no_stream_and_no_session_to_end(client: httpx.AsyncClient, tokens: Tokens, method: str) -> None:
    response = await client.request(method, "/mcp", headers={**ACCEPT, **bearer(tokens.ada)})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert error(response)["message"] == "send requests by POST; there are no sessions and no stream to open"


async def test_what_is_no_request_is_refused(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    before = await state(db)
    plain = await client.post("/mcp", content=json.dumps(calling()), headers={**ACCEPT, **bearer(tokens.ada), "Content-Type": "text/plain"})
    assert (plain.status_code, error(plain)["message"]) == (415, "send the body as JSON with `Content-Type: application/json`")
    broken = await client.post("/mcp", content=b"{", headers={**ACCEPT, **bearer(tokens.ada), "Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)
    large = await post(client, tokens.ada, calling("memory_write", content="x" * 2_100_000))
    assert (large.status_code, error(large)["message"]) == (413, "the body is larger than 2,097,152 bytes, which this server takes at most")
    assert await state(db) == before


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8000", 200),
        ("http://127.0.0.1:9000", 403),
        ("http://evil.example:8000", 400),
        ("https://pages.example", 200),
        ("https://muniment.example", 200),
        ("http://muniment.example", 403),
        ("null", 403),
    ],
)
async def test_only_known_pages_may_call(tmp_path: Path, dsn: str, tokens: Tokens, origin: str, status: int) -> None:
    settings = Settings(
        home=tmp_path, broadcast_url="memory://", public_url="https://muniment.example/", allowed_origins=("https://pages.example",)
    )
    app = App(settings, dsn)
    # A page's own name may be made to resolve to this server: then Host and Origin agree, but the host is not ours.
    host = "evil.example:8000" if "evil" in origin else "127.0.0.1:8000"
    async with started(app, f"http://{host}") as client:
        response = await post(client, tokens.ada, Origin=origin)
    assert response.status_code == status
    if status == 403:
        assert error(response)["message"] == (f"pages of {origin} may not use this server; MUNIMENT_ALLOWED_ORIGINS lists those that may")


async def test_each_caller_has_a_rate_of_its_own(tmp_path: Path, dsn: str, tokens: Tokens) -> None:
    app = App(Settings(home=tmp_path, broadcast_url="memory://", rate_limit=0.001, rate_burst=2, allowed_hosts=("muniment.test",)), dsn)
    async with started(app) as client:
        assert [(await post(client, tokens.ada)).status_code for _ in range(2)] == [200, 200]
        limited = await post(client, tokens.ada)
        assert (limited.status_code, error(limited)["code"]) == (429, "RATE_LIMITED")
        assert 900 <= int(limited.headers["retry-after"]) <= 1000
        assert (await post(client, tokens.bob)).status_code == 200


async def test_each_call_is_counted_by_its_tool(client: httpx.AsyncClient, tokens: Tokens) -> None:
    await post(client, tokens.ada)
    await post(client, tokens.operator)
    await post(client, tokens.ada, calling("made_up_by_a_client"))
    await post(client, None)
    lines = (await client.get("/metrics")).text.splitlines()
    counted = [line for line in lines if line.startswith("muniment_operations_total") and 'door="mcp"' in line]
    assert sorted(counted) == [
        'muniment_operations_total{code="NOT_FOUND",door="mcp",operation=""} 1.0',
        'muniment_operations_total{code="OK",door="mcp",operation="script_list"} 1.0',
        'muniment_operations_total{code="UNAUTHENTICATED",door="mcp",operation=""} 1.0',
        'muniment_operations_total{code="UNPROCESSABLE",door="mcp",operation="script_list"} 1.0',
    ]
