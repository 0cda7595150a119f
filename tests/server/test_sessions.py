"""Signing a browser in and out, and the page that it then opens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from server.app import App
from server.settings import Settings
from store import sessions
from store import tokens as secrets
from store.database import Database
from tests.server.conftest import Tokens
from tests.store.tables import everything
from tests.world import World

OWN = {"Origin": "http://muniment.test"}
VIEWER = {"query": "{ viewer { kind id } }"}


@pytest.fixture
async def code(db: Database, world: World) -> str:
    return await sessions.create_code(db, world.org, world.operator.id)


def cookie_of(answer: httpx.Response, name: str = "muniment_session") -> Any:
    return SimpleCookie(answer.headers["set-cookie"])[name]


async def viewer(client: httpx.AsyncClient, secret: str) -> httpx.Response:
    return await client.post("/graphql", json=VIEWER, headers={**OWN, "Cookie": f"muniment_session={secret}"})


async def count(db: Database) -> int:
    async with db.read() as reader:
        return int(await reader.value("SELECT count(*) FROM sessions"))


async def test_a_code_opens_a_session_of_its_own_once(client: httpx.AsyncClient, db: Database, code: str, world: World) -> None:
    answer = await client.post("/sign-in", json={"code": code}, headers=OWN)
    told = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert {**told, "expires_at": ""} == {
        "user": {"id": world.operator.id, "name": "Olga"},
        "organisation": {"id": world.org},
        "expires_at": "",
    }
    cookie = cookie_of(answer)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"], cookie["secure"]) == (True, "strict", "/", "", "")
    assert 30 * 86_400 - 60 < int(cookie["max-age"]) <= 30 * 86_400
    assert code not in answer.text + cookie.value
    client.cookies.clear()
    assert (await viewer(client, cookie.value)).json() == {"data": {"viewer": {"kind": "USER", "id": world.operator.id}}}
    # Neither stands in the database, and neither is a bearer token.
    async with db.read() as reader:
        rows = str(await reader.value("SELECT jsonb_agg(s)::text || (SELECT jsonb_agg(c)::text FROM sign_in_codes c) FROM sessions s"))
    assert cookie.value not in rows
    assert code not in rows
    for secret in (cookie.value, code):
        assert (await client.post("/graphql", json=VIEWER, headers={"Authorization": f"Bearer {secret}"})).status_code == 401
    again = await client.post("/sign-in", json={"code": code}, headers=OWN)
    assert (again.status_code, again.json()["message"]) == (401, "this sign-in code has been used already; each is good once")
    assert ("set-cookie" in again.headers, await count(db)) == (False, 1)


async def test_a_form_signs_in_and_leads_on(client: httpx.AsyncClient, code: str) -> None:
    answer = await client.post("/sign-in", data={"code": f" {code}\n"}, headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert cookie_of(answer)["httponly"]


async def test_a_token_opens_a_session_that_ends_with_it(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    answer = await client.post("/sign-in", json={"token": tokens.operator}, headers=OWN)
    secret = cookie_of(answer).value
    client.cookies.clear()
    assert secret != tokens.operator
    assert (await viewer(client, secret)).status_code == 200
    await secrets.revoke(db, tokens.operator)
    ended = await viewer(client, secret)
    assert (ended.status_code, ended.json()["errors"][0]["message"]) == (401, "this session has ended; sign in again")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"code": "unknown"}, 401, "this sign-in code is unknown"),
        ({"code": "<script>alert(1)</script>"}, 401, "this sign-in code is unknown"),
        ({"code": "\x00"}, 401, "this sign-in code is unknown"),
        ({"token": "mun_unknown"}, 401, "this token is unknown or has been revoked"),
        ({}, 422, "send either code or token"),
        ({"code": "a", "token": "b"}, 422, "send either code or token"),
        ({"code": 1}, 422, "code and token are texts"),
        ([], 422, "send either code or token"),
    ],
)
async def test_what_signs_nobody_in(client: httpx.AsyncClient, db: Database, world: World, body: Any, status: int, message: str) -> None:  # noqa: ARG001  # somebody to be signed in as
    before = await everything(db)
    answer = await client.post("/sign-in", json=body, headers=OWN)
    assert (answer.status_code, answer.json()["message"], "set-cookie" in answer.headers) == (status, message, False)
    if isinstance(body, dict) and all(isinstance(value, str) for value in body.values()):
        page = await client.post("/sign-in", data=body, headers={**OWN, "Content-Type": "application/x-www-form-urlencoded"})
        assert (page.status_code, f"<b>Not signed in:</b> {message}." in page.text, "<script>alert" in page.text) == (status, True, False)
    assert await everything(db) == before


async def test_agents_and_other_bodies_sign_nobody_in(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    agent = await client.post("/sign-in", json={"token": tokens.ada}, headers=OWN)
    assert (agent.status_code, agent.json()["code"]) == (403, "FORBIDDEN")
    assert (await client.post("/sign-in", content="code=x", headers={**OWN, "Content-Type": "text/plain"})).status_code == 415
    assert (await client.post("/sign-in", content=b"x" * 20_000, headers={**OWN, "Content-Type": "application/json"})).status_code == 413
    assert await count(db) == 0


async def test_no_address_signs_anybody_in(client: httpx.AsyncClient, db: Database, tokens: Tokens, code: str) -> None:
    for path in ("/sign-in", "/sign-in/", "/graphql", "/graphql/"):
        for query in ({"token": tokens.operator}, {"code": code}):
            answer = await client.get(path, params=query)
            assert ("set-cookie" in answer.headers, "location" in answer.headers) == (False, False)
            assert tokens.operator not in answer.text + str(answer.headers)
            assert code not in answer.text
    assert await count(db) == 0
    assert (await client.post("/sign-in", params={"token": tokens.operator}, headers=OWN)).status_code == 415


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://muniment.test:81"])
async def test_the_page_of_another_site_signs_nobody_in_or_out(
    client: httpx.AsyncClient, db: Database, code: str, session: str, origin: str
) -> None:
    before = await everything(db)
    for body in ({"json": {"code": code}}, {"data": {"code": code}}):
        answer = await client.post("/sign-in", headers={"Origin": origin}, **body)  # type: ignore[arg-type]
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    answer = await client.post("/sign-out", headers={"Origin": origin, "Cookie": f"muniment_session={session}"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert await everything(db) == before


async def test_signing_in_again_ends_the_session_before(client: httpx.AsyncClient, code: str, session: str) -> None:
    answer = await client.post("/sign-in", json={"code": code}, headers={**OWN, "Cookie": f"muniment_session={session}"})
    secret = cookie_of(answer).value
    client.cookies.clear()
    assert ((await viewer(client, session)).status_code, (await viewer(client, secret)).status_code) == (401, 200)


async def test_signing_out_ends_the_session(client: httpx.AsyncClient, session: str) -> None:
    cookie = {**OWN, "Cookie": f"muniment_session={session}"}
    assert (await client.get("/sign-out", headers=cookie)).status_code == 405
    assert (await viewer(client, session)).status_code == 200
    answer = await client.post("/sign-out", headers=cookie)
    assert (answer.status_code, cookie_of(answer).value, cookie_of(answer)["max-age"]) == (204, "", "0")
    assert (await viewer(client, session)).status_code == 401
    form = await client.post("/sign-out", headers={**OWN, "Content-Type": "application/x-www-form-urlencoded"})
    assert (form.status_code, form.headers["location"]) == (303, "/")


@asynccontextmanager
async def served(settings: Settings, dsn: str, base: str, **chosen: object) -> AsyncIterator[httpx.AsyncClient]:
    app = App(settings.model_copy(update=chosen), dsn)
    async with LifespanManager(app), httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base) as client:
        yield client


@pytest.mark.parametrize(
    ("setting", "base"),
    [({"production": True}, "http://muniment.test"), ({"public_url": "https://x"}, "http://muniment.test"), ({}, "https://muniment.test")],
)
async def test_under_https_the_cookie_is_for_this_host_over_https_alone(
    settings: Settings, dsn: str, code: str, session: str, world: World, setting: dict[str, object], base: str
) -> None:
    async with served(settings, dsn, base, **setting) as client:
        signed_in = await client.post("/sign-in", json={"code": code})
        client.cookies.clear()
        secret = cookie_of(signed_in, "__Host-muniment_session").value
        answer = await client.post("/graphql", json=VIEWER, headers={"Cookie": f"__Host-muniment_session={secret}"})
        assert answer.json()["data"]["viewer"]["id"] == world.operator.id
        # A cookie that another page of the host could have set is none.
        assert (await client.post("/graphql", json=VIEWER, headers={"Cookie": f"muniment_session={session}"})).status_code == 401
        signed_out = await client.post("/sign-out", headers={"Cookie": f"__Host-muniment_session={secret}"})
        for answer in (signed_in, signed_out):
            cookie = cookie_of(answer, "__Host-muniment_session")
            assert (cookie["secure"], cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, True, "strict", "/")


async def test_signing_in_while_the_database_is_away_says_so(client: httpx.AsyncClient, db: Database, code: str) -> None:
    async with db.write() as tx:
        await tx.execute("ALTER TABLE sessions RENAME TO elsewhere")
    answer = await client.post("/sign-in", data={"code": code}, headers=OWN)
    assert (answer.status_code, "internal error" in answer.text, "elsewhere" in answer.text) == (500, True, False)


async def test_the_page_needs_no_other_host_and_runs_no_inline_script(client: httpx.AsyncClient) -> None:
    pages = {"/graphql": ("graphiql.js", "graphiql.css", "page.css"), "/sign-in": ("sign-in.js", "sign-in.css")}
    for path, files in pages.items():
        page = await client.get(path, headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
        assert (policy["script-src"], policy["connect-src"], policy["frame-ancestors"]) == ("'self'", "'self'", "'none'")
        assert (page.headers["x-content-type-options"], page.headers["cache-control"]) == ("nosniff", "no-store")
        assert page.headers["referrer-policy"] == "same-origin"
        for file in files:
            assert f"/static/{file}" in page.text
            assert (await client.get(f"/static/{file}")).status_code == 200


async def test_the_pages_know_who_is_signed_in(client: httpx.AsyncClient, session: str) -> None:
    html = {"Accept": "text/html"}
    for cookie, page, signing_in in ((session, '{"name": "Olga", "kind": "USER"}', True), ("gone", "null", False)):
        client.cookies.set("muniment_session", cookie)
        assert f'"viewer": {page}' in (await client.get("/graphql", headers=html)).text
        assert ("You are signed in as <b>Olga</b>" in (await client.get("/sign-in", headers=html)).text) is signing_in


async def test_the_root_leads_to_the_page(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/graphql")
