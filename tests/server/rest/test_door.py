import httpx
import pytest

from server.settings import Settings
from store.database import Database, Row
from tests.server.conftest import Tokens, bearer
from tests.server.rest.conftest import Api, refused
from tests.store.tables import everything
from tests.world import World

SESSION = "muniment_session"


@pytest.mark.parametrize("path", ["/api/nothing", "/api/collections/", "/api/collections/x/records/1/more", "/api/notes/"])
async def test_nothing_is_found_at_unknown_paths(client: httpx.AsyncClient, tokens: Tokens, path: str) -> None:
    told = refused(await client.get(path, headers=bearer(tokens.operator)), "NOT_FOUND", 404)
    assert told == {
        "code": "NOT_FOUND",
        "status": 404,
        "message": f"there is nothing at {path}; /api/docs lists what there is",
        "problems": [],
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/api/collections", "GET, HEAD, POST"),
        ("POST", "/api/collections/x", "GET, HEAD, PATCH, DELETE"),
        ("GET", "/api/collections/x/import", "POST"),
        ("OPTIONS", "/api/notes/org/x/y.md", "GET, HEAD, PUT, DELETE"),
        ("POST", "/api/openapi.json", "GET, HEAD"),
    ],
)
async def test_other_methods_are_refused_naming_those_allowed(
    client: httpx.AsyncClient, tokens: Tokens, method: str, path: str, allow: str
) -> None:
    response = await client.request(method, path, headers=bearer(tokens.operator))
    refused(response, "UNPROCESSABLE", 405)
    assert response.headers["allow"] == allow


async def test_nobody_and_bad_tokens_are_refused(client: httpx.AsyncClient, db: Database) -> None:
    before = await everything(db)
    for headers in ({}, bearer("mun_bad"), {"Authorization": "Basic x"}):
        response = await client.post("/api/collections", headers=headers, json={})
        refused(response, "UNAUTHENTICATED", 401)
        assert response.headers["www-authenticate"] == "Bearer"
    assert await everything(db) == before


async def test_a_session_of_another_sites_page_is_refused(client: httpx.AsyncClient, session: str, world: World, db: Database) -> None:
    client.cookies.set(SESSION, session)
    path = f"/api/notes/org/{world.org}/x.md"
    before = await everything(db)
    foreign = await client.put(path, json={"content": "x"}, headers={"Origin": "https://evil.test"})
    refused(foreign, "FORBIDDEN", 403)
    assert await everything(db) == before
    own = await client.put(path, json={"content": "x"}, headers={"Origin": "http://muniment.test"})
    assert own.status_code == 200
    assert (await client.get("/api/collections", headers={"Origin": "https://evil.test"})).status_code == 200


async def test_only_json_is_taken_where_json_is_due(api: Api, db: Database, world: World) -> None:
    before = await everything(db)
    path = f"/api/notes/org/{world.org}/x.md"
    for media in ("text/plain", "application/x-www-form-urlencoded", ""):
        refused(await api("PUT", path, content=b'{"content": "x"}', headers={"Content-Type": media}), "UNPROCESSABLE", 415)
    for text in (b"", b"{", b"\xff", b"[" * 100_000, b'{"content": 1e', b'{"content": "\\ud800"}', b'{"content": "\\u0000"}'):
        refused(await api("PUT", path, content=text, headers={"Content-Type": "application/json"}), "UNPROCESSABLE", 422)
    assert await everything(db) == before


async def test_head_answers_as_get_without_a_body(client: httpx.AsyncClient, tokens: Tokens, leads: Row) -> None:
    got = await client.get(f"/api/collections/{leads.id}", headers=bearer(tokens.operator))
    head = await client.head(f"/api/collections/{leads.id}", headers=bearer(tokens.operator))
    assert (head.status_code, head.content) == (200, b"")
    assert (head.headers["etag"], head.headers["content-length"]) == (got.headers["etag"], got.headers["content-length"])


async def test_head_tells_no_length_of_what_is_streamed(client: httpx.AsyncClient, tokens: Tokens, leads: Row) -> None:
    path = f"/api/collections/{leads.id}/export"
    got, head = await client.get(path, headers=bearer(tokens.operator)), await client.head(path, headers=bearer(tokens.operator))
    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) == dict(got.headers)
    assert "content-length" not in head.headers


async def test_a_path_with_a_line_break_is_this_doors_too(client: httpx.AsyncClient, tokens: Tokens) -> None:
    told = refused(await client.get("/api/no%0Asuch", headers=bearer(tokens.operator)), "NOT_FOUND", 404)
    assert told["message"] == "there is nothing at /api/no\nsuch; /api/docs lists what there is"
    refused(await client.get("/api/collections/no%0Asuch", headers=bearer(tokens.operator)), "NOT_FOUND", 404)


async def test_a_name_that_stands_twice_in_json_is_refused(api: Api, db: Database, leads: Row) -> None:
    before = await everything(db)
    records = f"/api/collections/{leads.id}/records"
    for text in ('{"body": {"email": "a", "email": "b", "status": "new"}}', '{"body": {}, "body": {"email": "b", "status": "new"}}'):
        told = refused(await api("POST", records, content=text, headers={"Content-Type": "application/json"}), "UNPROCESSABLE", 422)
        name = "email" if "email" in told["message"] else "body"
        assert told["message"] == f'the body is not JSON: duplicate key "{name}" in an object'
    told = refused(await api("GET", records, params={"where": '{"status": "new", "status": "won"}'}), "UNPROCESSABLE", 422)
    assert told["problems"] == [{"column": "where", "message": 'the text is not JSON: duplicate key "status" in an object'}]
    assert await everything(db) == before


async def test_queries_are_refused_where_none_is_due(api: Api, leads: Row) -> None:
    told = refused(await api("GET", f"/api/collections/{leads.id}?deep=1&x=1"), "UNPROCESSABLE", 422)
    assert [problem["column"] for problem in told["problems"]] == ["deep", "x"]
    assert told["problems"][0]["message"] == "unknown parameter; this route takes none"
    refused(await api("DELETE", f"/api/collections/{leads.id}?force=1"), "UNPROCESSABLE", 422)
    many = "&".join(f"p{number}=1" for number in range(60))
    assert refused(await api("GET", f"/api/collections?{many}"), "UNPROCESSABLE", 422)["problems"][0]["column"] is None


async def test_a_record_shown_anew_has_another_tag(api: Api, leads: Row) -> None:
    path = f"/api/collections/{leads.id}/records"
    await api("POST", path, json={"body": {"email": "a@b", "status": "new"}})
    tag = (await api("GET", f"{path}/1")).headers["etag"]
    assert (await api("GET", f"{path}/1", headers={"If-None-Match": tag})).status_code == 304
    await api("PATCH", f"/api/collections/{leads.id}", json={"name": "contacts"})
    renamed = await api("GET", f"{path}/1", headers={"If-None-Match": tag})
    assert (renamed.status_code, renamed.json()["collection"], renamed.json()["version"]) == (200, "contacts", 1)
    refused(await api("PATCH", f"{path}/1", json={"body": {"score": 1}}, headers={"If-Match": '"4"'}), "VERSION_CONFLICT", 409)
    bound = await api("PATCH", f"{path}/1", json={"body": {"score": 1}}, headers={"If-Match": tag})
    assert bound.json()["record"]["version"] == 2


async def test_a_run_that_is_not_the_agents_own_is_refused(api: Api, db: Database, world: World) -> None:
    before = await everything(db)
    path = f"/api/notes/org/{world.org}/agents/{world.ada.id}/x.md"
    told = refused(await api("PUT", path, "ada", json={"content": "x"}, headers={"X-Run-Id": "none"}), "UNPROCESSABLE", 422)
    assert "X-Run-Id" in told["message"]
    assert await everything(db) == before


async def test_requests_are_counted_by_route_and_outcome(api: Api, client: httpx.AsyncClient, leads: Row) -> None:
    await api("GET", f"/api/collections/{leads.id}")
    refused(await api("GET", "/api/collections/none"), "NOT_FOUND", 404)
    text = (await client.get("/metrics")).text
    assert 'muniment_operations_total{code="OK",door="rest",operation="collections.get"} 1.0' in text
    assert 'muniment_operations_total{code="NOT_FOUND",door="rest",operation="collections.get"} 1.0' in text


class TestRates:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"rate_limit": 0.001, "rate_burst": 2})

    async def test_too_many_requests_are_refused_with_the_time_to_wait(self, api: Api) -> None:
        for _ in range(2):
            assert (await api("GET", "/api/collections")).status_code == 200
        response = await api("GET", "/api/collections")
        told = refused(response, "RATE_LIMITED", 429)
        assert int(response.headers["retry-after"]) > 900
        assert told["retry_after"] > 900
        assert (await api("GET", "/api/collections", "ada")).status_code == 200
