"""One log line, and one count, for each request: who, which operation, in which run, how long, with what outcome."""

from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.logs import of_request
from server.metrics import Metrics

_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_DOORS = {"graphql": "graphql", "api": "rest", "mcp": "mcp"}


def note(scope: Scope, **facts: Any) -> None:
    """Add facts to the line of this request; None adds nothing."""
    scope.setdefault("muniment.facts", {}).update({key: value for key, value in facts.items() if value is not None})


class RequestLog:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request and tell of it when it has ended."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        facts: dict[str, Any] = scope.setdefault("muniment.facts", {})
        status = 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "websocket.close":
                status = message.get("code", 1000)
            await send(message)

        async def hear() -> Message:
            nonlocal status
            message = await receive()
            if message["type"] == "websocket.disconnect":
                status = status or message.get("code", 1005)
            return message

        try:
            await self._app(scope, hear if scope["type"] == "websocket" else receive, watch)
        finally:
            self._tell(scope, status, perf_counter() - started, facts)

    def _tell(self, scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> None:
        path = scope["path"]
        door = _DOORS.get(path.strip("/").partition("/")[0], "page")
        # Counted by what the doors know as theirs: names that clients choose would make a series each.
        operation = facts.pop("counted", "")
        if scope["type"] == "http" and door != "page":
            self._metrics.observe(door, operation, facts.get("code", "OK"), seconds)
        if path not in _QUIET:
            method = scope["method"] if scope["type"] == "http" else "SOCKET"
            of_request("request", {"method": method, "path": path, "status": status, "milliseconds": round(seconds * 1000, 2), **facts})
