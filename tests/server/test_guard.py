"""What every request passes: the host it names, the origin it comes from, and what its answer tells browsers."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager
from websockets.exceptions import InvalidStatus

from server import logs
from server.app import App
from server.settings import Settings
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import line, serving
from tests.store.tables import everything

ROUTES = ["/", "/graphql", "/mcp", "/api/collections", "/api/docs", "/sign-in", "/sign-out", "/healthz", "/readyz", "/metrics"]
ROUTES += ["/static/page.css", "/static/graphiql.js", "/nothing"]


@asynccontextmanager
async def served(settings: Settings, dsn: str, **chosen: object) -> AsyncIterator[httpx.AsyncClient]:
    app = App(settings.model_copy(update=chosen), dsn)
    async with LifespanManager(app), httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        yield client


def told(path: str, answer: httpx.Response) -> dict[str, Any]:
    """The refusal within the shape of its door."""
    body = answer.json()
    if path == "/graphql":
        body = body["errors"][0]["extensions"]
    elif path == "/mcp":
        body = body["error"]["data"]
    assert (answer.status_code, body["code"], body["status"]) == (400, "UNPROCESSABLE", 400)
    found: dict[str, Any] = body
    return found


async def test_a_host_that_is_not_ours_gets_nothing_at_any_route(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    before = await everything(db)
    for path in ROUTES:
        for method in ("GET", "POST"):
            headers = {**bearer(tokens.operator), "Host": "evil.example:8000"}
            answer = await client.request(method, path, headers=headers, content=b"{}")
            expected = "this server is not evil.example:8000; MUNIMENT_PUBLIC_URL or MUNIMENT_ALLOWED_HOSTS names its hosts"
            assert told(path, answer)["message"] == expected
    assert await everything(db) == before


async def test_the_hosts_that_are_ours(settings: Settings, dsn: str) -> None:
    known = {"public_url": "https://Public.example/app", "host": "inner.example", "allowed_hosts": ("named.example", "*.below.example")}
    async with served(settings, dsn, **known) as client:
        ours = [
            "localhost",
            "localhost:8000",
            "127.0.0.1:1",
            "[::1]:8000",
            "10.1.2.3:8000",
            "[fe80::1]",
            "PUBLIC.example",
            "inner.example:5",
        ]
        for host in [*ours, "named.example", "a.below.example", "a.b.below.example:80"]:
            assert (await client.get("/healthz", headers={"Host": host})).status_code == 200, host
        for host in [
            "",
            "below.example",
            "x.named.example",
            "evilbelow.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "[",
            "a:b",
        ]:
            assert (await client.get("/healthz", headers={"Host": host})).status_code == 400, host
    async with served(settings, dsn, allowed_hosts=("*",)) as client:
        assert (await client.get("/healthz", headers={"Host": "anything.example"})).status_code == 200


@pytest.mark.parametrize("origin", ["http://[", "http://x:port", "nonsense", "", "http://[::1", "//host", "http:"])
async def test_a_malformed_origin_is_a_400_everywhere(
    capsys: pytest.CaptureFixture[str], client: httpx.AsyncClient, db: Database, session: str, origin: str
) -> None:
    before = await everything(db)
    for path in ROUTES:
        headers = {"Origin": origin, "Cookie": f"muniment_session={session}", "Content-Type": "application/json"}
        answer = await client.post(path, headers=headers, content=b'{"query": "mutation { guildCreate(name: \\"x\\") { id } }"}')
        assert told(path, answer)["message"] == f"the header Origin is malformed: {origin}"
    assert await everything(db) == before
    assert "Traceback" not in capsys.readouterr().err


async def test_a_header_that_is_there_twice_is_a_400(client: httpx.AsyncClient) -> None:
    for name, value in (("Origin", "http://muniment.test"), ("Host", "muniment.test")):
        answer = await client.get("/healthz", headers=[("Host", "muniment.test"), (name, value), (name, value)])
        assert told("/healthz", answer)["message"].endswith(f"{name} headers")


async def test_a_socket_of_another_host_or_a_malformed_origin_is_refused(app: App, tokens: Tokens) -> None:
    async with serving(app) as address:
        for headers in ({"Host": "evil.example"}, {"Origin": "http://["}):
            with pytest.raises(InvalidStatus) as refused:
                async with line(address, {"token": tokens.operator}, headers=headers):
                    pass
            assert refused.value.response.status_code in {400, 403}


async def test_every_answer_tells_browsers_what_they_may_do(client: httpx.AsyncClient, tokens: Tokens) -> None:
    for path in ROUTES:
        for headers in ({}, bearer(tokens.operator), {"Accept": "text/html"}):
            answer = await client.get(path, headers=headers)
            assert answer.headers["x-content-type-options"] == "nosniff", path
            assert answer.headers["referrer-policy"] == "same-origin", path
            policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
            assert policy["frame-ancestors"] == "'none'", path
            assert "unsafe-inline" not in policy.get("script-src", policy["default-src"]), path


ESCAPES = "/%1b]52;c;cm0gLXJm%07%0a2026 forged%7f%c2%9b31m"
PATH = "/\x1b]52;c;cm0gLXJm\x07\n2026 forged\x7f\x9b31m"


def fail(secret: str) -> None:
    """Fail with a secret in the frame."""
    raise ValueError("\x1b]52;c;x\x07 in the message" + secret[:0])


def failure(secret: str) -> Exception:
    try:
        fail(secret)
    except ValueError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("form", ["console", "json"])
async def test_no_control_character_reaches_the_log(capsys: pytest.CaptureFixture[str], settings: Settings, dsn: str, form: str) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the client of this test
    try:
        async with served(settings, dsn, log_format=form) as client:
            for path in (ESCAPES, f"/api{ESCAPES}"):
                await client.get(path)
            logs.internal_error(failure("mun_of_a_local_variable"), "id", "\x1b[31m\nforged")
    finally:
        logs.configure(settings)
    said = capsys.readouterr().err
    assert [letter for letter in said if not letter.isprintable() and letter != "\n"] == []
    lines = [line for line in said.splitlines() if "forged" in line]
    assert (len(lines), "mun_of" in said, "in the message" in said) == (3, False, True)
    if form == "json":
        assert [json.loads(line).get("path") for line in lines] == [PATH, f"/api{PATH}", None]
    else:
        assert all(r"\x1b" in line for line in lines)
