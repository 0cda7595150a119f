"""Traces, as a collector receives them over OTLP."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import uvicorn
from asgi_lifespan import LifespanManager
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.app import App
from server.serve import serve
from server.settings import Settings, SettingsError
from server.telemetry import Traced, open_telemetry
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import line, serving
from tests.world import World, add_run

ADD = 'mutation Adding($body: JSON!) { recordAdd(collection: "nowhere", body: $body) { record { id } } }'
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector:
    """An OTLP receiver on loopback."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.url = ""

    async def receive(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        return Response(b"", media_type="application/x-protobuf")

    @property
    def spans(self) -> list[tuple[str, dict[str, Any], Any]]:
        found = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    found += [(span.name, _attributes(span.attributes), span) for span in scope.spans]
        return found

    @property
    def resource(self) -> dict[str, Any]:
        return _attributes(ExportTraceServiceRequest.FromString(self.bodies[0]).resource_spans[0].resource.attributes)


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Collector]:
    found = Collector()
    app = Starlette(routes=[Route("/v1/traces", found.receive, methods=["POST"])])
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off")
    listener = config.bind_socket()
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    found.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
    yield found
    server.should_exit = True
    await task


@pytest.fixture
def settings(settings: Settings, collector: Collector) -> Settings:
    assert collector.url
    return settings.model_copy(update={"telemetry": True})


async def test_each_request_is_one_span_without_content_or_tokens(
    settings: Settings, dsn: str, db: Database, world: World, tokens: Tokens, collector: Collector
) -> None:
    run = await add_run(db, world.ada)
    app = App(settings, dsn)
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://muniment.test") as client,
    ):
        headers = bearer(tokens.ada) | {"X-Run-Id": run, "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
        body = {"query": ADD, "variables": {"body": {"secret": "the-content"}}}
        refused = await client.post("/graphql", json=body, headers=headers)
        assert refused.json()["errors"][0]["extensions"]["code"] == "NOT_FOUND"
        await client.post("/graphql", json={"query": "query Who { viewer { name } }"}, headers=bearer(tokens.operator))
        await client.post("/graphql", json={"query": "{ viewer { name } }"}, headers=bearer("mun_nobody"))
        await client.get("/healthz")

    first, second, third = collector.spans
    assert first[:2] == (
        "graphql Adding",
        {
            "muniment.door": "graphql",
            "muniment.operation": "Adding",
            "muniment.caller.kind": "agent",
            "muniment.run": run,
            "muniment.outcome": "NOT_FOUND",
            "http.response.status_code": 200,
        },
    )
    assert first[2].trace_id.hex() == TRACE
    assert first[2].end_time_unix_nano > first[2].start_time_unix_nano > 1_700_000_000 * 10**9
    assert second[:2] == (
        "graphql Who",
        {
            "muniment.door": "graphql",
            "muniment.operation": "Who",
            "muniment.caller.kind": "user",
            "muniment.outcome": "OK",
            "http.response.status_code": 200,
        },
    )
    assert third[:2] == (
        "graphql",
        {"muniment.door": "graphql", "muniment.outcome": "UNAUTHENTICATED", "http.response.status_code": 401},
    )
    assert {span.status.code for _, _, span in collector.spans} == {Status.STATUS_CODE_UNSET}
    sent = b"".join(collector.bodies)
    for private in ("the-content", tokens.ada, tokens.operator, "mun_nobody", world.ada.id, "nowhere"):
        assert private.encode() not in sent
    assert collector.resource["service.name"] == "muniment"


async def test_each_operation_of_a_socket_is_one_span(
    settings: Settings, dsn: str, db: Database, world: World, tokens: Tokens, collector: Collector
) -> None:
    run = await add_run(db, world.ada)
    async with serving(App(settings, dsn)) as address, line(address, {"token": tokens.ada, "X-Run-Id": run}) as socket:
        await socket.ask("query Who { viewer { name } }")
        refused = await socket.ask(ADD, "2", body={"secret": "the-content"})
        assert refused["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    told = {"muniment.door": "socket", "muniment.caller.kind": "agent", "muniment.run": run}
    assert [span[:2] for span in collector.spans] == [
        ("socket Who", told | {"muniment.operation": "Who", "muniment.outcome": "OK"}),
        ("socket Adding", told | {"muniment.operation": "Adding", "muniment.outcome": "NOT_FOUND"}),
    ]


async def test_a_fault_of_ours_is_an_error(settings: Settings, collector: Collector) -> None:
    async def broken(_request: Request) -> Response:
        return Response(status_code=503)

    async with open_telemetry(settings) as telemetry:
        assert telemetry is not None
        app = Traced(Starlette(routes=[Route("/api/x", broken)]), telemetry)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://muniment.test") as client:
            await client.get("/api/x")
    ((name, attributes, span),) = collector.spans
    assert name == "rest"
    assert attributes == {"muniment.door": "rest", "muniment.outcome": "OK", "http.response.status_code": 503}
    assert span.status.code == Status.STATUS_CODE_ERROR


async def test_the_name_of_the_service_is_that_of_the_environment(
    settings: Settings, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "archive")
    async with open_telemetry(settings) as telemetry:
        assert telemetry is not None
        telemetry.tell("rest", 1, {})
    assert collector.resource["service.name"] == "archive"


async def test_without_the_setting_nothing_is_sent(settings: Settings, collector: Collector) -> None:
    async with open_telemetry(settings.model_copy(update={"telemetry": False})) as telemetry:
        assert telemetry is None
    assert collector.bodies == []


async def test_a_missing_extra_is_said(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError) as refusal:
        async with open_telemetry(settings):
            pass
    with pytest.raises(SettingsError) as at_the_start:
        serve(settings, demo=False)
    assert str(at_the_start.value) == str(refusal.value)
    assert not (settings.home / "postgres").exists()
    assert str(refusal.value) == (
        "the settings are not right\n- MUNIMENT_TELEMETRY: the extra telemetry is not installed; "
        "`pip install 'muniment[telemetry]'` brings it, or leave the setting out"
    )
