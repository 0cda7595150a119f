from datetime import UTC, datetime
from typing import Any

import pytest

from store import record_list
from store.database import Database
from tests.store.people import add_people
from tests.store.tables import add_table, column
from tests.world import World

CHANGED = datetime(2026, 11, 30, 8, tzinfo=UTC)
COLUMNS = (
    "Columns: name (text, unique); bio (text); status (text, one of new, won, lost); score (number); active (boolean); due (datetime); "
    "skills (array); labels (array, items of red, green)."
)
MATCHING = (
    "How where matches: text by substring and, when the term has no digit, by similar spelling; text with values exactly; number and "
    "datetime exactly; boolean and id exactly; array by an item's substring and, when the term has no digit, its similar spelling; "
    'array with values by an exact item; null by a missing value. Operators ask exactly: {"eq": v}, {"ne": v}, {"in": [v, …]}, '
    '{"missing": true} on every column; {"contains": v}, {"startsWith": v} on text and array items; {"gt": v}, {"gte": v}, {"lt": v}, '
    '{"lte": v} on numbers and datetimes. record_search matches words in the values.'
)
SINCE = "since keeps what was created or updated at or after that time; to check whether a record exists use"
TOTAL = "A larger limit does not change this answer: the total counts every match."


async def hint(db: Database, world: World, collection: str = "people", **arguments: Any) -> list[str]:
    page = await record_list.list_records(db, world.operator, collection=collection, **arguments)
    assert (page.total, page.records) == (0, [])
    return (page.hint or "").splitlines()


@pytest.fixture
async def two(db: Database, world: World) -> None:
    await add_people(db, world.operator, [{"name": "a"}, {"name": "b"}])
    async with db.write() as tx:
        await tx.execute("UPDATE artifacts SET updated_at = $1", CHANGED)


@pytest.mark.usefixtures("two")
async def test_a_where_without_match_is_explained(db: Database, world: World) -> None:
    assert await hint(db, world, where={"status": "won", "score": {"gte": 3}}) == [
        'No record matches where {"status":"won","score":{"gte":3}}.',
        "The collection people holds 2 records; the newest change was at 2026-11-30T08:00:00Z.",
        COLUMNS,
        TOTAL,
        MATCHING,
    ]


@pytest.mark.usefixtures("two")
async def test_a_since_without_match_is_explained(db: Database, world: World) -> None:
    assert await hint(db, world, where={"status": "won"}, since=datetime(2027, 1, 1, tzinfo=UTC)) == [
        'No record matches where {"status":"won"} and since 2027-01-01T00:00:00Z.',
        "The collection people holds 2 records; the newest change was at 2026-11-30T08:00:00Z.",
        COLUMNS,
        TOTAL,
        f'{SINCE} where {{"name": {{"eq": v}}}} on the unique column name, or record_search.',
    ]


async def test_an_empty_table_without_unique_column_is_explained(db: Database, world: World) -> None:
    await add_table(db, world.operator, "plain", [column("word", required=True)])
    assert await hint(db, world, "plain", since=datetime(2027, 1, 1, tzinfo=UTC)) == [
        "No record matches since 2027-01-01T00:00:00Z.",
        "The collection plain holds no records.",
        "Columns: word (text, required).",
        TOTAL,
        f"{SINCE} record_search.",
    ]


@pytest.mark.usefixtures("two")
async def test_an_offset_beyond_the_end_and_a_list_that_was_not_narrowed_have_no_hint(db: Database, world: World) -> None:
    beyond = await record_list.list_records(db, world.operator, collection="people", where={"name": "a"}, offset=5)
    assert (beyond.total, beyond.records, beyond.hint) == (1, [], None)
    async with db.write() as tx:
        await tx.execute("UPDATE artifact_collections SET record_count = 0")
        await tx.execute("UPDATE artifacts SET deleted_at = now()")
    assert await hint(db, world) == []
    assert await hint(db, world, where={}) == []


@pytest.mark.usefixtures("two")
async def test_an_empty_page_beyond_no_match_still_has_its_hint(db: Database, world: World) -> None:
    assert (await hint(db, world, where={"name": "zzz"}, offset=5))[0] == 'No record matches where {"name":"zzz"}.'
