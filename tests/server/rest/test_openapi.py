import re
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from server.rest.openapi import document
from server.rest.route import Guard, Route
from server.rest.table import ROUTES, Table, parameters
from tests.server.rest.conftest import Api, refused


async def test_the_document_is_valid_and_served_as_it_is(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/openapi.json")
    assert response.headers["content-type"] == "application/json"
    served = response.json()
    assert served == document()
    assert served["openapi"] == "3.1.0"
    validate(served, cls=OpenAPIV31SpecValidator)


def test_the_document_and_the_table_have_the_same_routes() -> None:
    documented = {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}
    assert documented == {(route.method, route.path.replace(":path}", "}")) for route in ROUTES}
    assert len(documented) == len(ROUTES)
    names = [route.name for route in ROUTES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_is_described_as_it_works(route: Route) -> None:
    operation = document()["paths"][route.path.replace(":path}", "}")][route.method.lower()]
    assert operation["summary"].endswith(".")
    named = {(parameter["in"], parameter["name"]) for parameter in operation["parameters"]}
    assert {name for place, name in named if place == "path"} == set(parameters(route.path))
    assert {name for place, name in named if place == "query"} == set(route.query.model_fields)
    assert (("header", "If-Match") in named) == (route.guard is not Guard.NONE)
    assert ("requestBody" in operation) == (route.body is not None or bool(route.takes))
    assert str(route.status) in operation["responses"]


def parameter(path: str, method: str, name: str) -> dict[str, Any]:
    operation = document()["paths"][path][method]
    found: dict[str, Any] = next(one["schema"] for one in operation["parameters"] if one["name"] == name)
    return found


def test_bounds_are_documented_as_they_are_kept() -> None:
    path = "/api/collections/{id}/records"
    assert parameter(path, "get", "limit") == {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
    assert parameter(path, "get", "offset") == {"type": "integer", "minimum": 0, "default": 0}
    condition = re.compile(parameter(f"{path}/{{record_id}}", "patch", "If-Match")["pattern"])
    assert [bool(condition.search(text)) for text in ('"3"', 'W/"3-0af"', "3", "", '"x"', "*", "-1")] == [True] * 3 + [False] * 4
    schemas = document()["components"]["schemas"]
    assert schemas["GuildAccessPut"]["properties"]["mode"]["anyOf"][0]["enum"] == ["read", "write"]
    assert schemas["AgentAccessPut"]["properties"]["mode"]["anyOf"][0]["enum"] == ["none", "read", "write"]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_a_route_is_served_to_whom_it_knows_alone(client: httpx.AsyncClient, route: Route) -> None:
    found, _ = Table().find(route.method, example(route))
    assert found is route
    refused(await client.request(route.method, example(route)), "UNAUTHENTICATED", 401)


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=lambda route: route.name)
async def test_a_body_with_an_unknown_field_is_refused(api: Api, route: Route) -> None:
    response = await api(route.method, example(route), json={"surprise": 1})
    told = refused(response, "UNPROCESSABLE", 422)
    assert "surprise" in [problem["column"] for problem in told["problems"]]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_an_unknown_parameter_is_refused(api: Api, route: Route) -> None:
    body: Any = None if route.body is None else {}
    told = refused(await api(route.method, f"{example(route)}?surprise=1", json=body), "UNPROCESSABLE", 422)
    assert "surprise" in [problem["column"] for problem in told["problems"]]


def example(route: Route) -> str:
    return re.sub(r"{\w+}", "x", route.path.replace("{path:path}", "org/x/y.md"))


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        if (name := found.get("id")) is not None:
            assert name not in self.ids
            self.ids.add(name)
        if (target := found.get("href")) is not None:
            self.targets.add(target)


async def test_the_page_shows_every_route_and_shape_without_script(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/docs")
    assert response.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    page = Links()
    page.feed(response.text)
    assert "script" not in page.tags
    assert {route.name for route in ROUTES} <= page.ids
    assert set(document()["components"]["schemas"]) <= page.ids
    assert {target[1:] for target in page.targets if target.startswith("#")} <= page.ids
    others = {target for target in page.targets if not target.startswith("#")}
    assert others == {"data:,", "/static/api.css", "/api/openapi.json"}
    assert (await client.get("/static/api.css")).status_code == 200
