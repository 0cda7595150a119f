"""The OpenAPI document, made of the table of routes."""

import inspect
from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from server.rest import examples
from server.rest.conditions import VERSION
from server.rest.models import Refusal
from server.rest.route import Guard, Route
from server.rest.shapes import dumps
from server.rest.table import ROUTES, parameters

Json = dict[str, Any]

_PREFIX = "#/components/schemas/"
_ABOUT = """The artifact store for teams of AI agents and the people who operate them.

A call acts as the bearer of its token. Operators reach everything of their organisation; agents reach their own files, notes by their \
bindings and collections by their grants, and find nothing where they may not read. Changes of an agent's run are recorded with it when \
the headers X-Run-Id, X-Tool-Call-Id and X-Tool-Name name the run and the tool call.

Every refusal has a code, its status, a message and the problems, all of them at once; nothing is written then."""
_GROUPS = {
    "collections": "Typed tables.",
    "records": "What the tables hold.",
    "transfer": "Records as files.",
    "access": "Who reaches which table.",
    "notes": "Markdown files of agents, guilds and the organisation, at their display paths.",
    "agents": "Task, memory, scripts and State of an agent.",
    "file changes": "Who changed what, when, and in which run.",
}
_PARTS = {
    "id": "The id of the collection, guild or agent.",
    "record_id": "The record's decimal id.",
    "path": "A display path; its slashes may stand as they are.",
    "name": "The script's name.",
}
_REFUSALS = {
    "401": "No caller, or a bad or revoked token.",
    "403": "The caller may read but not write, or the operation is an operator's.",
    "404": "Unknown, or not readable by this caller.",
    "409": "A unique value is taken, or the version is not the expected one (`current_version` says which is).",
    "413": "The body is too large.",
    "415": "The body is of another type.",
    "422": "Something is wrong with the arguments, or a limit would be passed.",
    "429": "Too many requests; `Retry-After` says when to come back.",
    "500": "An internal error, under an id that the server's log has too.",
    "503": "The database does not answer, or the operation took too long.",
}
_HEADER = {"If-Match": {"pattern": VERSION}}
_WRITES_ONLY = {"409", "413", "415"}


@cache
def document() -> Json:
    """The document; the same object each time."""
    paths: Json = {}
    for route in ROUTES:
        # OpenAPI has no word for a parameter that takes slashes; its description says so instead.
        paths.setdefault(route.path.replace(":path}", "}"), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Muniment", "version": version("muniment"), "description": _ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"session": []}],
        "tags": [{"name": name, "description": about} for name, about in _GROUPS.items()],
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "responses": {status: _refusal(about) for status, about in _REFUSALS.items()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A token (mun_…) or a signed JWT."},
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "muniment_session",
                    "description": "Set by POST /sign-in; over https its name is __Host-muniment_session.",
                },
            },
        },
    }


def response() -> Response:
    """The document as JSON."""
    return Response(dumps(document()), media_type="application/json", headers={"Cache-Control": "no-cache"})


def _operation(route: Route) -> Json:
    summary, _, more = (inspect.getdoc(route.handler) or "").partition("\n")
    body = {} if route.body is None and not route.takes else {"requestBody": _request_body(route)}
    return {
        "operationId": route.name,
        "tags": [route.group],
        "summary": summary,
        **({"description": more.strip()} if more.strip() else {}),
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        **body,
        "responses": {**_success(route), **{status: {"$ref": f"#/components/responses/{status}"} for status in _refusals(route)}},
    }


def _path_parameters(route: Route) -> list[Json]:
    schema = {"type": "string"}
    return [
        {"name": name, "in": "path", "required": True, "schema": schema, "description": _PARTS[name]} for name in parameters(route.path)
    ]


def _query_parameters(route: Route) -> list[Json]:
    schema = route.query.model_json_schema()
    required = schema.get("required", [])
    return [_parameter(name, "query", dict(facts), required=name in required) for name, facts in schema["properties"].items()]


def _parameter(name: str, place: str, schema: Json, *, required: bool = False) -> Json:
    about = schema.pop("description", None)
    schema.pop("title", None)
    found = {"name": name, "in": place, "required": required, "schema": _without_null(schema)}
    if (example := examples.PARAMETERS.get(name)) is not None:
        found["example"] = example
    return found if about is None else {**found, "description": about}


def _without_null(schema: Json) -> Json:
    """A parameter is left out rather than null."""
    options = [option for option in schema.pop("anyOf", []) if option != {"type": "null"}]
    if schema.get("default", 0) is None:
        del schema["default"]
    return {**options[0], **schema} if options else schema


def _header_parameters(route: Route) -> list[Json]:
    found = dict(route.headers)
    if route.guard is not Guard.NONE:
        found["If-Match"] = "The version that the change is made to, as the ETag gave it; refused with 409 where it is not current."
    if route.guard is Guard.MATCH_OR_NEW:
        found["If-None-Match"] = "`*`: only if there is none yet."
    if route.method == "GET" and route.tag is not None:
        found["If-None-Match"] = "ETags that the caller has; 304 where one is current."
    return [_parameter(name, "header", {"type": "string", **_HEADER.get(name, {}), "description": about}) for name, about in found.items()]


def _request_body(route: Route) -> Json:
    if route.body is not None:
        return {"required": True, "content": {"application/json": {"schema": _ref(route.body), "example": examples.BODIES[route.name]}}}
    form = {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
    }
    return {"required": True, "content": {media: {"schema": form} if media.startswith("multipart/") else {} for media in route.takes}}


def _success(route: Route) -> Json:
    found: Json = {"description": "Done." if route.status == 204 else "The answer."}  # noqa: PLR2004  # No Content
    if route.answer is not None:
        found["content"] = {"application/json": {"schema": _ref(route.answer)}}
    elif route.gives:
        found["content"] = {media: {} for media in route.gives}
    if route.tag is not None:
        found["headers"] = {"ETag": {"schema": {"type": "string"}, "description": "The version, in quotes."}}
    answers = {str(route.status): found}
    if route.method == "GET" and route.tag is not None:
        answers["304"] = {"description": "The caller has it."}
    if route.status == 201 and any("dry_run" in model.model_fields for model in (route.query, route.body) if model):  # noqa: PLR2004  # Created
        answers["200"] = {**found, "description": "Nothing was written: a dry run, or a batch with problems."}
    return answers


def _refusals(route: Route) -> list[str]:
    takes_body = route.body is not None or bool(route.takes)
    return [status for status in _REFUSALS if status not in _WRITES_ONLY or (route.method != "GET" and (takes_body or status == "409"))]


def _refusal(about: str) -> Json:
    return {"description": about, "content": {"application/json": {"schema": _ref(Refusal)}}}


def _ref(model: type[BaseModel]) -> Json:
    return {"$ref": _PREFIX + model.__name__}


def _schemas() -> Json:
    models: dict[type[BaseModel], None] = {Refusal: None}
    for route in ROUTES:
        models.update({model: None for model in (route.body, route.answer) if model is not None})
    _, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_PREFIX + "{model}")
    schemas: Json = definitions["$defs"]
    for schema in schemas.values():
        schema.pop("title", None)
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
            # What is left out stays as it is; null says so only where null may be sent.
            if field.get("default", 0) is None:
                del field["default"]
    return dict(sorted(schemas.items()))
