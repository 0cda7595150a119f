"""GraphQL over WebSocket: who is calling, what ends a socket, and with which code."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from server.app import App
from server.settings import Settings
from store import tokens as secrets
from store.database import Database
from store.feed.retention import prune
from tests.server.conftest import Tokens
from tests.server.live import FOLLOW, WRITE, line, serving, subscribers
from tests.world import World, add_run

VIEWER = "{ viewer { kind id } }"
SUBSCRIBE = {"type": "subscribe", "id": "1", "payload": {"query": VIEWER}}
INIT = {"type": "connection_init"}


@pytest.fixture
async def address(settings: Settings, dsn: str, tokens: Tokens) -> AsyncIterator[str]:  # noqa: ARG001  # who calls must be there first
    async with serving(App(settings, dsn)) as found:
        yield found


def viewer(kind: str, who: str) -> Any:
    return {"data": {"viewer": {"kind": kind, "id": who}}}


async def test_a_socket_is_its_tokens_caller_however_the_token_arrives(address: str, tokens: Tokens, session: str, world: World) -> None:
    ada, bearer = viewer("AGENT", world.ada.id), f"Bearer {tokens.ada}"
    for payload in ({"token": tokens.ada}, {"Authorization": bearer}, {"authorization": bearer}):
        async with line(address, payload) as socket:
            assert await socket.ask(VIEWER) == ada
    async with line(address, headers={"Authorization": bearer}) as socket:
        assert await socket.ask(VIEWER) == ada
    async with line(address, headers={"Cookie": f"muniment_session={session}", "Origin": f"http://{address}"}) as socket:
        assert await socket.ask(VIEWER) == viewer("USER", world.operator.id)
    # What the first message says wins over what the handshake carried, also where that was bad.
    for headers in ({"Cookie": f"muniment_session={session}"}, {"Authorization": "Bearer mun_bad"}):
        async with line(address, {"token": tokens.ada}, headers=headers) as socket:
            assert await socket.ask(VIEWER) == ada


async def test_nobody_is_told_so_by_each_operation(address: str) -> None:
    async with line(address) as socket:
        answer = await socket.ask(VIEWER)
        assert (answer["data"], answer["errors"][0]["extensions"]["code"]) == (None, "UNAUTHENTICATED")
        await socket.subscribe(FOLLOW)
        refused = await socket.receive()
        assert (refused["type"], refused["payload"][0]["extensions"]["code"]) == ("error", "UNAUTHENTICATED")


async def test_the_first_message_names_the_run_and_the_tool_call(address: str, db: Database, tokens: Tokens, world: World) -> None:
    run = await add_run(db, world.ada)
    call = {"X-Run-Id": run, "X-Tool-Call-Id": "call-7", "X-Tool-Name": "note_write"}
    written = {"run": {"id": run}, "toolCallId": "call-7", "toolName": "note_write"}
    write = WRITE.replace("level: ORG", "level: AGENT")
    for payload, headers in (({"token": tokens.ada, **call}, {}), (call, {"Authorization": f"Bearer {tokens.ada}"})):
        async with line(address, payload, headers=headers) as socket:
            change = (await socket.ask(write, key="a.md"))["data"]["noteWrite"]["latestChange"]
            assert {name: change[name] for name in written} == written


async def test_a_run_that_ends_while_its_socket_is_open_takes_no_more_writes(
    address: str, db: Database, tokens: Tokens, world: World
) -> None:
    run = await add_run(db, world.ada)
    async with line(address, {"token": tokens.ada, "X-Run-Id": run}) as socket:
        assert await socket.ask(VIEWER) == viewer("AGENT", world.ada.id)
        async with db.write() as tx:
            await tx.execute("UPDATE runs SET finished_at = started_at, status = 'done' WHERE org_id = $1 AND id = $2", world.org, run)
        await socket.subscribe(WRITE.replace("level: ORG", "level: AGENT"), key="late.md")
        refused = await socket.receive()
        assert refused["payload"][0]["message"] == f"X-Run-Id: run {run} has finished"
    async with db.read() as reader:
        assert await reader.value("SELECT count(*) FROM artifacts") == 0


@pytest.mark.parametrize(
    "payload",
    [
        {"token": "mun_unknown"},
        {"token": ""},
        {"token": 5},
        {"token": {"a": 1}},
        {"Authorization": "Basic abc"},
        {"Authorization": "Bearer "},
        {"token": "mun_\ud800"},
    ],
)
async def test_a_bad_token_closes_with_4403(address: str, payload: Any) -> None:
    async with line(address, init=False) as socket:
        await socket.send({"type": "connection_init", "payload": payload})
        assert await socket.closed() == (4403, "Forbidden")


async def test_a_bad_handshake_without_better_in_the_first_message_closes_with_4403(address: str, tokens: Tokens) -> None:
    for headers in ({"Authorization": "Bearer mun_bad"}, {"Cookie": "muniment_session=mun_bad"}):
        async with line(address, init=False, headers=headers) as socket:
            await socket.send(INIT)
            assert await socket.closed() == (4403, "Forbidden")
    async with line(address, init=False) as socket:
        await socket.send({"type": "connection_init", "payload": {"token": tokens.ada, "X-Run-Id": "none"}})
        assert await socket.closed() == (4403, "Forbidden")


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([SUBSCRIBE], 4401, "Unauthorized"),
        ([INIT, INIT], 4429, "Too many initialisation requests"),
        ([{"type": "connection_init", "payload": [1]}], 4400, "Invalid connection init payload"),
        ([INIT, {"type": "nonsense"}], 4400, "Unknown message type: nonsense"),
        ([INIT, {"type": "x" * 500}], 4400, "Unknown message type: " + "x" * 98),
        ([INIT, "{"], 4400, "WebSocket message must be valid JSON"),
        ([INIT, "[" * 100_000], 4400, "WebSocket message must be valid JSON"),
        ([INIT, b"\x00"], 4400, "WebSocket message type must be text"),
        *[
            ([INIT, message], 4400, "Failed to parse message")
            for message in (
                "[]",
                "null",
                "1",
                '"connection_init"',
                {},
                {"type": 1},
                {"type": ["subscribe"]},
                {"type": "subscribe"},
                {"type": "subscribe", "payload": {"query": VIEWER}},
                {"type": "subscribe", "id": "", "payload": {"query": VIEWER}},
                {"type": "subscribe", "id": {}, "payload": {"query": VIEWER}},
                {"type": "subscribe", "id": "1", "payload": "x"},
                {"type": "subscribe", "id": "1", "payload": {}},
                {"type": "subscribe", "id": "1", "payload": {"query": 1}},
                {"type": "subscribe", "id": "1", "payload": {"query": VIEWER, "variables": [1]}},
                {"type": "subscribe", "id": "1", "payload": {"query": VIEWER, "operationName": 1}},
                {"type": "complete"},
                {"type": "complete", "id": []},
            )
        ],
    ],
)
async def test_what_the_protocol_does_not_allow_closes_that_socket_alone(
    capsys: pytest.CaptureFixture[str], address: str, tokens: Tokens, world: World, messages: list[Any], code: int, reason: str
) -> None:
    async with line(address, {"token": tokens.ada}) as other:
        async with line(address, init=False) as socket:
            for message in messages:
                await socket.send(message)
            assert await socket.closed() == (code, reason)
        assert await other.ask(VIEWER) == viewer("AGENT", world.ada.id)
    assert "Traceback" not in capsys.readouterr().err


async def test_an_id_that_is_in_use_closes_with_4409_and_a_finished_one_is_free(address: str, tokens: Tokens, world: World) -> None:
    async with line(address, {"token": tokens.ada}) as socket:
        await socket.subscribe(FOLLOW, "1")
        await subscribers(address, 1)
        await socket.send({"type": "complete", "id": "1"})
        await subscribers(address, 0)
        assert await socket.ask(VIEWER, "1") == viewer("AGENT", world.ada.id)
        await socket.subscribe(FOLLOW, "ä" * 200)
        await socket.subscribe(FOLLOW, "ä" * 200)
        code, reason = await socket.closed()
        assert (code, reason[:14]) == (4409, "Subscriber for")
    await subscribers(address, 0)


async def test_a_revoked_token_ends_the_subscription_and_the_socket(address: str, db: Database, tokens: Tokens, world: World) -> None:
    secret = await secrets.create_for_agent(db, world.ada.id)
    async with line(address, {"token": secret}) as socket:
        await socket.subscribe(FOLLOW)
        await subscribers(address, 1)
        await secrets.revoke(db, secret)
        ended = await socket.receive()
        assert (ended["payload"]["data"], ended["payload"]["errors"][0]["extensions"]["code"]) == (None, "UNAUTHENTICATED")
        assert await socket.receive() == {"id": "1", "type": "complete"}
        await socket.subscribe(VIEWER, "2")
        assert await socket.closed() == (4403, "Forbidden")
    assert tokens.ada != secret


async def test_rights_that_change_hold_for_the_next_operation_of_an_open_socket(
    address: str, db: Database, tokens: Tokens, world: World
) -> None:
    ask = "{ organisation { notes { key } } }"
    async with line(address, {"token": tokens.operator}) as operator, line(address, {"token": tokens.ada}) as socket:
        await operator.ask(WRITE, key="a.md")
        assert await socket.ask(ask) == {"data": {"organisation": {"notes": [{"key": "a.md"}]}}}
        async with db.write() as tx:
            await tx.execute("UPDATE agents SET read_org = false WHERE org_id = $1 AND id = $2", world.org, world.ada.id)
        assert await socket.ask(ask) == {"data": {"organisation": {"notes": []}}}


async def test_the_page_of_another_site_opens_no_socket(address: str, session: str) -> None:
    cookie = f"muniment_session={session}"
    for origin in ("https://evil.example", "null", f"http://{address}.evil.example"):
        with pytest.raises(InvalidStatus) as refused:
            async with line(address, headers={"Cookie": cookie, "Origin": origin}):
                pass
        assert refused.value.response.status_code == 403


async def test_allowed_origins_and_the_public_address_open_sockets(settings: Settings, dsn: str, session: str, world: World) -> None:
    chosen = settings.model_copy(update={"allowed_origins": ("https://ops.example",), "public_url": "https://muniment.example/app"})
    async with serving(App(chosen, dsn)) as address:
        for origin in ("https://ops.example", "https://muniment.example"):
            cookie = f"__Host-muniment_session={session}"  # the public address is https
            async with line(address, headers={"Cookie": cookie, "Origin": origin}) as socket:
                assert await socket.ask(VIEWER) == viewer("USER", world.operator.id)
        with pytest.raises(InvalidStatus):
            async with line(address, headers={"Origin": "https://else.example"}):
                pass


async def test_two_hundred_subscribers_hear_a_write_and_leave_no_trace(address: str, tokens: Tokens) -> None:
    async with line(address, {"token": tokens.operator}) as writer:
        followers = [line(address, {"token": token}) for token in [tokens.operator, tokens.ada, tokens.bob, tokens.cyd] * 50]
        sockets = [await follower.__aenter__() for follower in followers]
        await asyncio.gather(*(socket.subscribe(FOLLOW) for socket in sockets))
        await subscribers(address, 200)
        written = (await writer.ask(WRITE, key="all.md"))["data"]["noteWrite"]
        event = {"cursor": written["latestChange"]["cursor"], "displayPath": written["displayPath"], "operation": "CREATE"}
        expected = {"id": "1", "type": "next", "payload": {"data": {"fileChanges": event}}}
        assert await asyncio.gather(*(socket.receive() for socket in sockets)) == [expected] * 200
        await asyncio.gather(*(follower.__aexit__(None, None, None) for follower in followers))
        await subscribers(address, 0)


async def test_the_bound_on_open_subscriptions_refuses_one_more(settings: Settings, dsn: str, tokens: Tokens) -> None:
    app = App(settings.model_copy(update={"max_sockets": 2, "caller_share": 1, "organisation_share": 1}), dsn)
    async with serving(app) as address, line(address, {"token": tokens.operator}) as socket:
        for number in ("1", "2"):
            await socket.subscribe(FOLLOW, number)
        await subscribers(address, 2)
        await socket.subscribe(FOLLOW, "3")
        refused = await socket.receive()
        assert (refused["id"], refused["type"]) == ("3", "error")
        error = refused["payload"][0]
        assert error["message"] == "this server has 2 subscriptions open, which is its limit; try again later"
        assert error["extensions"]["code"] == "UNAVAILABLE"


async def test_the_rate_of_a_caller_counts_operations_of_its_socket(settings: Settings, dsn: str, tokens: Tokens, world: World) -> None:
    chosen = settings.model_copy(update={"rate_limit": 0.001, "rate_burst": 3})
    async with serving(App(chosen, dsn)) as address, line(address, {"token": tokens.ada}) as socket:
        for _ in range(2):
            assert await socket.ask(VIEWER) == viewer("AGENT", world.ada.id)
        await socket.subscribe(VIEWER)
        refused = await socket.receive()
        assert (refused["type"], refused["payload"][0]["extensions"]["code"]) == ("error", "RATE_LIMITED")


async def test_what_is_wrong_with_a_subscription_is_its_error(address: str, db: Database, tokens: Tokens) -> None:
    async with line(address, {"token": tokens.operator}) as socket:
        first = (await socket.ask(WRITE, key="a.md"))["data"]["noteWrite"]["latestChange"]["cursor"]
        await socket.ask(WRITE, key="a.md")
        await socket.ask(WRITE, key="a.md")
        assert await prune(db, older_than=timedelta(0)) == 2
        for after, reason in ((first, "CURSOR_EXPIRED"), ("nonsense", None)):
            await socket.subscribe(FOLLOW, "1", after=after)
            refused = await socket.receive()
            assert (refused["id"], refused["type"]) == ("1", "error")
            extensions = refused["payload"][0]["extensions"]
            assert (extensions["code"], extensions.get("reason")) == ("UNPROCESSABLE", reason)


async def test_a_subscription_resumes_where_it_was(address: str, tokens: Tokens) -> None:
    async with line(address, {"token": tokens.operator}) as socket:
        written = [(await socket.ask(WRITE, key=f"{n}.md"))["data"]["noteWrite"] for n in range(3)]
        await socket.subscribe(FOLLOW, after=written[0]["latestChange"]["cursor"])
        events = [(await socket.receive())["payload"]["data"]["fileChanges"]["displayPath"] for _ in range(2)]
        assert events == [note["displayPath"] for note in written[1:]]


async def test_a_message_over_the_bound_ends_the_socket(address: str, tokens: Tokens) -> None:
    async with line(address, {"token": tokens.operator}) as socket:
        with pytest.raises(ConnectionClosed):  # noqa: PT012  # the server may close before all of it is sent
            await socket.send({"type": "ping", "payload": {"x": "x" * 3_000_000}})
            await socket.receive()
        assert socket.socket.close_code == 1009
