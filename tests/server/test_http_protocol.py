"""What a connection may send before a request runs, and how long it may take."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from server import http_protocol
from server.http_protocol import HEAD_BYTES, BoundedProtocol, Joined

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\n"
TOO_LARGE = b'"the address and the headers of a request may have 65,536 bytes together"'
TOO_SLOW = b'"the request did not arrive in time"'


class Echo:
    """Answers with the length of a request's body, and keeps the headers that it saw."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.lost = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.lost += 1
                return
            size, more = size + len(message["body"]), message["more_body"]
        self.headers = list(scope["headers"])
        body = b"a" * 20_000_000 if scope["path"] == "/large" else str(size).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
async def server(echo: Echo) -> AsyncIterator[uvicorn.Server]:
    config = uvicorn.Config(echo, port=0, log_config=None, access_log=False, lifespan="off", http=BoundedProtocol, timeout_keep_alive=1)
    server, listener = uvicorn.Server(config), config.bind_socket()
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # noqa: ASYNC110  # uvicorn sets no event
        await asyncio.sleep(0.01)
    yield server
    server.should_exit = True
    await task
    listener.close()


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    found: int = server.servers[0].sockets[0].getsockname()[1]
    return found


async def sent(port: int, *pieces: bytes, pause: float = 0.0) -> bytes:
    """All that the server answers to what is sent piece by piece, until it closes or stops answering."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
    answer = b""
    with contextlib.suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(1):
            while part := await reader.read(65_536):
                answer += part
    writer.close()
    return answer


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\n\r\n",
        HEAD + b"x: " + b"a" * HEAD_BYTES + b"\r\n\r\n",
        HEAD + b"".join(b"x%d: 1\r\n" % number for number in range(HEAD_BYTES // 6)) + b"\r\n",
        # Without an end: nothing more than the bound is kept.
        b"GET /" + b"a" * HEAD_BYTES * 2,
        HEAD + b"x: " + b"a" * HEAD_BYTES * 2,
        HEAD + b"a" * HEAD_BYTES * 2,
    ],
    ids=["address", "header", "headers", "endless address", "endless header", "endless name"],
)
@pytest.mark.parametrize("piece", [1_000_000, 1_000])
async def test_a_head_over_64_kb_is_431(port: int, echo: Echo, head: bytes, piece: int) -> None:
    answer = await sent(port, *(head[at : at + piece] for at in range(0, len(head), piece)))
    assert (answer[:13], TOO_LARGE in answer, echo.headers) == (b"HTTP/1.1 431 ", True, [])


async def test_a_head_within_the_bound_is_served_on_a_kept_connection_again_and_again(port: int) -> None:
    request = HEAD + b"x: " + b"a" * (HEAD_BYTES - 100) + b"\r\ncontent-length: 3\r\n\r\nabc"
    answer = await sent(port, *[request] * 3)
    assert (answer.count(b"HTTP/1.1 200 OK"), answer.count(b"\r\n\r\n3")) == (3, 3)


@pytest.mark.parametrize(
    "chunked",
    [b"1;x=" + b"a" * HEAD_BYTES * 2, b"1\r\na\r\n0\r\nx: " + b"a" * HEAD_BYTES * 2, b"1\r\na\r\n0\r\n" + b"x: 1\r\n" * HEAD_BYTES],
    ids=["extension", "trailer", "trailers"],
)
async def test_what_stands_around_a_body_is_bound_too(port: int, echo: Echo, chunked: bytes) -> None:
    request = HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunked
    await sent(port, *(request[at : at + 1_000] for at in range(0, len(request), 1_000)))
    assert (echo.headers, echo.lost) == ([], 1)


async def test_a_trailer_is_no_header(port: int, echo: Echo) -> None:
    answer = await sent(port, HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nauthorization: Bearer x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert [name for name, _ in echo.headers] == [b"host", b"transfer-encoding"]


async def test_a_slow_head_is_408(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.1)
    answer = await sent(port, *[b"GET / HTTP/1.1\r\n", *[b"x: 1\r\n"] * 8], pause=0.05)
    assert (answer[:13], TOO_SLOW in answer) == (b"HTTP/1.1 408 ", True)
    # Who says nothing at all is told nothing.
    assert await sent(port) == b""
    # Nor is a second request on a connection waited for any longer.
    answer = await sent(port, HEAD + b"content-length: 0\r\n\r\n", *[HEAD, *[b"x: 1\r\n"] * 8], pause=0.05)
    assert [answer.count(status) for status in (b"HTTP/1.1 200 ", b"HTTP/1.1 408 ")] == [1, 1]


async def test_a_slow_body_is_408_and_ends_what_waits_for_it(port: int, echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", 0.1)
    answer = await sent(port, HEAD + b"content-length: 100\r\n\r\n", *[b"a"] * 8, pause=0.05)
    assert (answer[:13], TOO_SLOW in answer, echo.lost) == (b"HTTP/1.1 408 ", True, 1)
    # The time grows with what has come.
    monkeypatch.setattr(http_protocol, "BODY_BYTES_A_SECOND", 10)
    answer = await sent(port, HEAD + b"content-length: 8\r\n\r\n", *[b"a"] * 8, pause=0.05)
    assert (answer[:13], answer[-1:], echo.lost) == (b"HTTP/1.1 200 ", b"8", 1)


async def test_an_answer_that_nobody_takes_is_dropped(server: uvicorn.Server, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "ANSWER_SECONDS", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_000)
    writer.write(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
    assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
    async with asyncio.timeout(10):
        while server.server_state.connections:  # noqa: ASYNC110  # uvicorn sets no event
            await asyncio.sleep(0.05)
    writer.close()


class Recorder(asyncio.Transport):
    """What is written, in the order and the pieces in which it leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.pieces.append(bytes(data))

    def close(self) -> None:
        self.pieces.append(b"closed")


async def test_a_head_leaves_with_its_body_or_with_the_next_step_and_before_a_close() -> None:
    loop = asyncio.get_running_loop()
    whole, alone, closed = Recorder(), Recorder(), Recorder()
    joined = Joined(whole, loop)
    for part in (b"head ", b"body ", b"more"):
        joined.write(part)
    stream = Joined(alone, loop)
    stream.write(b"head")
    ending = Joined(closed, loop)
    ending.write(b"head")
    ending.close()
    assert (whole.pieces, alone.pieces, closed.pieces) == ([b"head body ", b"more"], [], [b"head", b"closed"])
    await asyncio.sleep(0)
    stream.write(b"event")
    assert (whole.pieces, alone.pieces, closed.pieces) == ([b"head body ", b"more"], [b"head", b"event"], [b"head", b"closed"])
