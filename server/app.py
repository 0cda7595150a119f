"""The ASGI application: every door on one set of services."""

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from schema import build
from server import graphiql, logs
from server.auth import CALL_HEADERS
from server.background import Background
from server.documents import documents
from server.errors import shown
from server.graphql import GraphQLDoor
from server.guard import Guard
from server.health import Health
from server.mcp.http import McpDoor
from server.request_log import RequestLog
from server.rest import RestDoor
from server.services import Services, open_services
from server.sessions import Sessions
from server.settings import Settings
from server.telemetry import Traced
from store.usage import current, end_by


class App:
    """The application of one process. What it holds open is opened at start-up and closed at shutdown (ASGI lifespan)."""

    def __init__(self, settings: Settings, dsn: str) -> None:
        self._settings = settings
        self._dsn = dsn
        self._inner: ASGIApp | None = None
        self._outer = Starlette(lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the lifespan to our own, everything else to the doors."""
        if scope["type"] == "lifespan" or self._inner is None:
            await self._outer(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        logs.configure(self._settings)
        async with open_services(self._settings, self._dsn) as services, Background(services):
            doors: ASGIApp = Guard(_shared(Doors(services), self._settings), self._settings)
            if services.telemetry is not None:
                doors = Traced(doors, services.telemetry)
            self._inner = RequestLog(doors, services.metrics)
            yield
            self._inner = None


def _shared(doors: ASGIApp, settings: Settings) -> ASGIApp:
    """The doors, with browsers told that pages of the allowed origins may call them and read the answers."""
    if not settings.allowed_origins:
        return doors
    return CORSMiddleware(
        doors,
        allow_origins=settings.allowed_origins,
        allow_credentials=True,
        allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=("Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", *CALL_HEADERS),
        expose_headers=("ETag", "Location", "Retry-After"),
    )


class Doors:
    """All doors. What is posted to /graphql, which is most of what comes, is spared the router and its layers.

    So is what is below /api: that door has a table of its own, which takes paths that the router cannot, with a line break in a name.
    """

    def __init__(self, services: Services) -> None:
        self._graphql = _graphql(services)
        self._rest = RestDoor(services)
        self._all = Starlette(routes=routes(services, self._graphql))
        # A redirect would repeat what stands in an address, also where the address holds more than it should.
        self._all.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to its door."""
        # Nobody's, until the door knows whose it is: the task may have served another before.
        current.set(None)
        await self._door(scope)(scope, receive, send)

    def _door(self, scope: Scope) -> ASGIApp:
        if scope["type"] == "http":
            path: str = scope["path"]
            if path == "/graphql" and scope["method"] == "POST":
                return self._graphql
            if path == "/api" or path.startswith("/api/"):
                return self._rest
        return self._all


def _graphql(services: Services) -> GraphQLDoor:
    settings = services.settings
    schema = build(
        limits=settings.limits,
        introspection=not settings.production,
        timeout=settings.operation_timeout,
        end_by=end_by,
        turn=lambda context: services.turn(context.known),
        shown=shown,
        log=logs.internal_error,
    )
    schema.engine.documents.warm(documents().values())
    services.metrics.watch_fallbacks(schema.engine.documents.fallbacks)
    return GraphQLDoor(services, schema)


def routes(services: Services, door: GraphQLDoor) -> list[BaseRoute]:
    """Every route of the product."""
    health, sessions = Health(services), Sessions(services)
    found: list[BaseRoute] = [
        Route("/", _home),
        Route("/graphql", door, methods=["GET", "POST"]),
        WebSocketRoute("/graphql", door),
        Route("/mcp", McpDoor(services)),
        Route("/sign-in", sessions.sign_in, methods=["GET", "POST"]),
        Route("/sign-out", sessions.sign_out, methods=["POST"]),
        Route("/healthz", health.live),
        Route("/readyz", health.ready),
        Mount("/static", StaticFiles(directory=graphiql.STATIC)),
    ]
    if services.settings.metrics:
        found.append(Route("/metrics", services.metrics.endpoint))
    return found


async def _home(_request: Request) -> Response:
    return RedirectResponse("/graphql")
