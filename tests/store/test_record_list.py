import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import NotFound, Unprocessable
from models.kinds import SortDirection
from store import access, collections, record_list, records
from store.database import Database, Reader, Row
from store.record_list import RecordPage, parse_order
from store.record_order import Order
from tests.store.people import PEOPLE, add_people
from tests.store.tables import add_table, allow
from tests.world import World

BODIES: list[dict[str, Any]] = [
    {"name": "Cleo", "score": 10, "active": True, "due": "2026-11-30T08:00:00Z", "status": "won"},
    {"name": "adam", "score": 9.5, "active": False, "due": "2026-11-30T08:00:00.25Z", "status": "new"},
    {"name": "Bert", "score": -1, "due": "2025-01-01T00:00:00Z", "status": "new"},
    {"name": "zoe", "score": 9.5, "active": True, "status": "new"},
    {"bio": "nameless"},
]


def ids(page: RecordPage) -> list[str]:
    return [row.id for row in page.records]


async def listed(db: Database, world: World, **arguments: Any) -> list[str]:
    return ids(await record_list.list_records(db, world.operator, collection="people", **arguments))


async def touch_time(db: Database, number: int, at: datetime) -> None:
    async with db.write() as tx:
        await tx.execute("UPDATE artifacts SET updated_at = $2 WHERE number = $1", number, at)


@pytest.fixture
async def people(db: Database, world: World) -> Row:
    return await add_people(db, world.operator, BODIES)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, "12345"),
        ("id desc", "54321"),
        ("name", "23145"),
        (("name", SortDirection.DESC), "41325"),
        ({"column": "score"}, "32415"),
        ({"column": "score", "direction": "DESC"}, "12435"),
        ("active asc", "21435"),
        ("active desc", "14235"),
        ("due", "31245"),
        ("due desc", "21345"),
        ("status", "23415"),
        ("status desc", "12345"),
        ("created_at", "12345"),
        ("updated_at desc", "12345"),
        ("bio", "51234"),
    ],
)
async def test_orders_are_total_and_missing_values_come_last(db: Database, world: World, order: Any, expected: str) -> None:
    assert "".join(await listed(db, world, order=order)) == expected
    assert "".join(await listed(db, world, order=order, since=datetime(2000, 1, 1, tzinfo=UTC))) == expected


@pytest.mark.usefixtures("people")
async def test_pages_cover_everything_once_and_the_total_is_exact(db: Database, world: World) -> None:
    for narrowing in ({}, {"where": {"status": "new"}}, {"since": datetime(2000, 1, 1, tzinfo=UTC)}):
        whole = await record_list.list_records(db, world.operator, collection="people", order="name", **narrowing)
        seen = []
        for offset in range(0, whole.total + 2, 2):
            page = await record_list.list_records(
                db, world.operator, collection="people", order="name", limit=2, offset=offset, **narrowing
            )
            assert (page.total, page.hint) == (whole.total, None)
            seen += ids(page)
        assert seen == ids(whole)
        assert whole.total == len(seen) == (3 if "where" in narrowing else 5)
    far = await record_list.list_records(db, world.operator, collection="people", offset=10**30)
    assert far == RecordPage(5, [], None)


async def test_an_empty_table_lists_nothing_without_a_hint(db: Database, world: World) -> None:
    await add_table(db, world.operator)
    assert await record_list.list_records(db, world.operator, collection="leads") == RecordPage(0, [], None)


@pytest.mark.usefixtures("people")
async def test_since_is_inclusive_and_orders_by_update(db: Database, world: World) -> None:
    noon = datetime(2027, 1, 1, 12, tzinfo=UTC)
    for number, hours in ((1, 3), (2, 0), (3, 1), (4, 1)):
        await touch_time(db, number, noon + timedelta(hours=hours))
    assert await listed(db, world, since=noon) == ["2", "3", "4", "1"]
    assert await listed(db, world, since=noon + timedelta(microseconds=1)) == ["3", "4", "1"]
    assert await listed(db, world, since=noon, order="id desc") == ["4", "3", "2", "1"]
    assert await listed(db, world, since=noon, where={"status": "new"}, limit=1, offset=1) == ["3"]


@pytest.mark.usefixtures("people")
async def test_a_row_has_what_every_door_shows(db: Database, world: World) -> None:
    (row,) = (await record_list.list_records(db, world.operator, collection="people", where={"id": 2})).records
    assert (row.id, row.collection, row.display_path) == ("2", "people", f"org/{world.org}/collections/people/2")
    assert json.loads(row.body) == {**BODIES[1], "due": "2026-11-30T08:00:00.250000Z"}
    assert (row.version, row.created_by_kind, row.created_by_id, row.updated_by_name) == (1, "USER", world.operator.id, "Olga")


@pytest.mark.usefixtures("people")
async def test_removed_records_and_other_tables_are_not_listed(db: Database, world: World) -> None:
    await add_people(db, world.operator, [{"name": "adam"}], name="others")
    await records.remove(db, world.operator, "people", "2")
    page = await record_list.list_records(db, world.operator, collection="people", where={"name": "adam"})
    assert (page.total, page.records) == (0, [])
    assert await listed(db, world) == ["1", "3", "4", "5"]
    assert (await record_list.list_records(db, world.operator, collection="others", where={"name": "adam"})).total == 1


async def test_every_role_sees_what_it_may(db: Database, world: World, people: Row) -> None:
    await allow(db, world.operator, people, world.writers, "READ")
    await allow(db, world.operator, people, world.bob, "NONE")
    await allow(db, world.operator, people, world.loner, "WRITE")
    for caller in (world.operator, world.ada, world.loner):
        assert (await record_list.list_records(db, caller, collection="people")).total == 5
    for caller in (world.bob, world.cyd, world.stranger, world.foreign_agent):
        with pytest.raises(NotFound, match=r"^unknown collection people$"):
            await record_list.list_records(db, caller, collection="people")


@pytest.mark.usefixtures("people")
async def test_every_problem_of_a_request_is_told_at_once(db: Database, world: World) -> None:
    with pytest.raises(Unprocessable) as refused:
        await record_list.list_records(
            db,
            world.operator,
            collection="people",
            where={"nope": 1, "score": "x"},
            since=datetime(2026, 1, 1),  # noqa: DTZ001  # the missing zone is the point
            order="skills",
            limit=0,
            offset=-1,
        )
    columns = ", ".join(column["name"] for column in PEOPLE)
    assert refused.value.message.splitlines() == [
        "request rejected",
        "- limit must be from 1 to 100; got 0",
        "- offset must be 0 or more; got -1",
        f'- column "nope": unknown column; where takes id and the declared columns, which are {columns}',
        '- column "score": expected number; got "x"',
        "- since must have a timezone (Z or an offset)",
        '- column "skills": an array has no order; order takes id, created_at, updated_at, name, bio, status, score, active, due',
    ]
    assert refused.value.code == "UNPROCESSABLE"


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_limits_are_from_1_to_100(db: Database, world: World, limit: int) -> None:
    with pytest.raises(Unprocessable, match=f"limit must be from 1 to 100; got {limit}"):
        await listed(db, world, limit=limit)
    assert len(await listed(db, world, limit=100)) == 5


@pytest.mark.usefixtures("people")
async def test_since_beyond_the_calendar_is_refused(db: Database, world: World) -> None:
    early = datetime(1, 1, 1, tzinfo=datetime.fromisoformat("2026-01-01T00:00:00+05:00").tzinfo)
    with pytest.raises(Unprocessable, match="since must lie within the years 1 to 9999"):
        await listed(db, world, since=early)


@pytest.mark.parametrize(
    ("given_order", "parsed"),
    [
        (None, None),
        ("name", Order("name")),
        (" name  DESC ", Order("name", SortDirection.DESC)),
        ("name asc", Order("name")),
        ({"column": "name"}, Order("name")),
        ({"column": "name", "direction": "desc"}, Order("name", SortDirection.DESC)),
        ({"column": "name", "direction": None}, Order("name")),
        (("name", SortDirection.DESC), Order("name", SortDirection.DESC)),
        (["name", "desc"], Order("name", SortDirection.DESC)),
    ],
)
def test_an_order_has_several_forms(given_order: Any, parsed: Order | None) -> None:
    assert parse_order(given_order) == parsed


@pytest.mark.parametrize(
    "order", ["", "  ", "name sideways", "a b c", {}, {"column": 1}, {"column": "a", "x": 1}, {"direction": "asc"}, 5, [], True]
)
def test_other_orders_are_refused(order: Any) -> None:
    with pytest.raises(Unprocessable, match=r'order must be \{"column": name'):
        parse_order(order)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda e: st.lists(e) | st.dictionaries(st.text(), e), max_leaves=5)
)
def test_any_json_is_an_order_or_refused(order: Any) -> None:
    try:
        assert isinstance(parse_order(order), Order | None)
    except Unprocessable as refused:
        assert refused.problems  # noqa: PT017  # most inputs raise, some need not


@pytest.mark.usefixtures("people")
async def test_an_unknown_column_in_order_is_refused(db: Database, world: World) -> None:
    with pytest.raises(Unprocessable, match='column "nope": unknown column; order takes id, created_at, updated_at, name'):
        await listed(db, world, order="nope")


async def test_a_collections_records_with_a_query_are_ranked_unless_ordered(db: Database, world: World) -> None:
    bios = ["apple", "apple apple pear", "pear", "pineapple"]
    await add_people(db, world.operator, [{"name": str(n), "bio": bio} for n, bio in enumerate(bios)])
    row = await collections.get(db, world.operator, name="people")
    assert row is not None

    async def of(**arguments: Any) -> tuple[int, list[str]]:
        page = await record_list.for_collection(db, world.operator, row, **arguments)
        return page.total, ids(page)

    assert await of(query="apple") == (3, ["2", "1", "4"])
    assert await of(query="apple", limit=1, offset=1) == (3, ["1"])
    assert await of(query="apple", offset=7) == (3, [])
    assert await of(query="apple", order="id desc") == (3, ["4", "2", "1"])
    assert await of(query="apple", where={"bio": "pear"}) == (1, ["2"])
    assert await of(query="nothing here") == (0, [])
    assert await of() == (4, ["1", "2", "3", "4"])
    with pytest.raises(Unprocessable, match="the query is empty"):
        await of(query=" ")


@pytest.mark.usefixtures("people")
async def test_a_list_costs_two_statements_and_a_collections_page_one(db: Database, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with db.read() as reader:
        row = await access.for_read(reader, world.operator, "people")
    asked: list[str] = []
    rows, one, value = Reader.rows, Reader.row, Reader.value

    def counted(method: Any) -> Any:
        async def call(self: Reader, statement: str, *arguments: Any) -> Any:
            asked.append(statement)
            return await method(self, statement, *arguments)

        return call

    for name, method in (("rows", rows), ("row", one), ("value", value)):
        monkeypatch.setattr(Reader, name, counted(method))
    await record_list.list_records(db, world.operator, collection="people", where={"status": "new"}, limit=1)
    assert len(asked) == 2
    await record_list.for_collection(db, world.operator, row, where={"status": "new"}, limit=1)
    await record_list.for_collection(db, world.operator, row)
    assert len(asked) == 4
