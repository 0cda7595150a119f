from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.caller import Caller
from models.errors import MunimentError, NotFound, Unprocessable
from store import collections, record_list, record_search, records
from store.database import Database, Row
from tests.store.people import PEOPLE, add_people
from tests.store.tables import add_table, allow
from tests.world import World


async def hits(db: Database, caller: Caller, query: str, collection: str | None = "people", **more: Any) -> list[str]:
    return [row.id for row in await record_search.search(db, caller, query=query, collection=collection, **more)]


BIOS = [
    "Alpha beta gamma",
    "alpha gamma beta beta",
    "gamma only, order ABC-123-XYZ",
    "John Smith, CAFÉ owner",
    "50% off",
]


@pytest.fixture
async def people(db: Database, world: World) -> Row:
    return await add_people(db, world.operator, [{"name": f"person {n}", "bio": bio, "active": True} for n, bio in enumerate(BIOS, 10)])


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("alpha", {"1", "2"}),
        ("ALPHA beta", {"1", "2"}),
        ('"beta gamma"', {"1"}),
        ('"gamma beta"', {"2"}),
        ("gamma -alpha", {"3"}),
        ("only OR smith", {"3", "4"}),
        ("bc-123-x", {"3"}),
        ("smit", {"4"}),
        ("smiht", set()),
        ("cafe\u0301", {"4"}),
        ("café", {"4"}),
        ("0%", {"5"}),
        ("%", {"5"}),
        ("_", set()),
        ("-alpha", {"3", "4", "5"}),
        ("3", {"3", "4"}),
        ("john-smith", {"4"}),
        ("-john-smith alpha", {"1", "2"}),
        ("abc xyz", {"3"}),
        ("order/abc", {"3"}),
        ("bio", set()),
        ("name", set()),
        ("true", {"1", "2", "3", "4", "5"}),
        ("-", set()),
        ("mit mit", set()),
    ],
)
async def test_the_query_grammar(db: Database, world: World, query: str, expected: set[str]) -> None:
    assert set(await hits(db, world.operator, query)) == expected


@pytest.mark.usefixtures("people")
async def test_a_records_id_is_no_value(db: Database, world: World) -> None:
    assert await hits(db, world.operator, "5 off") == []
    # Record 3 has it in a value, "person 12".
    assert await hits(db, world.operator, "2") == ["3"]


async def test_ranks_words_and_similarity_then_the_latest(db: Database, world: World) -> None:
    await add_people(
        db,
        world.operator,
        [
            {"name": "a", "bio": "rust once"},
            {"name": "b", "bio": "rust rust"},
            {"name": "c", "bio": "rust once"},
            {"name": "d", "bio": "rusty smiths"},
        ],
    )
    async with db.write() as tx:
        await tx.execute("UPDATE artifacts SET updated_at = $1 WHERE number = 3", datetime(2027, 1, 1, tzinfo=UTC))
    assert await hits(db, world.operator, "rust") == ["2", "3", "1", "4"]
    assert await hits(db, world.operator, "rust", limit=2) == ["2", "3"]
    assert await hits(db, world.operator, "rust", where={"bio": "once"}) == ["3", "1"]
    await records.update(db, world.operator, "people", "4", {"bio": "rust smith"})
    await records.update(db, world.operator, "people", "1", {"bio": "rust smiht"})
    assert await hits(db, world.operator, "rust", where={"bio": "smith"}) == ["4", "1"]


async def test_similar_items_of_an_array_rank_too(db: Database, world: World) -> None:
    bodies = [{"name": "a", "bio": "x", "skills": ["gardner", "cook"]}, {"name": "b", "bio": "x", "skills": ["cook", "garden"]}]
    await add_people(db, world.operator, bodies)
    assert await hits(db, world.operator, "x", where={"skills": "garden"}) == ["2", "1"]


async def test_without_a_collection_every_readable_one_is_searched(db: Database, world: World, people: Row) -> None:
    second = await add_people(db, world.operator, [{"name": "alpha"}], name="second")
    own = await add_table(db, world.operator, "own", PEOPLE, guild=world.writers)
    await records.add(db, world.operator, "own", {"name": "alpha"})
    await allow(db, world.operator, people, world.readers, "READ")
    await allow(db, world.operator, second, world.readers, "WRITE")
    await allow(db, world.operator, second, world.ada, "READ")

    async def where_found(caller: Caller) -> set[tuple[str, str]]:
        found = await record_search.search(db, caller, query="alpha")
        return {(row.collection, row.id) for row in found}

    in_people, in_second, in_own = {("people", "1"), ("people", "2")}, {("second", "1")}, {("own", "1")}
    assert await where_found(world.operator) == in_people | in_second | in_own
    assert await where_found(world.cyd) == in_people | in_second
    assert await where_found(world.ada) == in_second | in_own
    await allow(db, world.operator, own, world.ada, "NONE")
    assert await where_found(world.ada) == in_second
    assert await where_found(world.loner) == set()
    assert await where_found(world.stranger) == set()
    assert await where_found(world.foreign_agent) == set()


@pytest.mark.usefixtures("people")
async def test_an_unreadable_collection_does_not_exist(db: Database, world: World) -> None:
    for caller in (world.ada, world.loner, world.stranger, world.foreign_agent):
        with pytest.raises(NotFound, match=r"^unknown collection people$"):
            await hits(db, caller, "alpha")
    with pytest.raises(NotFound, match=r"^unknown collection nope$"):
        await hits(db, world.operator, "alpha", "nope")


@pytest.mark.usefixtures("people")
async def test_every_problem_of_a_search_is_told_at_once(db: Database, world: World) -> None:
    with pytest.raises(Unprocessable) as refused:
        await hits(db, world.operator, " ", None, where={"bio": "x"}, limit=101)
    assert refused.value.message.splitlines() == [
        "request rejected",
        "- limit must be from 1 to 100; got 101",
        "- where needs a collection, whose columns say how its terms match",
        "- the query is empty; give one or more words to look for",
    ]
    with pytest.raises(Unprocessable, match="contains a NUL character"):
        await hits(db, world.operator, "a\x00", None)
    with pytest.raises(Unprocessable, match="the query has 10,000 characters; at most 4,000 are allowed"):
        await hits(db, world.operator, "x" * 10_000)


async def test_removed_records_are_not_found(db: Database, world: World, people: Row) -> None:
    await records.remove(db, world.operator, people.name, "1")
    assert await hits(db, world.operator, "alpha") == ["2"]


QUERIES = [
    '"unbalanced',
    "a:b & !",
    "'; drop table",
    "\\",
    "!!! ??",
    "\N{FOX FACE}",
    "- " * 200,
    "(" * 300,
    ":*",
    "a <-> b",
    "<2>",
    "\u200b",
    "İ",
    "%_\\",
]
GRAMMAR = st.text(st.sampled_from("ab -\"':!&|()*<>\\%_\n\t\u0301İß0") | st.characters(), max_size=60)


@pytest.mark.usefixtures("people")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_any_query_answers_or_is_refused(db: Database, world: World, data: st.DataObject) -> None:
    query = data.draw(st.sampled_from(QUERIES) | GRAMMAR)
    term = data.draw(GRAMMAR)
    for arguments in ({"collection": "people", "where": {"bio": term, "skills": term}}, {}):
        try:
            found = await record_search.search(db, world.operator, query=query, **arguments)
            assert len(found) <= 5
        except MunimentError as refused:
            assert refused.code == "UNPROCESSABLE"  # noqa: PT017  # most inputs answer, some are refused


@pytest.mark.usefixtures("people")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.sampled_from('alpbetgmoh 1-"'), min_size=1, max_size=8))
async def test_a_search_finds_what_a_collections_list_with_the_query_finds(db: Database, world: World, query: str) -> None:
    if not query.strip():
        return
    table = await _row(db, world)
    page = await record_list.for_collection(db, world.operator, table, query=query)
    assert [row.id for row in page.records] == await hits(db, world.operator, query)
    assert page.total == len(page.records)


async def _row(db: Database, world: World) -> Row:
    found = await collections.get(db, world.operator, name="people")
    assert found is not None
    return found


async def test_what_only_has_the_token_in_it_follows_the_words_where_there_is_room(db: Database, world: World) -> None:
    bios = ["alphabet", "alpha", "Alpha and alpha", "the ALPHABETS", "alphaé", "none"]
    await add_people(db, world.operator, [{"name": f"p{n}", "bio": bio, "active": True} for n, bio in enumerate(bios, 10)])
    assert await hits(db, world.operator, "alpha") == ["3", "2", "1", "4", "5"]
    assert await hits(db, world.operator, "ALPHA", limit=3) == ["3", "2", "1"]
    assert await hits(db, world.operator, "alpha", limit=2) == ["3", "2"]
    assert await hits(db, world.operator, "alpha", None, limit=1) == ["3"]
    assert await hits(db, world.operator, "PHAÉ") == ["5"]
