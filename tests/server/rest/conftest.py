"""A client whose every answer is held to the OpenAPI document."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from server.rest.openapi import document
from server.rest.table import Table
from store.database import Database, Row
from tests.server.conftest import Tokens, bearer
from tests.store.tables import LEADS, add_table
from tests.world import World

_TABLE = Table()


def check_documented(response: httpx.Response) -> None:
    """The answer has a status, and a body, that the document has for the route."""
    method, path = response.request.method, response.request.url.path
    route, _ = _TABLE.find(method, path)
    operation = document()["paths"][route.path.replace(":path}", "}")][route.method.lower()]
    answer = operation["responses"][str(response.status_code)]
    if "$ref" in answer:
        answer = document()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer.get("content")
    if content is None:
        assert response.content == b""
    elif "application/json" in content:
        schema = {**content["application/json"]["schema"], "components": document()["components"]}
        Draft202012Validator(schema).validate(response.json())
    else:
        assert response.headers["content-type"].partition(";")[0] in content


@dataclass(frozen=True)
class Api:
    client: httpx.AsyncClient
    tokens: Tokens

    async def __call__(self, method: str, path: str, who: str = "operator", **options: Any) -> httpx.Response:
        headers = bearer(getattr(self.tokens, who)) | options.pop("headers", {})
        response = await self.client.request(method, path, headers=headers, **options)
        check_documented(response)
        return response


@pytest.fixture
async def api(client: httpx.AsyncClient, tokens: Tokens) -> Api:
    return Api(client, tokens)


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    return await add_table(db, world.operator, "leads", LEADS)


def refused(response: httpx.Response, code: str, status: int) -> dict[str, Any]:
    """The refusal, which must be of this code and status, as JSON."""
    told: dict[str, Any] = response.json()
    assert (told["code"], told["status"], response.status_code) == (code, status, status)
    return told


def columns_of(response: httpx.Response) -> list[str | None]:
    return [problem["column"] for problem in response.json()["problems"]]
