"""Pages of other origins: only those that the settings name may call, and read what comes back."""

from pathlib import Path

import httpx
import pytest

from server.settings import Settings
from tests.server.conftest import Tokens, bearer

ASK = {"query": "{ viewer { name } }"}
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,x-run-id"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    known = {"allowed_hosts": ("muniment.test",), "allowed_origins": ("https://console.example",)}
    return Settings(home=tmp_path, broadcast_url="memory://", database_connections=5, **known)


async def test_a_page_of_an_allowed_origin_may_call(client: httpx.AsyncClient, tokens: Tokens) -> None:
    origin = {"Origin": "https://console.example"}
    asked = await client.options("/graphql", headers={**origin, **PREFLIGHT})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "https://console.example")
    answer = await client.post("/graphql", json=ASK, headers={**origin, **bearer(tokens.operator)})
    assert answer.json() == {"data": {"viewer": {"name": "Olga"}}}
    assert answer.headers["access-control-allow-origin"] == "https://console.example"


async def test_a_page_of_another_origin_may_not(client: httpx.AsyncClient) -> None:
    asked = await client.options("/graphql", headers={"Origin": "https://evil.example", **PREFLIGHT})
    assert asked.status_code == 400
    assert "access-control-allow-origin" not in asked.headers
