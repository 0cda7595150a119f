import html
import re
import shlex
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from server.rest import examples
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


async def test_the_page_shows_every_route_and_shape(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/docs")
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    assert response.headers["content-security-policy"].startswith(policy)
    page = Links()
    page.feed(response.text)
    assert {route.name for route in ROUTES} <= page.ids
    assert set(document()["components"]["schemas"]) <= page.ids
    assert {target[1:] for target in page.targets if target.startswith("#")} <= page.ids
    others = {target for target in page.targets if not target.startswith("#")}
    assert others == {"data:,", "/static/api.css", "/api/openapi.json", "/sign-in"}
    for file in ("/static/api.css", "/static/api.js"):
        assert file in response.text
        assert (await client.get(file)).status_code == 200


@pytest.mark.parametrize("path", ["/api", "/api/"])
async def test_the_folder_of_the_routes_leads_to_the_page(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert (response.status_code, response.headers["location"]) == (307, "/api/docs")
    refused(await client.post(path), "UNPROCESSABLE", 405)


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=lambda route: route.name)
def test_every_body_has_an_example_that_its_route_takes(route: Route) -> None:
    assert route.body is not None
    route.body.model_validate(examples.BODIES[route.name])
    operation = document()["paths"][route.path.replace(":path}", "}")][route.method.lower()]
    assert operation["requestBody"]["content"]["application/json"]["example"] == examples.BODIES[route.name]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_the_examples_of_parameters_are_taken(route: Route) -> None:
    given = {name: examples.PARAMETERS[name] for name in route.query.model_fields if name in examples.PARAMETERS}
    required = {name for name, field in route.query.model_fields.items() if field.is_required()}
    assert required <= set(given)
    route.query.model_validate(given)


async def test_the_commands_on_the_page_name_the_routes(client: httpx.AsyncClient) -> None:
    page = html.unescape((await client.get("/api/docs")).text)
    commands = [shlex.split(text) for text in re.findall(r"<pre>(curl .*?)</pre>", page, re.DOTALL)]
    assert len(commands) == len(ROUTES)
    found = set()
    for command in commands:
        (address,) = [part for part in command if part.startswith("localhost:8000/")]
        method = command[command.index("-X") + 1] if "-X" in command else "POST" if {"-d", "-F"} & set(command) else "GET"
        found.add(Table().find(method, address.removeprefix("localhost:8000"))[0].name)
    assert found == {route.name for route in ROUTES}
