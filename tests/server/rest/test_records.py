import json

import pytest

from store import records
from store.database import Database, Row
from tests.server.rest.conftest import Api, columns_of, refused
from tests.store.statements import counted
from tests.store.tables import allow, everything
from tests.world import World

LEAD = {"email": "ann@example.org", "status": "new", "score": 3, "signed_up_at": "2026-11-30T10:00:00+02:00"}


def at(leads: Row, tail: str = "") -> str:
    return f"/api/collections/{leads.id}/records{tail}"


async def test_a_record_is_added_read_changed_and_removed(api: Api, world: World, leads: Row) -> None:
    added = await api("POST", at(leads), json={"body": LEAD})
    assert added.status_code == 201
    assert added.headers["location"] == at(leads, "/1")
    record = added.json()["record"]
    assert (added.json()["merged"], added.json()["note"]) == (None, None)
    assert record["body"] == {**LEAD, "signed_up_at": "2026-11-30T08:00:00Z"}
    assert (record["id"], record["collection"], record["version"]) == ("1", "leads", 1)
    assert record["display_path"] == f"org/{world.org}/collections/leads/1"
    assert record["updated_by"] == {"kind": "user", "id": world.operator.id, "name": "Olga"}

    assert (await api("GET", at(leads, "/1"))).json() == record
    changed = (await api("PATCH", at(leads, "/1"), json={"body": {"score": None, "status": "won"}})).json()
    assert changed["warnings"] == []
    assert (changed["record"]["version"], "score" in changed["record"]["body"]) == (2, False)
    gone = await api("DELETE", at(leads, "/1"))
    assert (gone.status_code, gone.content) == (204, b"")
    assert refused(await api("GET", at(leads, "/1")), "NOT_FOUND", 404)["message"] == "unknown record 1 in collection leads"


async def test_a_unique_value_merges_and_says_into_which(api: Api, leads: Row) -> None:
    await api("POST", at(leads), json={"body": LEAD})
    merged = (await api("POST", at(leads), json={"body": {"email": " ANN@example.org", "status": "won"}})).json()
    assert (merged["merged"], merged["note"]) == ("1", "merged into existing record 1")
    assert merged["record"]["body"]["score"] == 3


async def test_a_rejected_record_has_every_problem(api: Api, db: Database, leads: Row) -> None:
    before = await everything(db)
    told = refused(await api("POST", at(leads), json={"body": {"status": "pending", "score": "42", "notes": "x"}}), "UNPROCESSABLE", 422)
    assert told["message"] == (
        'record rejected\n- column "status": expected one of new, contacted, won, lost; got "pending"\n'
        '- column "score": expected number; got "42"\n'
        '- column "notes": unknown column; declared columns are email, status, score, signed_up_at'
    )
    assert [problem["column"] for problem in told["problems"]] == ["status", "score", "notes"]
    assert await everything(db) == before


async def test_numbers_pass_unchanged_in_both_directions(api: Api, leads: Row) -> None:
    huge = 2**80 + 1
    await api("POST", at(leads), json={"body": {"email": "a@b", "status": "new", "score": huge}})
    assert json.loads((await api("GET", at(leads, "/1"))).text)["body"]["score"] == huge
    for number in ("NaN", "1e999", "-Infinity"):
        text = f'{{"body": {{"email": "c@d", "status": "new", "score": {number}}}}}'
        response = await api("POST", at(leads), content=text, headers={"Content-Type": "application/json"})
        assert columns_of(response) == ["score"]


async def test_a_list_narrows_orders_and_pages(api: Api, db: Database, world: World, leads: Row) -> None:
    for number, status in enumerate(["new", "won", "new", "lost"]):
        await records.add(db, world.operator, "leads", {"email": f"p{number}@example.org", "status": status, "score": number})
    found = await api(
        "GET", at(leads), params={"where": json.dumps({"status": "new"}), "order": '{"column": "score", "direction": "desc"}'}
    )
    page = found.json()
    assert page["total"] == 2
    assert [record["id"] for record in page["records"]] == ["3", "1"]
    assert [column["name"] for column in page["columns"]] == ["email", "status", "score", "signed_up_at"]
    assert "hint" not in page
    paged = (await api("GET", at(leads), params={"order": "score desc", "limit": "2", "offset": "1"})).json()
    assert (paged["total"], [record["id"] for record in paged["records"]]) == (4, ["3", "2"])
    searched = (await api("GET", at(leads), params={"query": "p2@example.org"})).json()
    assert [record["id"] for record in searched["records"]] == ["3"]
    nothing = (await api("GET", at(leads), params={"since": "2099-01-01T00:00:00Z"})).json()
    assert (nothing["total"], nothing["records"]) == (0, [])
    assert nothing["hint"].startswith("No record matches since 2099-01-01T00:00:00Z.")


async def test_a_plus_sign_that_was_not_encoded_is_understood(api: Api, leads: Row) -> None:
    response = await api("GET", at(leads, "?since=2026-11-30T10:00:00+02:00"))
    assert response.json()["hint"].startswith("No record matches since 2026-11-30T08:00:00Z.")


@pytest.mark.parametrize(
    ("params", "columns"),
    [
        ({"limit": "0"}, [None]),
        ({"limit": "ten", "offset": "1.5", "colour": "red"}, ["colour", "limit", "offset"]),
        ({"where": "{", "since": "yesterday", "query": "\x00"}, ["query", "since", "where"]),
        ({"where": '{"nope": 1, "status": "pending"}', "order": "nope"}, ["nope", "nope", "status"]),
        ({"order": '["a"', "since": "2026-11-30T00:00:00"}, ["order", "since"]),
        ({"offset": "-1"}, [None]),
    ],
)
async def test_everything_wrong_with_a_query_string_is_told(api: Api, leads: Row, params: dict[str, str], columns: list[str]) -> None:
    response = await api("GET", at(leads), params=params)
    refused(response, "UNPROCESSABLE", 422)
    assert sorted(columns_of(response), key=str) == columns


async def test_a_parameter_given_twice_is_refused(api: Api, leads: Row) -> None:
    response = await api("GET", at(leads, "?limit=1&limit=2"))
    assert response.json()["problems"] == [{"column": "limit", "message": "given more than once"}]


async def test_a_batch_is_all_or_nothing(api: Api, db: Database, leads: Row) -> None:
    good, bad = {"email": "a@b", "status": "new"}, {"email": "c@d", "status": "no"}
    before = await everything(db)
    trial = await api("POST", at(leads, "/batch"), json={"bodies": [good], "dry_run": True})
    assert (trial.status_code, trial.json()) == (200, {"added": 1, "merged": 0, "records": [], "problems": []})
    failed = await api("POST", at(leads, "/batch"), json={"bodies": [good, bad]})
    assert (failed.status_code, failed.json()["added"]) == (200, 0)
    assert [(problem["index"], problem["column"]) for problem in failed.json()["problems"]] == [(1, "status")]
    assert await everything(db) == before
    done = await api("POST", at(leads, "/batch"), json={"bodies": [good, {**good, "score": 1}]})
    assert (done.status_code, done.json()["added"], done.json()["merged"]) == (201, 1, 1)
    assert [record["body"]["score"] for record in done.json()["records"]] == [1, 1]


async def test_an_idempotency_key_answers_again_as_at_first(api: Api, leads: Row) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api("POST", at(leads), json={"body": LEAD}, headers=headers)
    again = await api("POST", at(leads), json={"body": LEAD}, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    refused(await api("POST", at(leads), json={"body": {**LEAD, "score": 4}}, headers=headers), "CONFLICT", 409)


async def test_clearing_leaves_the_table_and_its_counter(api: Api, leads: Row) -> None:
    await api("POST", at(leads), json={"body": LEAD})
    assert (await api("DELETE", at(leads))).status_code == 204
    assert (await api("GET", at(leads))).json()["total"] == 0
    assert (await api("POST", at(leads), json={"body": LEAD})).json()["record"]["id"] == "2"


async def test_agents_have_what_their_grants_say(api: Api, db: Database, world: World, leads: Row) -> None:
    await allow(db, world.operator, leads, world.ada, "READ")
    await allow(db, world.operator, leads, world.cyd, "WRITE")
    await api("POST", at(leads), json={"body": LEAD})
    before = await everything(db)
    assert (await api("GET", at(leads), "ada")).json()["total"] == 1
    told = refused(await api("POST", at(leads), "ada", json={"body": LEAD}), "FORBIDDEN", 403)
    assert told["message"] == "collection leads may only be read; writing to it needs a write grant"
    for who in ("bob", "loner", "stranger", "foreign_agent"):
        refused(await api("GET", at(leads), who), "NOT_FOUND", 404)
        refused(await api("PATCH", at(leads, "/1"), who, json={"body": {"score": 1}}), "NOT_FOUND", 404)
    refused(await api("DELETE", at(leads), "cyd"), "FORBIDDEN", 403)
    assert await everything(db) == before
    written = (await api("PATCH", at(leads, "/1"), "cyd", json={"body": {"score": 1}})).json()["record"]
    assert written["updated_by"] == {"kind": "agent", "id": world.cyd.id, "name": "Cyd"}


async def test_a_page_costs_the_same_however_long(api: Api, db: Database, world: World, leads: Row) -> None:
    costs = []
    for number in range(12):
        await records.add(db, world.operator, "leads", {"email": f"p{number}@example.org", "status": "new"})
        if number in {0, 11}:
            with counted() as sent:
                await api("GET", at(leads))
            costs.append(len(sent))
    assert costs[0] == costs[1]


@pytest.mark.parametrize("text", ["null", "[]", "", "{", "{}", '{"body": {}, "id": 3}'])
async def test_a_body_of_another_form_is_refused(api: Api, leads: Row, text: str) -> None:
    response = await api("POST", at(leads), content=text, headers={"Content-Type": "application/json"})
    refused(response, "UNPROCESSABLE", 422)
