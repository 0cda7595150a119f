"""The record tools, by the protocol's client over HTTP, for agents with each access and an operator."""

from typing import Any

import pytest
from mcp import Client

from server.app import App
from store.database import Database, Row
from tests.server.conftest import Tokens
from tests.server.mcp.speaking import ask, last_change, refusal, refused, speaking, state
from tests.store.tables import LEADS, add_table, allow, column
from tests.world import World

HUGE = 123456789012345678901234567890


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    """Ada writes, Bob reads, Cyd has nothing."""
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.ada, "WRITE")
    await allow(db, world.operator, table, world.bob, "READ")
    return table


async def add(client: Client, **body: Any) -> dict[str, Any]:
    return await ask(client, "record_add", collection="leads", body=body)


async def test_an_agent_adds_changes_and_removes_a_record(app: App, db: Database, leads: Row, world: World, tokens: Tokens) -> None:
    async with speaking(app, tokens.ada) as ada:
        added = await add(ada, email="Zoe@Example.org ", status="new", score=HUGE, signed_up_at="2026-11-30T10:00:00+02:00")
        record = added["record"]
        assert added.keys() == {"record"}
        assert record.keys() == {"id", "collection", "body", "created_at", "updated_at", "updated_by", "version", "display_path"}
        assert (record["id"], record["collection"], record["version"]) == ("1", "leads", 1)
        assert record["display_path"] == f"{leads.display_path}/1"
        assert record["updated_by"] == {"kind": "agent", "id": world.ada.id, "name": "Ada"}
        assert record["body"] == {
            "email": "Zoe@Example.org ",
            "status": "new",
            "score": HUGE,
            "signed_up_at": "2026-11-30T08:00:00Z",
        }
        merged = await add(ada, email="zoe@example.org", status="contacted", score=None)
        assert merged["note"] == "merged into existing record 1"
        assert merged["record"]["body"] == {"email": "zoe@example.org", "status": "contacted", "signed_up_at": "2026-11-30T08:00:00Z"}
        updated = await ask(ada, "record_update", collection="leads", id=1, body={"score": 0.5, "signed_up_at": None})
        assert updated.keys() == {"record"}
        assert updated["record"]["body"] == {"email": "zoe@example.org", "status": "contacted", "score": 0.5}
        assert await ask(ada, "record_remove", collection="leads", id="1") == {"removed": "1"}
        assert await last_change(db) == ("DELETE", f"{leads.display_path}/1", 4, "Ada", None, None, None)


@pytest.mark.usefixtures("leads")
async def test_readers_search_and_list(app: App, tokens: Tokens) -> None:
    async with speaking(app, tokens.operator) as operator, speaking(app, tokens.bob) as bob:
        for number, (name, status) in enumerate([("ann", "new"), ("bea", "won"), ("cat", "new")], 1):
            await add(operator, email=f"{name}@x.org", status=status, score=number)

        async def listed(**narrowed: Any) -> tuple[int, list[str]]:
            page = await ask(bob, "record_list", collection="leads", **narrowed)
            return page["total"], [record["id"] for record in page["records"]]

        assert await listed() == (3, ["1", "2", "3"])
        assert await listed(order="score desc", limit=2) == (3, ["3", "2"])
        assert await listed(order={"column": "score", "direction": "desc"}, offset=2) == (3, ["1"])
        assert await listed(order={"column": "email"}, limit=1.0) == (3, ["1"])
        assert await listed(where={"status": "new", "score": {"gte": 2}}) == (1, ["3"])
        assert await listed(where={"id": 2}, since="2020-01-01T00:00:00Z") == (1, ["2"])
        assert await listed(where=None, since=None, order=None, limit=None, offset=None) == (3, ["1", "2", "3"])
        none = await ask(bob, "record_list", collection="leads", where={"status": "lost"})
        assert (none["total"], none["records"]) == (0, [])
        assert none["hint"].startswith('No record matches where {"status":"lost"}.\nThe collection leads holds 3 records;')
        found = (await ask(bob, "record_search", query="bea"))["records"]
        assert [(record["collection"], record["id"]) for record in found] == [("leads", "2")]
        assert (await ask(bob, "record_search", query="x.org", collection="leads", where={"status": "new"}, limit=1))["records"] != []
    async with speaking(app, tokens.cyd) as cyd:
        assert await ask(cyd, "record_search", query="bea") == {"records": []}


async def test_an_update_warns_of_what_the_table_would_not_take_now(
    app: App, db: Database, leads: Row, world: World, tokens: Tokens
) -> None:
    from store import collections

    async with speaking(app, tokens.ada) as ada:
        await add(ada, email="a@x.org", status="new")
        narrower = [LEADS[0], column("status", required=True, values=["open", "shut"]), *LEADS[2:]]
        await collections.update(db, world.operator, leads.id, columns=narrower)
        updated = await ask(ada, "record_update", collection="leads", id="1", body={"score": 1})
        assert updated["warnings"] == [{"column": "status", "message": 'expected one of open, shut; got "new"'}]


REFUSALS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("ada", "record_add", {"body": {"status": "pending", "score": "42", "notes": "x"}}, "UNPROCESSABLE",
        ('record rejected\n- column "status": expected one of new, contacted, won, lost; got "pending"\n'
        '- column "score": expected number; got "42"\n'
        '- column "notes": unknown column; declared columns are email, status, score, signed_up_at')),
    ("ada", "record_add", {"body": {}}, "UNPROCESSABLE", 'record rejected\n- column "status": required; missing'),
    ("ada", "record_add", {"body": '{"status": "new"}'}, "UNPROCESSABLE",
        'record rejected\n- body must be an object of columns and values; got "{\\"status\\": \\"new\\"}"'),
    ("ada", "record_add", {"body": {"status": "new"}, "idempotency_key": "k"}, "UNPROCESSABLE",
        'record rejected\n- unknown argument "idempotency_key"; record_add takes collection, body'),
    ("ada", "record_add", {"body": {"email": "one@x.org", "status": "new", "score": "x"}}, "UNPROCESSABLE",
        'record rejected\n- column "score": expected number; got "x"'),
    ("ada", "record_add", {}, "UNPROCESSABLE", "record rejected\n- body is required"),
    ("bob", "record_add", {"body": {"status": "new"}}, "FORBIDDEN", "collection leads may only be read; writing to it needs a write grant"),
    ("cyd", "record_add", {"body": {"status": "new"}}, "NOT_FOUND", "unknown collection leads"),
    ("foreign_agent", "record_add", {"body": {"status": "new"}}, "NOT_FOUND", "unknown collection leads"),
    ("ada", "record_update", {"id": 9, "body": {}}, "NOT_FOUND", "unknown record 9 in collection leads"),
    ("ada", "record_update", {"id": True, "body": {}}, "UNPROCESSABLE", "record rejected\n- id must be a record's id, like 12; got true"),
    ("ada", "record_update", {"id": 1, "body": {"status": None}}, "UNPROCESSABLE",
        'record rejected\n- column "status": required; got null'),
    ("ada", "record_update", {"id": 2, "body": {"email": "ONE@x.org"}}, "CONFLICT",
        'column "email": record 1 has the value "ONE@x.org" already, and it is unique'),
    ("bob", "record_update", {"id": 1, "body": {"score": 1}}, "FORBIDDEN", "collection leads may only be read"),
    ("cyd", "record_update", {"id": 1, "body": {"score": 1}}, "NOT_FOUND", "unknown collection leads"),
    ("ada", "record_remove", {"id": "01"}, "NOT_FOUND", "unknown record 01 in collection leads"),
    ("bob", "record_remove", {"id": 1}, "FORBIDDEN", "collection leads may only be read"),
    ("cyd", "record_remove", {"id": 1}, "NOT_FOUND", "unknown collection leads"),
    ("cyd", "record_list", {}, "NOT_FOUND", "unknown collection leads"),
    ("bob", "record_list", {"where": [], "since": "yesterday", "order": ["score", "desc"], "limit": "5", "offset": 0.5}, "UNPROCESSABLE",
        ("request rejected\n- where must be an object of columns and terms; got []\n"
        '- since must be an ISO 8601 datetime with a timezone, like 2026-11-30T08:00:00Z; got "yesterday"\n'
        '- order must be {"column": name, "direction": "asc" or "desc"}, or the text "name" or "name desc"; got ["score", "desc"]\n'
        '- limit must be a whole number; got "5"\n- offset must be a whole number; got 0.5')),
    ("bob", "record_list", {"where": {"status": "open", "size": 1}, "order": "size", "limit": 0, "offset": -1}, "UNPROCESSABLE",
        ("request rejected\n- limit must be from 1 to 100; got 0\n- offset must be 0 or more; got -1\n"
        '- column "status": expected one of new, contacted, won, lost; got "open"\n- column "size": unknown column')),
    ("bob", "record_list", {"order": "score sideways"}, "UNPROCESSABLE", 'got "score sideways"'),
    ("bob", "record_search", {"collection": None, "query": "x", "where": {"status": "new"}}, "UNPROCESSABLE", "where needs a collection"),
    ("cyd", "record_search", {"query": "x"}, "NOT_FOUND", "unknown collection leads"),
]  # fmt: skip


async def test_refusals_say_why_and_change_nothing(app: App, db: Database, leads: Row, tokens: Tokens) -> None:
    async with speaking(app, tokens.ada) as ada:
        await add(ada, email="one@x.org", status="new")
        await add(ada, email="two@x.org", status="new")
    before = await state(db)
    for who, tool, arguments, code, message in REFUSALS:
        async with speaking(app, getattr(tokens, who)) as client:
            answered = await refused(client, tool, **{"collection": leads.name, **arguments})
        assert answered[0] == code, (who, tool, arguments, answered)
        assert message in answered[1], (who, tool, arguments, answered)
    assert await state(db) == before


async def test_a_refusal_lists_its_problems_by_column(app: App, leads: Row, tokens: Tokens) -> None:
    async with speaking(app, tokens.ada) as ada:
        result = await ada.call_tool("record_add", {"collection": leads.name, "body": {"status": "new", "score": "1", "x": 1}})
    assert refusal(result)[0] == "UNPROCESSABLE"
    assert result.structured_content is not None
    assert (result.structured_content["status"], result.structured_content["problems"]) == (
        422,
        [
            {"column": "score", "message": 'expected number; got "1"'},
            {"column": "x", "message": "unknown column; declared columns are email, status, score, signed_up_at"},
        ],
    )
