"""The HTTP protocol of uvicorn with bounds on what comes before a request runs: the size of its head, and the time of head and body."""

import asyncio
from http import HTTPStatus
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
# A body may take this long, and longer the more of it has come: who sends 32 KB a second is never too slow.
BODY_SECONDS = 20.0
BODY_BYTES_A_SECOND = 32 * 1024
# An answer of which the client takes nothing in this time is dropped.
ANSWER_SECONDS = 60.0
# What a refused client still sends is read and dropped for so long: closing at once would destroy the answer on its way.
LINGER_SECONDS = 2.0


class BoundedProtocol(HttpToolsProtocol):
    """One connection. What is over a bound is answered with 431 or 408, and the connection is closed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Of the request that is coming in: bytes since it began that were not its body, and bytes of its body.
        self._around = self._body = 0
        self._in_head = True
        self._timer: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._unsent: int | None = None
        self._is_refused = False

    # ------------------------------------------------------------------ what comes in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn itself
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come, unless too much has come without a head or a body."""
        if self._is_refused:
            return
        self._around += len(data)
        super().data_received(data)
        if self._around > HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._in_head and self._around and self._timer is None:
            self._wait(HEAD_SECONDS)  # the head of a further request on this connection

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes after the body, as a trailer, is no header of the request."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Let the request run, unless its head came whole in one piece that is too large."""
        self._stop_waiting()
        self._in_head = False
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEAD_BYTES:
            self._around = HEAD_BYTES + 1
            raise httptools.HttpParserError  # ends the parsing; the answer follows from the size
        super().on_headers_complete()
        self._around = 0
        if self.cycle is not None:
            self.cycle.transport = cast("asyncio.Transport", Joined(self.transport, self.loop))
        if not (self.parser.should_upgrade() and self._should_upgrade()):
            self._wait(BODY_SECONDS)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._body += len(body)
        self._around = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin with the next head."""
        self._stop_waiting()
        self._around = self._body = 0
        self._in_head = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, unless it was refused for its size."""
        if self._around <= HEAD_BYTES:
            super().send_400_response(msg)

    # ------------------------------------------------------------------ how long it takes

    def _wait(self, seconds: float) -> None:
        self._began = self.loop.time()
        self._timer = self.loop.call_later(seconds, self._look)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """Refuse a head or a body that should have come by now; one that the server itself does not take yet may wait."""
        self._timer = None
        left = 0.0 if self._in_head else self._began + BODY_SECONDS + self._body / BODY_BYTES_A_SECOND - self.loop.time()
        if not self._in_head and self.flow.read_paused:
            left = max(left, 1.0)
        if left > 0:
            self._timer = self.loop.call_later(left, self._look)
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer, unless an answer has begun or nothing was asked, and close."""
        if self.transport.is_closing():
            return
        self._is_refused = True
        begun = self._around or not self._in_head
        answered = not self._in_head and self.cycle is not None and self.cycle.response_started
        if begun and not answered:
            self.transport.write(_answer(status))
        if self.cycle is not None and not self.cycle.response_complete:
            # What is running is told that its client has gone, and what it still sends goes nowhere.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)
        else:
            self.transport.close()

    # ------------------------------------------------------------------ what goes out

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nothing more comes on, once its answer is taken; drop one whose answer nobody takes."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            super().timeout_keep_alive_handler()
        elif unsent == self._unsent:
            self.transport.abort()
        else:
            self._unsent = unsent
            self.timeout_keep_alive_task = self.loop.call_later(ANSWER_SECONDS, self.timeout_keep_alive_handler)


class Joined:
    """Sends the head of an answer together with the first part of its body, since each write is a system call that wakes the client.

    What follows within the same step of the event loop is joined; a head alone, as of a stream, leaves with the next step.
    """

    __slots__ = ("_first", "_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self._first = True

    def write(self, data: bytes) -> None:
        """Send data, the first of it a little later."""
        if self._first:
            self._first = False
            self._head = data
            self._loop.call_soon(self._send_head)
        elif self._head:
            data, self._head = self._head + data, b""
            self._transport.write(data)
        else:
            self._transport.write(data)

    def _send_head(self) -> None:
        if self._head:
            data, self._head = self._head, b""
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        """Give everything else of the transport, such as `close`, once the head is sent."""
        self._send_head()
        return getattr(self._transport, name)


def _answer(status: HTTPStatus) -> bytes:
    body = f'{{"code": "UNPROCESSABLE", "status": {status}, "message": "{_SAID[status]}", "problems": []}}'.encode()
    head = (
        f"HTTP/1.1 {status} {status.phrase}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


_SAID = {
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: f"the address and the headers of a request may have {HEAD_BYTES:,} bytes together",
    HTTPStatus.REQUEST_TIMEOUT: "the request did not arrive in time",
}
