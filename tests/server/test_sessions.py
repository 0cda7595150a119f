"""Signing a browser in and out, and the page that it then opens."""

from http.cookies import SimpleCookie

import httpx
import pytest
from asgi_lifespan import LifespanManager

from server.app import App
from server.settings import Settings
from store import tokens as secrets
from store.database import Database
from tests.server.conftest import Tokens

NO_TRACE = {"cache-control": "no-store", "referrer-policy": "no-referrer"}


async def test_signing_in_makes_the_token_a_cookie_that_no_script_and_no_other_site_can_use(
    client: httpx.AsyncClient, tokens: Tokens
) -> None:
    answer = await client.get("/sign-in", params={"token": tokens.operator})
    assert (answer.status_code, tokens.operator in answer.text) == (200, False)
    assert NO_TRACE.items() <= dict(answer.headers).items()
    cookie = answer.headers["set-cookie"]
    assert cookie == f"muniment_session={tokens.operator}; HttpOnly; Max-Age=31536000; Path=/; SameSite=strict"
    page = await client.get("/graphql", headers={"Accept": "text/html", "Cookie": f"muniment_session={tokens.operator}"})
    assert '"viewer": {"name": "Olga", "kind": "USER"}' in page.text


@pytest.mark.parametrize(
    ("setting", "secure"),
    [({}, False), ({"production": True}, True), ({"public_url": "https://x"}, True), ({"public_url": "http://x"}, False)],
)
async def test_a_cookie_is_for_https_alone_where_the_server_is(
    settings: Settings, dsn: str, tokens: Tokens, setting: dict[str, object], secure: bool
) -> None:
    app = App(settings.model_copy(update=setting), dsn)
    transport = httpx.ASGITransport(app=app)
    async with LifespanManager(app), httpx.AsyncClient(transport=transport, base_url="http://muniment.test") as client:
        for answer in (await client.get("/sign-in", params={"token": tokens.operator}), await client.post("/sign-out")):
            morsel = SimpleCookie(answer.headers["set-cookie"])["muniment_session"]
            assert (bool(morsel["secure"]), morsel["httponly"], morsel["samesite"], morsel["path"]) == (secure, True, "strict", "/")
    async with httpx.AsyncClient(transport=transport, base_url="https://muniment.test") as client, LifespanManager(app):
        assert "Secure" in (await client.get("/sign-in", params={"token": tokens.operator})).headers["set-cookie"]


@pytest.mark.parametrize("token", ["", "mun_x", "<script>alert(1)</script>", "mun_\x00", "ä"])
async def test_a_bad_token_signs_nobody_in(client: httpx.AsyncClient, token: str) -> None:
    answer = await client.get("/sign-in", params={"token": token})
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert "<h1>Not signed in</h1>" in answer.text
    assert "<script>" not in answer.text


async def test_signing_in_without_a_token_or_with_a_revoked_one(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    assert (await client.get("/sign-in")).status_code == 401
    await secrets.revoke(db, tokens.operator)
    answer = await client.get("/sign-in", params={"token": tokens.operator})
    assert (answer.status_code, "this token is unknown or has been revoked" in answer.text) == (401, True)


async def test_signing_in_while_the_database_is_away_says_so(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    async with db.write() as tx:
        await tx.execute("ALTER TABLE tokens RENAME TO elsewhere")
    answer = await client.get("/sign-in", params={"token": tokens.operator})
    assert (answer.status_code, "internal error" in answer.text, "elsewhere" in answer.text) == (500, True, False)


async def test_signing_out_forgets_the_cookie_and_keeps_the_token(client: httpx.AsyncClient, tokens: Tokens) -> None:
    answer = await client.post("/sign-out", headers={"Origin": "http://muniment.test"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert SimpleCookie(answer.headers["set-cookie"])["muniment_session"]["max-age"] == "0"
    assert (await client.get("/sign-in", params={"token": tokens.operator})).status_code == 200
    assert (await client.get("/sign-out")).status_code == 405


async def test_the_page_of_another_site_cannot_sign_out(client: httpx.AsyncClient) -> None:
    answer = await client.post("/sign-out", headers={"Origin": "https://evil.example"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


async def test_the_page_needs_no_other_host_and_runs_no_inline_script(client: httpx.AsyncClient) -> None:
    page = await client.get("/graphql", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; ")
    assert "script-src" not in policy
    assert (page.headers["x-content-type-options"], page.headers["cache-control"]) == ("nosniff", "no-store")
    assert '"viewer": null' in page.text
    for file in ("/static/graphiql.js", "/static/graphiql.css", "/static/page.css"):
        assert file in page.text
        assert (await client.get(file)).status_code == 200


async def test_a_session_that_has_ended_is_nobody_on_the_page(client: httpx.AsyncClient) -> None:
    page = await client.get("/graphql", headers={"Accept": "text/html", "Cookie": "muniment_session=mun_gone"})
    assert (page.status_code, '"viewer": null' in page.text) == (200, True)


async def test_the_root_leads_to_the_page(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/graphql")
