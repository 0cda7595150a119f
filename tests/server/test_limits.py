"""Each limit of the settings refuses what is over it, by name, and lets pass what is at it."""

import asyncio
import json
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest
from asgi_lifespan import LifespanManager

from server.app import App
from server.settings import Settings
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.test_graphql_http import VIEWER, notes, post, refusal
from tests.store.tables import add_table
from tests.world import World

SAVE = 'mutation ($key: String!, $content: String = "text") { noteWrite(level: ORG, key: $key, content: $content) { version } }'

pytestmark = pytest.mark.usefixtures("tokens")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Bounds that a short document passes."""
    bounds = {"max_depth": 3, "max_aliases": 2, "max_tokens": 40, "max_root_fields": 3, "max_nodes": 50, "max_body_bytes": 1_000}
    return settings.model_copy(update=bounds)


@pytest.mark.parametrize(
    ("allowed", "refused", "message"),
    [
        (
            "{ organisation { agents { id } } }",
            "{ organisation { agents { guild { id } } } }",
            "the document is 4 levels deep; the limit is 3",
        ),
        (
            "{ viewer { a: id b: id } }",
            "{ viewer { a: id b: id c: id } }",
            "the document has 3 aliases; the limit is 2",
        ),
        (
            "{ viewer { id " + "name " * 34 + "} }",
            "{ viewer { id " + "name " * 40 + "} }",
            "Syntax Error: Document contains more than 40 tokens. Parsing aborted.",
        ),
        (
            "{ viewer { id } organisation { id } __typename }",
            "{ viewer { id } organisation { id } a: viewer { id } b: organisation { id } }",
            "the document has 4 root fields; the limit is 3",
        ),
        (
            '{ noteFind(query: "a", limit: 49) { notes { key } } }',
            '{ noteFind(query: "a", limit: 50) { notes { key } } }',
            "the operation asks for up to 51 objects; the limit is 50 (limit arguments multiply)",
        ),
    ],
)
async def test_a_document_over_a_bound_is_refused(
    client: httpx.AsyncClient, tokens: Tokens, allowed: str, refused: str, message: str
) -> None:
    assert "errors" not in (await post(client, tokens.operator, allowed)).json()
    assert refusal(await post(client, tokens.operator, refused)) == (200, "UNPROCESSABLE", 422, message)


async def test_limits_in_variables_count_as_well(client: httpx.AsyncClient, tokens: Tokens) -> None:
    query = 'query ($n: Int) { noteFind(query: "a", limit: $n) { notes { key } } }'
    assert "errors" not in (await post(client, tokens.operator, query, n=49)).json()
    assert refusal(await post(client, tokens.operator, query, n=50))[3].startswith("the operation asks for up to 51 objects")


async def test_a_body_over_the_bound_is_413_at_every_way_of_sending_it(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    body = json.dumps({"query": SAVE, "variables": {"key": "a.md", "content": "x" * 1_000}}).encode()

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(body), 100):
            yield body[at : at + 100]

    for accept in ("*/*", "text/event-stream"):
        headers = {**bearer(tokens.operator), "Content-Type": "application/json", "Accept": accept}
        for content in (body, chunks()):
            answer = await client.post("/graphql", content=content, headers=headers)
            expected = "the body is larger than 1,000 bytes, which this server takes at most"
            assert refusal(answer) == (413, "UNPROCESSABLE", 413, expected)
    assert await notes(db) == 0
    fitting = body[:600] + b'"}}' + b" " * 397
    answer = await client.post("/graphql", content=fitting, headers={**bearer(tokens.operator), "Content-Type": "application/json"})
    assert (len(fitting), answer.json()["data"]["noteWrite"]["version"]) == (1_000, 1)


async def test_an_operation_over_its_time_is_cancelled_in_the_database_too(
    settings: Settings, dsn: str, db: Database, tokens: Tokens, world: World
) -> None:
    app = App(settings.model_copy(update={"operation_timeout": 0.3}), dsn)
    watcher = await asyncpg.connect(dsn)
    async with LifespanManager(app), client_of(app) as client:
        async with db.write() as tx:
            await tx.execute("SELECT FROM organisations WHERE org_id = $1 FOR UPDATE", world.org)
            answer = await post(client, tokens.operator, SAVE, key="late.md")
            expected = "the operation took too long and was cancelled; ask for less at once"
            assert refusal(answer) == (503, "UNAVAILABLE", 503, expected)
            waiting = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""
            async with asyncio.timeout(10):
                while await watcher.fetchval(waiting):  # noqa: ASYNC110  # what happens in another process
                    await asyncio.sleep(0.02)
        assert await notes(db) == 0
        # The connections that were cancelled can be used again.
        for number in range(10):
            assert "errors" not in (await post(client, tokens.operator, SAVE, key=f"{number}.md")).json()
    await watcher.close()


async def test_the_rate_of_a_caller_is_429_with_the_time_to_wait(settings: Settings, dsn: str, tokens: Tokens) -> None:
    app = App(settings.model_copy(update={"rate_limit": 0.05, "rate_burst": 2}), dsn)
    async with LifespanManager(app), client_of(app) as client:
        assert [(await post(client, tokens.ada)).status_code for _ in range(3)] == [200, 200, 429]
        answer = await post(client, tokens.ada)
        status, code, inner, message = refusal(answer)
        assert (status, code, inner, message[:30]) == (429, "RATE_LIMITED", 429, "too many requests; try again i")
        assert 1 <= int(answer.headers["retry-after"]) <= 20
        # Another caller has a bucket of its own, and health is nobody's.
        assert (await post(client, tokens.bob)).status_code == 200
        assert (await client.get("/healthz")).status_code == 200


async def test_production_switches_introspection_graphiql_and_suggestions_off(settings: Settings, dsn: str, tokens: Tokens) -> None:
    app = App(settings.model_copy(update={"production": True, "max_tokens": 4_000}), dsn)
    async with LifespanManager(app), client_of(app) as client:
        page = await client.get("/graphql", headers={"Accept": "text/html"})
        assert (page.status_code, "GraphiQL is off" in page.text, "<script" in page.text) == (404, True, False)
        answer = await post(client, tokens.operator, "{ __schema { description } }")
        expected = "GraphQL introspection has been disabled, but the requested query contained the field '__schema'."
        assert refusal(answer) == (200, "UNPROCESSABLE", 422, expected)
        assert refusal(await post(client, tokens.operator, "{ view { id } }"))[3] == "Cannot query field 'view' on type 'Query'."
        assert "errors" not in (await post(client, tokens.operator)).json()


async def test_introspection_answers_outside_production(client: httpx.AsyncClient, tokens: Tokens) -> None:
    answer = await post(client, tokens.operator, "{ __schema { queryType { name } } }")
    assert answer.json() == {"data": {"__schema": {"queryType": {"name": "Query"}}}}


@pytest.mark.parametrize("depth", [50, 400, 900])
async def test_deep_values_are_refused_never_internal(
    settings: Settings, dsn: str, db: Database, world: World, tokens: Tokens, depth: int
) -> None:
    await add_table(db, world.operator)
    app = App(settings.model_copy(update={"max_body_bytes": 100_000, "max_tokens": 4_000}), dsn)
    deep = "[" * depth + "]" * depth
    literal = f'mutation {{ recordAdd(collection: "leads", body: {{email: {deep}, status: "new"}}) {{ merged }} }}'
    query = json.dumps('mutation ($b: JSON!) { recordAdd(collection: "leads", body: $b) { merged } }')
    given = f'{{"query": {query}, "variables": {{"b": {{"email": {deep}, "status": "new"}}}}}}'
    async with LifespanManager(app), client_of(app) as client:
        for content in (json.dumps({"query": literal}), given):
            headers = {**bearer(tokens.operator), "Content-Type": "application/json"}
            answer = await client.post("/graphql", content=content, headers=headers)
            assert refusal(answer)[1] == "UNPROCESSABLE"
    assert await notes(db) == 0


def client_of(app: App) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://muniment.test")


async def test_the_same_question_twice_is_parsed_once(client: httpx.AsyncClient, tokens: Tokens, world: World) -> None:
    expected = {"data": {"viewer": {"kind": "AGENT", "id": world.ada.id}}}
    assert [(await post(client, tokens.ada, VIEWER)).json() for _ in range(2)] == [expected] * 2
