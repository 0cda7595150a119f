"""OpenTelemetry traces: a span for each request to a door and for each operation of a socket, never content or tokens."""

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Mapping
from importlib.metadata import version
from time import time_ns
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.settings import Settings, SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_MISSING = """the settings are not right
- MUNIMENT_TELEMETRY: the extra telemetry is not installed; `pip install 'muniment[telemetry]'` brings it, or leave the setting out"""
_DOORS = {"graphql": "graphql", "api": "rest", "mcp": "mcp"}
_SERVER_FAULT = 500
_FAULTS = frozenset({"INTERNAL", "UNAVAILABLE"})

# Seconds that the last spans may take to leave; a collector that is down must not keep the server from ending.
_FAREWELL = 5.0


class Telemetry:
    """Tells spans to a tracer provider of OpenTelemetry's SDK."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("muniment", version("muniment"))

    def tell(self, door: str, began: int, facts: Mapping[str, Any], *, headers: Mapping[str, str] | None = None, status: int = 0) -> None:
        """Tell of what began at `began` (nanoseconds since the epoch) and ends now.

        Of the facts only `operation`, the kind of `caller` ("agent:<id>"), `run` and `code` are told. `headers` may continue a trace
        (W3C traceparent).
        """
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        operation, outcome = facts.get("operation"), facts.get("code", "OK")
        parent = TraceContextTextMapPropagator().extract(headers or {})
        name = f"{door} {operation}" if operation else door
        span = self._tracer.start_span(name, parent, SpanKind.SERVER, start_time=began)
        told = {
            "muniment.door": door,
            "muniment.operation": operation,
            "muniment.caller.kind": str(facts["caller"]).partition(":")[0] if "caller" in facts else None,
            "muniment.run": facts.get("run"),
            "muniment.outcome": outcome,
            "http.response.status_code": status or None,
        }
        span.set_attributes({key: value for key, value in told.items() if value is not None})
        if outcome in _FAULTS or status >= _SERVER_FAULT:
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    async def close(self) -> None:
        """Send what is left, within a few seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await asyncio.to_thread(self._provider.shutdown)


class Traced:
    """An ASGI layer inside the request log, whose facts it tells; of sockets their operations are told instead."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request, and tell of it when it has ended."""
        door = _DOORS.get(scope.get("path", "").strip("/").partition("/")[0])
        if scope["type"] != "http" or door is None:
            await self._app(scope, receive, send)
            return
        began, status = time_ns(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            self._telemetry.tell(door, began, scope.get("muniment.facts", {}), headers=Headers(scope=scope), status=status)


@contextlib.asynccontextmanager
async def open_telemetry(settings: Settings) -> AsyncIterator[Telemetry | None]:
    """What traces are told to, or None where none are asked for. Raises SettingsError where the extra is not installed.

    Where they go, and under which name, say OpenTelemetry's own variables: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME and others.
    """
    if not settings.telemetry:
        yield None
        return
    require_telemetry(settings)
    telemetry = Telemetry(_provider())
    try:
        yield telemetry
    finally:
        await telemetry.close()


def require_telemetry(settings: Settings) -> None:
    """Raise SettingsError, before anything starts, where traces are asked for and the extra is not installed."""
    if not settings.telemetry:
        return
    try:
        importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError as error:
        raise SettingsError(_MISSING) from error


def _provider() -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    own = Resource.create({"service.name": "muniment", "service.version": version("muniment")})
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
