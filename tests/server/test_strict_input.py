"""Input is read as it was written: nothing that a client sent is changed or dropped without a word."""

import asyncio
from typing import Any

import httpx
import pytest

from models.errors import Unprocessable
from models.kinds import NoteLevel
from server.app import App
from server.body import body_value
from server.settings import Settings
from store import notes, records
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.live import line, serving
from tests.store.tables import add_table, bodies, column, everything
from tests.world import World

ADD = 'mutation($v: String, $n: Int) { recordAdd(collection: "t", body: {t: $v, n: $n, a: ["x"]}) { record { body } } }'
DIGITS = '{"query": "{ viewer { id } }", "variables": {"n": ' + "9" * 5000 + "}}"
TWICE = '{"a": 1, "b": {"c": 1, "c": 2}}'


async def test_a_variable_that_is_left_out_leaves_its_key_out(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    table = await add_table(db, world.operator, "t", [column("t"), column("n", "number"), column("a", "array")])
    for variables, body in (({"n": 1}, {"n": 1, "a": ["x"]}), ({"n": 2, "v": None}, {"n": 2, "a": ["x"]}), ({}, {"a": ["x"]})):
        answer = await client.post("/graphql", json={"query": ADD, "variables": variables}, headers=bearer(tokens.operator))
        assert answer.json() == {"data": {"recordAdd": {"record": {"body": body}}}}, variables
    many = 'mutation($v: String) { recordAddMany(collection: "t", bodies: [{t: $v, n: 9}]) { added } }'
    answer = await client.post("/graphql", json={"query": many}, headers=bearer(tokens.operator))
    assert answer.json() == {"data": {"recordAddMany": {"added": 1}}}
    assert (await bodies(db, table))[4] == {"n": 9}
    listed = 'query($v: JSON, $n: Int) { recordList(collection: "t", where: {t: $v, n: $n}) { total } }'
    answer = await client.post("/graphql", json={"query": listed, "variables": {"n": 9}}, headers=bearer(tokens.operator))
    assert answer.json() == {"data": {"recordList": {"total": 1}}}


async def test_a_key_twice_is_refused_in_variables(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    before = await everything(db)
    body = f'{{"query": "query($b: JSON) {{ viewer {{ id }} }}", "variables": {{"b": {TWICE}}}}}'
    headers = {**bearer(tokens.operator), "Content-Type": "application/json"}
    told = (await client.post("/graphql", content=body, headers=headers)).json()["errors"][0]
    assert told["message"] == 'the body is not JSON: duplicate key "c" in an object'
    asked = await client.get("/graphql", params={"query": "{ viewer { id } }", "variables": TWICE}, headers=bearer(tokens.operator))
    assert asked.json()["errors"][0]["message"] == 'variables is not JSON: duplicate key "c" in an object'
    assert await everything(db) == before


async def test_a_key_twice_is_refused_in_tool_arguments(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    before = await everything(db)
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_write","arguments":{"content":"a","content":"b"}}}'
    headers = {**bearer(tokens.ada), "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    answer = await client.post("/mcp", content=call, headers=headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, 'the body cannot be read: duplicate key "content" in an object')
    assert await everything(db) == before


async def test_an_unknown_protocol_version_is_refused(client: httpx.AsyncClient, tokens: Tokens) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {**bearer(tokens.ada), "Accept": "application/json, text/event-stream"}
    answer = await client.post("/mcp", json=call, headers={**headers, "MCP-Protocol-Version": "1999-01-01"})
    assert (answer.status_code, answer.json()["error"]["message"].partition(";")[0]) == (400, "unknown MCP-Protocol-Version 1999-01-01")
    assert (await client.post("/mcp", json=call, headers={**headers, "MCP-Protocol-Version": "2025-06-18"})).status_code == 200


async def test_digits_without_end_are_told_in_our_words(client: httpx.AsyncClient, tokens: Tokens) -> None:
    headers = {**bearer(tokens.operator), "Content-Type": "application/json"}
    answer = await client.post(
        "/graphql", content='{"query": "{ viewer { id } }", "variables": {"n": ' + "9" * 5000 + "}}", headers=headers
    )
    assert answer.json()["errors"][0]["message"] == "the body is not JSON: a number has 5,000 digits; at most 4,300 are read"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_path_that_is_no_utf_8_is_refused(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World, method: str
) -> None:
    await notes.write(db, world.operator, NoteLevel.ORG, "caf\ufffd.md", "x")
    before = await everything(db)
    json: Any = {"content": "y"} if method == "PUT" else None
    url = f"/api/notes/org/{world.org}/caf%E9.md"
    answer = await client.request(method, url, json=json, headers=bearer(tokens.operator))
    assert (answer.status_code, answer.json()["message"].partition(";")[0]) == (400, "the address is not UTF-8")
    asked = await client.get("/api/notes/search?query=caf%E9", headers=bearer(tokens.operator))
    assert asked.status_code == 400
    assert await everything(db) == before


async def test_a_line_break_behind_a_path_names_nothing(client: httpx.AsyncClient, tokens: Tokens) -> None:
    for path in ("/graphql%0A", "/readyz%0A", "/mcp%0A"):
        assert (await client.get(path, headers=bearer(tokens.operator))).status_code == 404


async def test_a_whole_number_with_a_fraction_of_zeros_is_kept_exactly(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    table = await add_table(db, world.operator, "t", [column("n", "number", unique=True)])
    headers = {**bearer(tokens.operator), "Content-Type": "application/json"}
    for number in ("9007199254740993.0", "9007199254740993"):
        added = await client.post(f"/api/collections/{table.id}/records", content=f'{{"body": {{"n": {number}}}}}', headers=headers)
        assert added.status_code in {200, 201}
    assert await bodies(db, table) == {1: {"n": 9007199254740993}}
    await records.remove(db, world.operator, "t", "1")


async def test_a_socket_takes_a_null_payload_and_refuses_what_it_cannot_read(settings: Settings, dsn: str, tokens: Tokens) -> None:
    async with serving(App(settings, dsn)) as address, line(address, init=False, headers=bearer(tokens.ada)) as socket:
        await socket.send({"type": "connection_init", "payload": None})
        assert await socket.receive() == {"type": "connection_ack"}
        await socket.send(f'{{"type": "subscribe", "id": "1", "payload": {DIGITS}}}')
        assert (await socket.closed())[0] == 4400


@pytest.mark.parametrize(("names", "waits"), [(10, False), (40_000, True)])
async def test_a_large_body_is_parsed_beside_the_loop_and_its_doubled_keys_are_found(names: int, waits: bool) -> None:
    body = b"{" + b",".join(b'"k%d":1' % (number % (names - 2)) for number in range(names)) + b"}"
    ran = asyncio.Event()
    asyncio.get_running_loop().call_soon(ran.set)
    with pytest.raises(Unprocessable, match='duplicate key "k0" in an object'):
        await body_value(body)
    assert ran.is_set() is waits
