"""Health, metrics and logs: what whoever operates the server sees, and what nobody must see there."""

import asyncio
import json
import logging
from typing import Any

import asyncpg
import httpx
import pytest
from asgi_lifespan import LifespanManager

from server import migrate
from server.app import App
from server.documents import documents
from server.postgres import EmbeddedPostgres
from server.settings import Settings
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import FOLLOW, WRITE, line, serving
from tests.server.test_graphql_http import post, refusal
from tests.world import World, add_run

SECRET = "the-secret-of-the-note"
FIND = "{ noteFind(query: $q) { notes { snippet } } }"


async def test_a_server_that_serves_is_healthy_and_ready(client: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await client.get(path)).status_code == 200
    checks = {"database": "ok", "migrations": "ok", "bell": "ok"}
    assert (await client.get("/readyz")).json() == {"status": "ok", "checks": checks}


async def test_an_old_schema_is_not_ready(client: httpx.AsyncClient, db: Database) -> None:
    async with db.write() as tx:
        await tx.execute("UPDATE alembic_version SET version_num = '0001'")
    answer = await client.get("/readyz")
    message = "the database is at 0001; run `muniment migrate`"
    assert (answer.status_code, answer.json()["checks"]) == (503, {"database": "ok", "migrations": message, "bell": "ok"})
    assert (await client.get("/healthz")).status_code == 200
    assert migrate.head() != "0001"


async def test_a_database_that_is_gone_is_not_ready_and_503_at_the_door(
    client: httpx.AsyncClient, cluster: EmbeddedPostgres, db: Database, tokens: Tokens
) -> None:
    async with db.read() as reader:
        name = await reader.value("SELECT current_database()")
    admin = await asyncpg.connect(cluster.dsn("postgres"))
    try:
        await admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
        for _ in range(3):  # connections that were idle, and new ones
            assert refusal(await post(client, tokens.operator))[:3] == (503, "UNAVAILABLE", 503)
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "does not answer")
        assert (await client.get("/healthz")).status_code == 200
        await admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert (await post(client, tokens.operator)).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
    finally:
        await admin.close()


async def test_metrics_tell_operations_outcomes_subscribers_and_connections(client: httpx.AsyncClient, tokens: Tokens) -> None:
    await post(client, tokens.operator)
    await post(client, tokens.operator, WRITE, key="a.md")
    await post(client, tokens.operator, WRITE, key="a")
    await post(client, None)
    answer = await client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    for expected in (
        'muniment_operations_total{code="OK",door="graphql",operation="query"} 1.0',
        'muniment_operations_total{code="OK",door="graphql",operation="mutation"} 1.0',
        'muniment_operations_total{code="UNPROCESSABLE",door="graphql",operation="mutation"} 1.0',
        'muniment_operations_total{code="UNAUTHENTICATED",door="graphql",operation=""} 1.0',
        'muniment_operation_seconds_count{door="graphql"} 4.0',
        "muniment_feed_subscribers 0.0",
        "muniment_feed_lag_seconds 0.0",
        'muniment_database_connections{state="size"} 5.0',
        "# TYPE muniment_engine_fallbacks_total counter",
    ):
        assert expected in lines


async def test_metrics_can_be_switched_off(settings: Settings, dsn: str) -> None:
    app = App(settings.model_copy(update={"metrics": False}), dsn)
    async with LifespanManager(app), httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        assert (await client.get("/metrics")).status_code == 404


def entries(text: str, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    return [entry for entry in lines if entry["event"] == event]


async def test_one_line_tells_of_each_request(
    capsys: pytest.CaptureFixture[str], client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    run = await add_run(db, world.ada)
    headers = bearer(tokens.ada) | {"X-Run-Id": run}
    await client.post("/graphql", json={"query": "query Who { viewer { id } }"}, headers=headers)
    await client.get("/healthz")
    (entry,) = entries(capsys.readouterr().err, "request")
    assert {**entry, "milliseconds": 0, "timestamp": ""} == {
        "event": "request",
        "level": "info",
        "timestamp": "",
        "method": "POST",
        "path": "/graphql",
        "status": 200,
        "milliseconds": 0,
        "caller": f"agent:{world.ada.id}",
        "run": run,
        "operation": "Who",
    }


async def test_logs_never_hold_content_or_tokens(
    capsys: pytest.CaptureFixture[str], settings: Settings, dsn: str, db: Database, tokens: Tokens
) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the client of this test
    async with serving(App(settings, dsn)) as address, httpx.AsyncClient(base_url=f"http://{address}") as client:
        await client.post("/sign-in", json={"token": tokens.operator})
        await client.post("/sign-in", data={"token": tokens.operator + "x"})
        await post(client, tokens.operator, WRITE, key="a.md", content=SECRET)
        await post(client, tokens.operator, f"query ($q: String!) {FIND}", q=SECRET)
        asked = FIND.replace("$q", f'"{SECRET}"')
        await client.get("/graphql", params={"query": asked}, headers=bearer(tokens.ada))
        async with line(address, {"token": tokens.operator}) as socket:
            await socket.ask(WRITE, key="b.md", content=SECRET)
            await socket.subscribe(FOLLOW)
            await socket.send('{"type": "the-secret-of-the-note"}')
            await socket.closed()
        async with db.write() as tx:
            await tx.execute("ALTER TABLE file_changes ADD CHECK (version < 2)")
        # An error of the database that quotes the row it fails on.
        assert refusal(await post(client, tokens.operator, WRITE, key="a.md", content=SECRET))[1] == "INTERNAL"
        async with db.write() as tx:
            await tx.execute("ALTER TABLE artifacts ADD CHECK (version < 2)")
        assert refusal(await post(client, tokens.operator, WRITE, key="a.md", content=SECRET))[1] == "INTERNAL"
        # And one that quotes the value.
        async with db.write() as tx:
            await tx.execute("ALTER TABLE artifacts DROP COLUMN search_blob CASCADE, ADD COLUMN search_blob integer")
        assert refusal(await post(client, tokens.operator, WRITE, key="c.md", content=SECRET))[1] == "INTERNAL"
    logged = capsys.readouterr().err
    assert len(entries(logged, "request")) == 9
    assert len(entries(logged, "internal error")) == 3
    assert SECRET not in logged
    for token in (tokens.operator, tokens.ada):
        assert token not in logged
        assert token.removeprefix("mun_")[:12] not in logged


async def test_a_path_of_no_door_is_a_page_in_the_log(capsys: pytest.CaptureFixture[str], app: App) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        sent.append(message)

    for path in ("*", "", "//", "/nothing"):
        scope: dict[str, Any] = {"type": "http", "method": "OPTIONS", "path": path, "query_string": b"", "headers": [], "scheme": "http"}
        await app(scope, receive, send)
    assert {message["status"] for message in sent if message["type"] == "http.response.start"} <= {307, 404, 405}
    assert [entry["path"] for entry in entries(capsys.readouterr().err, "request")] == ["*", "", "//", "/nothing"]


async def test_the_pages_documents_are_parsed_before_the_first_request(app: App) -> None:
    engine = app._inner._app._app._graphql._engine  # type: ignore[union-attr]  # the door within its layers
    assert len(documents()) > 60
    assert all(text in engine.documents for text in documents().values())
