"""GraphQL over HTTP: who is calling, what a request must look like, and what a refusal looks like."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from server.app import App
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import FOLLOW, WRITE
from tests.world import World

VIEWER = "{ viewer { kind id } }"
COOKIE = "muniment_session"


async def post(client: httpx.AsyncClient, token: str | None, query: str = VIEWER, **variables: Any) -> httpx.Response:
    headers = bearer(token) if token else {}
    return await client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)


def refusal(answer: httpx.Response) -> tuple[int, str, int, str]:
    """HTTP status, then code, status and message of the only error; there is no data."""
    body = answer.json()
    assert (set(body), body["data"], len(body["errors"])) == ({"data", "errors"}, None, 1)
    extensions = body["errors"][0]["extensions"]
    assert extensions["message"] == body["errors"][0]["message"]
    return answer.status_code, extensions["code"], extensions["status"], extensions["message"]


async def notes(db: Database) -> int:
    async with db.read() as reader:
        return int(await reader.value("SELECT count(*) FROM artifacts"))


async def test_a_token_says_who_is_calling(client: httpx.AsyncClient, tokens: Tokens, world: World) -> None:
    answer = await post(client, tokens.ada)
    assert (answer.status_code, answer.json()) == (200, {"data": {"viewer": {"kind": "AGENT", "id": world.ada.id}}})
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("application/json", "no-store")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Bearer mun_unknown", "this token is unknown or has been revoked"),
        ("Bearer ey.J.x", "this is not a token: one begins with mun_"),
        ("Bearer ", "the Authorization header must be `Bearer <token>`"),
        ("Basic abc", "the Authorization header must be `Bearer <token>`"),
    ],
)
async def test_a_bad_token_is_401_before_anything_runs(client: httpx.AsyncClient, db: Database, header: str, message: str) -> None:
    answer = await client.post("/graphql", json={"query": WRITE, "variables": {"key": "a.md"}}, headers={"Authorization": header})
    assert refusal(answer) == (401, "UNAUTHENTICATED", 401, message)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert await notes(db) == 0


async def test_nobody_is_401_and_told_how_to_sign_in(client: httpx.AsyncClient) -> None:
    answer = await post(client, None)
    assert refusal(answer) == (401, "UNAUTHENTICATED", 401, "say who you are: send `Authorization: Bearer <token>`, or sign in")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_get_answers_queries_and_refuses_all_else(client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World) -> None:
    async def get(query: str, **more: str) -> httpx.Response:
        return await client.get("/graphql", params={"query": query, **more}, headers=bearer(tokens.operator))

    answer = await get("query Q($id: ID!) { agent(id: $id) { name } }", variables=json.dumps({"id": world.ada.id}), operationName="Q")
    assert answer.json() == {"data": {"agent": {"name": "Ada"}}}
    assert refusal(await get(WRITE, variables='{"key": "a.md"}'))[3] == "mutations must be sent by POST"
    message = "subscriptions need a WebSocket (graphql-transport-ws) or Accept: text/event-stream"
    assert refusal(await get(FOLLOW)) == (200, "UNPROCESSABLE", 422, message)
    assert refusal(await get("{ viewer { id } }", variables="{"))[3].startswith("variables is not JSON: ")
    assert refusal(await get("{ viewer { id } }", variables="[]"))[3] == "variables must be an object or null"
    assert refusal(await get(""))[3] == "query must be the text of a GraphQL document"
    assert await notes(db) == 0


async def test_only_json_is_read_so_that_no_form_can_send_it(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    body = json.dumps({"query": WRITE, "variables": {"key": "a.md"}})
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ):
        for accept in ("*/*", "text/event-stream"):
            headers = {**bearer(tokens.operator), "Content-Type": content_type, "Accept": accept}
            answer = await client.post("/graphql", content=body, headers=headers)
            expected = "send the body as JSON with `Content-Type: application/json`"
            assert refusal(answer) == (415, "UNPROCESSABLE", 415, expected)
    assert await notes(db) == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"{", "the body is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"\xff", "the body is not JSON: it is not UTF-8"),
        (b"[" * 100_000, "the body is not JSON: it nests too deeply"),
        (b"[]", "the body must be an object with query, and if needed variables and operationName"),
        (b'[{"query": "{ viewer { id } }"}]', "the body must be an object with query, and if needed variables and operationName"),
        (b"{}", "query must be the text of a GraphQL document"),
        (b'{"query": 1}', "query must be the text of a GraphQL document"),
        (b'{"query": "{ viewer { id } }", "variables": 1}', "variables must be an object or null"),
        (b'{"query": "{ viewer { id } }", "operationName": 1}', "operationName must be a text or null"),
        (b'{"query": "{ viewer { id } }", "operationName": "X"}', 'unknown operation "X"; the document has "None"'),
        (b'{"query": "{ viewer { id }"}', "Syntax Error: Expected Name, found <EOF>."),
        (b'{"query": "\\ud800"}', "Syntax Error: Invalid character: U+D800."),
    ],
)
async def test_a_malformed_request_is_told_why(client: httpx.AsyncClient, tokens: Tokens, body: bytes, message: str) -> None:
    headers = {**bearer(tokens.operator), "Content-Type": "application/json"}
    assert refusal(await client.post("/graphql", content=body, headers=headers)) == (200, "UNPROCESSABLE", 422, message)


async def test_other_methods_are_not_allowed(client: httpx.AsyncClient, tokens: Tokens) -> None:
    for method in ("PUT", "DELETE", "PATCH"):
        assert (await client.request(method, "/graphql", headers=bearer(tokens.operator))).status_code == 405


async def test_a_cookie_is_a_session_for_our_own_pages_only(client: httpx.AsyncClient, db: Database, tokens: Tokens, session: str) -> None:
    body = {"query": WRITE, "variables": {"key": "a.md"}}

    async def send(origin: str, **headers: str) -> httpx.Response:
        cookie = {"Cookie": f"{COOKIE}={session}", "Origin": origin, **headers}
        return await client.post("/graphql", json=body, headers=cookie)

    for origin in ("https://evil.example", "null", "http://muniment.test.evil.example", "http://muniment.test:81"):
        message = f"pages of {origin} may not use this server's sessions"
        assert refusal(await send(origin, Accept="*/*")) == (200, "FORBIDDEN", 403, message)
        assert refusal(await send(origin, Accept="text/event-stream")) == (200, "FORBIDDEN", 403, message)
    assert await notes(db) == 0
    assert (await send("http://muniment.test")).json()["data"]["noteWrite"]["version"] == 1
    # A token in the header wins: no other site can make a browser send one.
    answer = await send("https://evil.example", **bearer(tokens.operator))
    assert answer.json()["data"]["noteWrite"]["version"] == 2


async def test_an_odd_cookie_is_nobody(client: httpx.AsyncClient) -> None:
    for cookie in (f"{COOKIE}=", f"{COOKIE}", "=;=", f'{COOKIE}="', f"x={COOKIE}"):
        assert refusal(await client.post("/graphql", json={"query": VIEWER}, headers={"Cookie": cookie}))[0] == 401


async def test_the_run_and_tool_call_of_the_headers_stand_in_the_trail(client: httpx.AsyncClient, tokens: Tokens) -> None:
    headers = bearer(tokens.ada) | {"X-Run-Id": "not-a-run", "X-Tool-Name": "x" * 201}
    answer = await client.post("/graphql", json={"query": VIEWER}, headers=headers)
    problems = answer.json()["errors"][0]["extensions"]["problems"]
    assert problems == [
        {"column": "X-Run-Id", "message": "'not-a-run' is no run of this agent"},
        {"column": "X-Tool-Name", "message": "has 201 characters; at most 200 are allowed"},
    ]


async def test_what_is_not_ours_is_masked_with_an_id_that_the_log_has(
    capsys: pytest.CaptureFixture[str], client: httpx.AsyncClient, db: Database, tokens: Tokens
) -> None:
    async with db.write() as tx:
        await tx.execute("ALTER TABLE guilds RENAME TO elsewhere")
    answer = await post(client, tokens.operator, "query Broken { viewer { id } organisation { guilds { name } } }")
    status, code, _, message = refusal(answer)
    error_id = answer.json()["errors"][0]["extensions"]["id"]
    assert (status, code, message) == (200, "INTERNAL", f"internal error {error_id}; the server's log has it under this id")
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines() if error_id in line]
    assert [(entry["event"], entry["operation"]) for entry in logged] == [("internal error", "Broken")]
    assert 'relation "guilds" does not exist' in logged[0]["exception"]
    assert "guilds" not in answer.text.replace('"path":["organisation","guilds"]', "")


# ---------------------------------------------------------------------- server-sent events


async def events(app: App, token: str, body: dict[str, Any], count: int) -> list[str]:
    """The first frames of a stream, after which its reader leaves."""
    content, inbox, received = json.dumps(body).encode(), asyncio.Queue[Any](), bytearray()
    await inbox.put({"type": "http.request", "body": content, "more_body": False})

    async def send(message: Any) -> None:
        received.extend(message.get("body", b""))
        if received.count(b"\r\n\r\n") >= count:
            await inbox.put({"type": "http.disconnect"})

    headers = [(b"content-type", b"application/json"), (b"accept", b"text/event-stream"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
    async with asyncio.timeout(20):
        await app(scope, inbox.get, send)
    return received.decode().split("\r\n\r\n")[:count]


async def test_a_subscription_over_server_sent_events(app: App, client: httpx.AsyncClient, tokens: Tokens) -> None:
    first = (await post(client, tokens.operator, WRITE, key="a.md")).json()["data"]["noteWrite"]
    second = (await post(client, tokens.operator, WRITE, key="b.md")).json()["data"]["noteWrite"]
    variables = {"after": first["latestChange"]["cursor"]}
    (frame,) = await events(app, tokens.operator, {"query": FOLLOW, "variables": variables}, 1)
    change = {"cursor": second["latestChange"]["cursor"], "displayPath": second["displayPath"], "operation": "CREATE"}
    assert frame == f"event: next\r\ndata: {json.dumps({'data': {'fileChanges': change}}, separators=(',', ':'))}"
    assert "muniment_feed_subscribers 0.0\n" in (await client.get("/metrics")).text


async def test_a_stream_refuses_as_the_other_doors_do(client: httpx.AsyncClient, tokens: Tokens) -> None:
    stream = {"Accept": "text/event-stream"}
    answer = await client.post("/graphql", json={"query": VIEWER, "variables": [1]}, headers=bearer(tokens.operator) | stream)
    assert refusal(answer)[3] == "variables must be an object or null"
    assert refusal(await client.post("/graphql", json={"query": FOLLOW}, headers=bearer("mun_x") | stream))[0] == 401
    assert refusal(await client.post("/graphql", json={"query": FOLLOW}, headers=stream))[:2] == (401, "UNAUTHENTICATED")
