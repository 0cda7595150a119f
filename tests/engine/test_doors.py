"""WebSocket, server-sent events and GET of Strawberry's view answer as the short way does."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from strawberry.exceptions import ConnectionRejectionError

from engine import run
from engine.view import EngineView
from tests.engine.sample import Context, build, row
from tests.engine.test_execute import Refusal

PROTOCOL = "graphql-transport-ws"


async def two_then_wait() -> AsyncGenerator[Any, None]:
    yield row(id="1")
    yield row(id="2")
    await asyncio.Event().wait()


async def two() -> AsyncGenerator[Any, None]:
    yield row(id="1")
    yield row(id="2", key=None)


async def lost() -> AsyncGenerator[Any, None]:
    yield row(id="1")
    raise Refusal(401)


class View(EngineView[Any, None]):
    def __init__(self, context: Context, **options: Any) -> None:
        super().__init__(build(), **options)
        self.context = context

    async def get_context(self, request: Any, response: Any) -> Any:  # noqa: ARG002 - Strawberry's signature
        return self.context

    async def on_ws_connect(self, context: Any) -> Any:
        if getattr(context, "connection_params", None) == {"token": "bad"}:
            raise ConnectionRejectionError
        return await super().on_ws_connect(context)


def client(rows: Any = (), **options: Any) -> TestClient:
    context = Context(list(rows))
    for name, value in options.items():
        setattr(context, name, value)
    context.connection_params = None  # type: ignore[attr-defined]
    app = TestClient(View(context))
    app.context = context  # type: ignore[attr-defined]
    return app


def subscribe(socket: Any, query: str, **more: Any) -> None:
    socket.send_json({"type": "connection_init", "payload": {"token": "good"}})
    assert socket.receive_json() == {"type": "connection_ack"}
    socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": query, **more}})


def drain(socket: Any) -> None:
    while True:
        socket.receive_json()


async def test_every_door_gives_the_same_bytes() -> None:
    rows = [row(), row(version="x", id="2")]
    for query in ("{ notes { id at body } }", "{ maybe { version } }", "{ nothing }", "{ a"):
        answer = await run(build().engine, query, context=Context(rows))
        got = client(rows).get("/", params={"query": query})
        posted = client(rows).post("/", json={"query": query})
        assert got.content == posted.content == answer.body
        streamed = client(rows).post("/", json={"query": query}, headers={"accept": "text/event-stream"})
        assert streamed.text == f"event: next\r\ndata: {answer.body.decode()}\r\n\r\nevent: complete\r\ndata: \r\n\r\n"


def test_a_query_over_a_socket_answers_and_completes() -> None:
    with client([row()]).websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, "query ($n: Int) { notes(limit: $n) { id at body } }", variables={"n": 2})
        note = {"id": "1", "at": "2026-11-30T12:00:00Z", "body": {"n": 9007199254740993}}
        assert socket.receive_json() == {"id": "1", "type": "next", "payload": {"data": {"notes": [note]}}}
        assert socket.receive_json() == {"id": "1", "type": "complete"}


@pytest.mark.parametrize("query", ["{ a", "{ nothing }", "{ " + " ".join(f"a{n}: __typename" for n in range(60)) + " }"])
def test_errors_before_execution_carry_a_code_over_a_socket(query: str) -> None:
    with client().websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, query)
        message = socket.receive_json()
        assert message["type"] == "error"
        assert {error["extensions"]["code"] for error in message["payload"]} == {"UNPROCESSABLE"}


def test_a_subscription_delivers_events_and_its_errors() -> None:
    app = client(events=two)
    with app.websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, "subscription { changed { id key updatedBy { name } } }")
        event = {"id": "1", "key": "a.md", "updatedBy": {"name": "Ada"}}
        assert socket.receive_json() == {"id": "1", "type": "next", "payload": {"data": {"changed": event}}}
        second = socket.receive_json()
        assert (second["payload"]["data"], second["payload"]["errors"][0]["extensions"]["code"]) == (None, "INTERNAL")
        assert socket.receive_json() == {"id": "1", "type": "complete"}
    assert app.context.closed == ["closed"]  # type: ignore[attr-defined]


def test_what_the_source_raises_is_shown_and_ends_the_subscription() -> None:
    with client(events=lost).websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, "subscription { changed { id } }")
        assert socket.receive_json()["payload"] == {"data": {"changed": {"id": "1"}}}
        ended = socket.receive_json()
        assert ended["payload"]["data"] is None
        assert ended["payload"]["errors"][0]["extensions"]["status"] == 401
        assert socket.receive_json() == {"id": "1", "type": "complete"}


def test_closing_the_socket_ends_the_generator() -> None:
    app = client(events=two_then_wait)
    with app.websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, "subscription { changed { id } }")
        assert [socket.receive_json()["payload"]["data"]["changed"]["id"] for _ in range(2)] == ["1", "2"]
    assert app.context.closed == ["closed"]  # type: ignore[attr-defined]


def test_completing_a_subscription_ends_the_generator_and_keeps_the_socket() -> None:
    app = client([row()], events=two_then_wait)
    with app.websocket_connect("/", [PROTOCOL]) as socket:
        subscribe(socket, "subscription { changed { id } }")
        socket.receive_json()
        socket.receive_json()
        socket.send_json({"type": "complete", "id": "1"})
        socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": "{ note { id } }"}})
        assert socket.receive_json()["payload"] == {"data": {"note": {"id": "1"}}}
        assert app.context.closed == ["closed"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([{"type": "connection_init", "payload": {"token": "bad"}}], 4403),
        ([{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }"}}], 4401),
        ([{"type": "connection_init"}, {"type": "connection_init"}], 4429),
        ([{"type": "nonsense"}], 4400),
        (
            [{"type": "connection_init"}] + [{"type": "subscribe", "id": "1", "payload": {"query": "subscription { changed { id } }"}}] * 2,
            4409,
        ),
    ],
)
def test_each_breach_of_the_protocol_closes_with_its_code(messages: list[Any], code: int) -> None:
    with client(events=two_then_wait).websocket_connect("/", [PROTOCOL]) as socket:
        for message in messages:
            socket.send_json(message)
        with pytest.raises(WebSocketDisconnect) as closed:
            drain(socket)
    assert closed.value.code == code


def test_the_older_protocol_is_not_spoken() -> None:
    with client().websocket_connect("/", ["graphql-ws"]) as socket, pytest.raises(WebSocketDisconnect) as closed:
        socket.receive_json()
    assert closed.value.code == 4406


def test_a_foreign_page_may_not_open_a_socket() -> None:
    with pytest.raises(WebSocketDisconnect), client().websocket_connect("/", [PROTOCOL], headers={"origin": "https://evil.example"}):
        pass


def test_a_subscription_over_server_sent_events() -> None:
    app = client(events=two)
    answer = app.post("/", json={"query": "subscription { changed { id } }"}, headers={"accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = [frame.split("\r\n") for frame in answer.text.split("\r\n\r\n") if frame]
    assert [frame[0] for frame in frames] == ["event: next", "event: next", "event: complete"]
    assert json.loads(frames[0][1].removeprefix("data: ")) == {"data": {"changed": {"id": "1"}}}
    assert app.context.closed == ["closed"]  # type: ignore[attr-defined]


async def test_a_reader_of_events_who_leaves_ends_the_generator() -> None:
    context = Context([], events=two_then_wait)
    body = b'{"query": "subscription { changed { id } }"}'
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    await inbox.put({"type": "http.request", "body": body, "more_body": False})
    sent: list[bytes] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message.get("body", b""))
        if sum(b"event: next" in part for part in sent) == 2:
            await inbox.put({"type": "http.disconnect"})

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"accept", b"text/event-stream")],
    }
    await View(context)(scope, inbox.get, send)  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert context.closed == ["closed"]


async def test_a_get_changes_nothing_and_its_errors_have_a_code() -> None:
    context = Context([row()])
    transport = httpx.ASGITransport(app=View(context))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as caller:
        answer = await caller.get("/", params={"query": "mutation { touch { id } }"})
    assert answer.json()["errors"][0]["message"] == "a mutation cannot be sent this way"
    assert context.closed == []


async def test_the_status_of_an_unauthenticated_answer_is_401() -> None:
    transport = httpx.ASGITransport(app=View(Context(Refusal(401))))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as caller:
        assert (await caller.get("/", params={"query": "{ fail }"})).status_code == 401
