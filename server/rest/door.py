"""The REST door: finds the route and the caller, reads the arguments, and gives answers and refusals their form."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from models.caller import Caller, required
from models.errors import MunimentError, Problem
from server import auth, logs
from server.body import body_value, read_body, require_json
from server.errors import refusal
from server.request_log import note
from server.rest import arguments, docs, openapi
from server.rest.conditions import entity_tag, expected_version, held
from server.rest.route import Answer, Call, Route
from server.rest.shapes import dumps
from server.rest.table import MethodNotAllowed, Table
from server.services import Services
from store.database import DatabaseUnavailable
from store.usage import end_by

_JSON = "application/json"


class RestDoor:
    """The ASGI application of everything under /api."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._table = Table()
        self._pages = {
            "/api": docs.redirect,
            "/api/": docs.redirect,
            "/api/docs": docs.response,
            "/api/openapi.json": openapi.response,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            response = await self._answer(scope, receive)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            response = self._refused(error, scope)
        if scope["method"] == "HEAD":
            response = _head(response)
        try:
            await response(scope, receive, send)
        except (MunimentError, DatabaseUnavailable) as error:
            # An answer that has begun can be refused only by not ending it, which its client notices.
            note(scope, code=refusal(error, logs.internal_error).code)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        method, path = scope["method"], scope["path"]
        if (page := self._pages.get(path)) is not None:
            if method not in {"GET", "HEAD"}:
                raise MethodNotAllowed(method, "GET, HEAD")
            return page()
        route, parts = self._table.find(method, path)
        note(scope, operation=route.name, counted=route.name)
        caller = await self._caller(scope)
        # A file's time depends on its size and on the client's line; its bound is one of bytes.
        seconds = None if route.long else self._services.settings.operation_timeout
        async with self._services.turn(caller), asyncio.timeout(seconds) as deadline:
            end_by(deadline)
            call, args = await self._call(route, caller, parts, scope, receive)
            answer = await route.handler(call, args)
        return answer if isinstance(answer, Response) else _response(route, answer, call.headers)

    async def _caller(self, scope: Scope) -> Caller:
        caller = required(await auth.from_scope(self._services, scope))
        note(scope, caller=f"{caller.kind.lower()}:{caller.id}", run=caller.run_id)
        self._services.admit(caller)
        return caller

    async def _call(self, route: Route, caller: Caller, parts: dict[str, str], scope: Scope, receive: Receive) -> tuple[Call, Any]:
        """The request as its handler takes it. Raises Unprocessable with every problem of query, headers and body."""
        headers, problems = Headers(scope=scope), list[Problem]()
        args: Any = arguments.from_query(route.query, scope["query_string"], problems)
        expected = None if route.method == "GET" else expected_version(route.guard, headers, problems)
        if route.body is not None:
            require_json(scope)
            text = await read_body(scope, receive, self._services.settings.max_body_bytes)
            args = arguments.from_body(route.body, await body_value(text), problems)
        arguments.refuse(problems)
        call = Call(services=self._services, caller=caller, path=parts, headers=headers, expected=expected, scope=scope, receive=receive)
        return call, args

    @staticmethod
    def _refused(error: Exception, scope: Scope) -> Response:
        known = refusal(error, logs.internal_error, scope.get("muniment.facts", {}).get("operation"))
        note(scope, code=known.code)
        return Response(_refusal_json(known), known.status, headers=_refusal_headers(known), media_type=_JSON)


def _head(response: Response) -> Response:
    """The lengths and tags of what GET would answer, without it."""
    head = Response(status_code=response.status_code)
    # Those alone: the length of the empty body would contradict a file's, which is not known before it is written.
    head.raw_headers = response.raw_headers
    return head


def _response(route: Route, answer: Answer, headers: Headers) -> Response:
    status = answer.status or route.status
    if status == 204:  # noqa: PLR2004  # No Content
        return Response(status_code=status)
    body = dumps(answer.content)
    told = {"Cache-Control": "private, no-cache"}
    if answer.location is not None:
        # A header holds ASCII; a note's key may hold any letters, and ? or # too.
        told["Location"] = quote(answer.location)
    if route.tag is not None and answer.version is not None:
        told["ETag"] = entity_tag(route.tag, answer.version, body)
        if route.method == "GET" and held(headers, told["ETag"]):
            return Response(status_code=304, headers=told)
    return Response(body, status, headers=told, media_type=_JSON)


def _refusal_json(known: MunimentError) -> bytes:
    told = known.as_json()
    # What a refusal tells beyond the four fields is spelled as this door spells everything.
    spelled = {"".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name): value for name, value in told.items()}
    return json.dumps(spelled).encode()


def _refusal_headers(known: MunimentError) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if isinstance(known, MethodNotAllowed):
        headers["Allow"] = known.allow
    if known.status == 401:  # noqa: PLR2004  # Unauthorized
        headers["WWW-Authenticate"] = "Bearer"
    if (wait := known.extensions.get("retryAfter")) is not None:
        headers["Retry-After"] = str(max(1, round(wait)))
    return headers
