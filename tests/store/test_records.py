import json
from typing import Any

import pytest

from models.errors import Conflict, LimitExceeded, NotFound, Problem, Unprocessable, VersionConflict
from models.limits import RECORDS_PER_COLLECTION
from store import collections, records
from store.database import Database, Row
from tests.store.tables import add_table, bodies, column, counters, everything, trail
from tests.world import World

REJECTED = """record rejected
- column "status": expected one of new, contacted, won, lost; got "pending"
- column "score": expected number; got "42"
- column "notes": unknown column; declared columns are email, status, score, signed_up_at"""


pytestmark = pytest.mark.usefixtures("leads")


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    return await add_table(db, world.operator)


async def add(db: Database, world: World, **body: Any) -> Row:
    return (await records.add(db, world.operator, "leads", {"status": "new", **body})).record


async def test_a_record_is_stored_with_its_change_and_counters(db: Database, world: World, leads: Row) -> None:
    added = await records.add(
        db, world.operator, "leads", {"email": "a@x.org", "status": "new", "signed_up_at": "2026-11-30T10:00:00+02:00"}
    )
    record = added.record
    assert (added.merged, added.note) == (None, None)
    assert (record.id, record.collection, record.collection_id, record.version) == ("1", "leads", leads.id, 1)
    assert record.display_path == f"org/{world.org}/collections/leads/1"
    assert json.loads(record.body) == {"email": "a@x.org", "status": "new", "signed_up_at": "2026-11-30T08:00:00Z"}
    who = ("USER", world.operator.id, "Olga")
    assert (record.created_by_kind, record.created_by_id, record.created_by_name) == who
    assert (record.updated_by_kind, record.updated_by_id, record.updated_by_name) == who
    assert record.created_at == record.updated_at
    assert await counters(db, leads) == (2, 1)
    assert await trail(db, world.org) == [("CREATE", "leads", 1, "leads", "Olga"), ("CREATE", "leads/1", 1, "leads", "Olga")]
    assert await records.get(db, world.operator, "leads", "1") == record


async def test_every_problem_is_told_and_nothing_written(db: Database, world: World) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await records.add(db, world.operator, "leads", {"status": "pending", "score": "42", "notes": "x"})
    assert refused.value.message == REJECTED
    assert [problem.column for problem in refused.value.problems] == ["status", "score", "notes"]
    assert await everything(db) == before
    assert (await add(db, world)).id == "1"


@pytest.mark.parametrize("body", [None, 5, "x", [], [{}], True])
async def test_a_body_is_an_object(db: Database, world: World, body: Any) -> None:
    with pytest.raises(Unprocessable, match="record rejected\n- body must be an object of columns and values; got"):
        await records.add(db, world.operator, "leads", body)


async def test_null_of_an_optional_column_counts_as_absent(db: Database, world: World) -> None:
    assert json.loads((await add(db, world, score=None)).body) == {"status": "new"}


@pytest.mark.parametrize("sent", ["  CAFE\u0301@X.org ", "café@x.org", "\u00a0CAFÉ@x.ORG\u2003"])
async def test_the_same_unique_value_merges(db: Database, world: World, leads: Row, sent: str) -> None:
    await add(db, world, email="café@x.org", score=1, signed_up_at="2026-01-01T00:00:00Z")
    merged = await records.add(db, world.operator, "leads", {"email": sent, "status": "won", "signed_up_at": None})
    assert (merged.merged, merged.note) == ("1", "merged into existing record 1")
    assert json.loads(merged.record.body) == {"email": sent, "status": "won", "score": 1}
    assert (merged.record.id, merged.record.version) == ("1", 2)
    assert await counters(db, leads) == (2, 1)
    assert (await trail(db, world.org))[1:] == [
        ("CREATE", "leads/1", 1, "leads", "Olga"),
        ("UPDATE", "leads/1", 2, "leads/1", "Olga"),
    ]
    assert (await add(db, world, email="other")).id == "2"


async def test_an_add_is_validated_whole_before_it_may_merge(db: Database, world: World) -> None:
    await add(db, world, email="a")
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await records.add(db, world.operator, "leads", {"email": "A"})
    assert refused.value.problems == (Problem("status", "required; missing"),)
    assert await everything(db) == before


async def test_unique_numbers_are_one_by_value(db: Database, world: World) -> None:
    await add_table(db, world.operator, "parts", [column("number", "number", unique=True)])
    values = (1, 1.0, 1e0, 10**300, 1e300, -0.0, 0, 2**53 + 1, 2**53)
    added = [await records.add(db, world.operator, "parts", {"number": value}) for value in values]
    assert [item.record.id for item in added] == ["1", "1", "1", "2", "2", "3", "3", "4", "5"]
    assert [item.merged for item in added] == [None, "1", "1", None, "2", None, "3", None, None]
    assert json.loads(added[7].record.body) == {"number": 9007199254740993}


async def test_a_blank_unique_text_has_no_identity(db: Database, world: World) -> None:
    assert [(await add(db, world, email=blank)).id for blank in ("", "  ", "\u2003")] == ["1", "2", "3"]


async def test_a_patch_keeps_what_it_does_not_name_and_null_clears(db: Database, world: World) -> None:
    await add(db, world, email="a", score=1)
    updated = await records.update(db, world.operator, "leads", "1", {"score": None, "status": "won"})
    assert (json.loads(updated.record.body), updated.record.version, updated.warnings) == ({"email": "a", "status": "won"}, 2, [])
    assert (await trail(db, world.org))[-1] == ("UPDATE", "leads/1", 2, "leads/1", "Olga")


async def test_a_patch_is_refused_with_every_problem(db: Database, world: World) -> None:
    await add(db, world, email="a")
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await records.update(db, world.operator, "leads", 1, {"status": None, "score": True, "x": 1})
    assert refused.value.problems == (
        Problem("status", "required; got null"),
        Problem("score", "expected number; got true"),
        Problem("x", "unknown column; declared columns are email, status, score, signed_up_at"),
    )
    assert await everything(db) == before


async def test_moving_onto_another_records_unique_value_names_it(db: Database, world: World) -> None:
    await add(db, world, email="a")
    await add(db, world, email="b")
    before = await everything(db)
    with pytest.raises(Conflict) as refused:
        await records.update(db, world.operator, "leads", "2", {"email": " A "})
    assert refused.value.message == 'column "email": record 1 has the value " A " already, and it is unique'
    assert await everything(db) == before
    await records.update(db, world.operator, "leads", "2", {"email": "B"})
    await records.remove(db, world.operator, "leads", "1")
    assert (await records.update(db, world.operator, "leads", "2", {"email": "a"})).record.version == 3


@pytest.mark.parametrize("expected", [-1, 2**31])
async def test_what_is_no_version_is_refused_with_the_body(db: Database, world: World, expected: int) -> None:
    await add(db, world)
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await records.update(db, world.operator, "leads", "1", {"score": "1"}, expected_version=expected)
    assert [(problem.column, problem.message) for problem in refused.value.problems] == [
        ("score", 'expected number; got "1"'),
        ("expectedVersion", f"must be a version, or 0 for none; got {expected}"),
    ]
    assert await everything(db) == before


async def test_expected_version(db: Database, world: World) -> None:
    await add(db, world, score=1)
    assert (await records.update(db, world.operator, "leads", "1", {"score": 2}, expected_version=1)).record.version == 2
    before = await everything(db)
    for stale in (0, 1, 3):
        with pytest.raises(VersionConflict) as refused:
            await records.update(db, world.operator, "leads", "1", {"score": 3}, expected_version=stale)
        assert refused.value.extensions == {"currentVersion": 2}
    with pytest.raises(VersionConflict):
        await records.update(db, world.operator, "leads", "1", {"score": 3}, expected_version=1)
    assert (await records.update(db, world.operator, "leads", "1", {"score": 2.0}, expected_version=1)).record.version == 2
    assert await everything(db) == before
    assert (await records.update(db, world.operator, "leads", "1", {"score": 2})).record.version == 3


async def test_a_removed_record_is_gone_and_its_id_never_comes_back(db: Database, world: World, leads: Row) -> None:
    await add(db, world, email="a")
    assert await records.remove(db, world.operator, "leads", "1") == "1"
    assert await records.get(db, world.operator, "leads", "1") is None
    assert await counters(db, leads) == (2, 0)
    assert (await trail(db, world.org))[-1] == ("DELETE", "leads/1", 2, "leads/1", "Olga")
    for write in (records.remove(db, world.operator, "leads", "1"), records.update(db, world.operator, "leads", "1", {})):
        with pytest.raises(NotFound, match="unknown record 1 in collection leads"):
            await write
    assert (await add(db, world, email="a")).id == "2"


@pytest.mark.parametrize("wrong", ["0", "01", "-1", "x", "", "1.0", "٣", "9" * 30, "1\x00", 99])
async def test_an_id_that_is_no_records(db: Database, world: World, wrong: str | int) -> None:
    await add(db, world)
    before = await everything(db)
    assert await records.get(db, world.operator, "leads", wrong) is None
    for write in (records.remove(db, world.operator, "leads", wrong), records.update(db, world.operator, "leads", wrong, {"score": 1})):
        with pytest.raises(NotFound):
            await write
    assert await everything(db) == before


async def test_values_that_no_longer_fit_surface_as_warnings(db: Database, world: World, leads: Row) -> None:
    await add(db, world, email="a", score=1)
    changed = [column("email"), column("status", values=["open"]), column("score"), column("phone", required=True)]
    await collections.update(db, world.operator, leads.id, columns=changed)
    updated = await records.update(db, world.operator, "leads", "1", {"email": "b"})
    assert updated.warnings == [
        Problem("status", 'expected one of open; got "new"'),
        Problem("score", "expected text; got 1"),
        Problem("phone", "required; missing"),
    ]
    assert (await records.update(db, world.operator, "leads", "1", {"status": "open", "score": "1", "phone": "0"})).warnings == []


async def test_the_indexed_text_of_a_record_is_bounded_in_bytes(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "texts", [column("text"), column("more")])
    fits = "é" * 16 * 1024
    await records.add(db, world.operator, "texts", {"text": fits})
    before = await everything(db)
    for write in (
        records.add(db, world.operator, "texts", {"text": fits + "x"}),
        records.update(db, world.operator, "texts", "1", {"more": ""}),
    ):
        with pytest.raises(LimitExceeded, match=r"are 32,769 bytes of text; the limit is 32 KB"):
            await write
    assert await everything(db) == before
    assert await bodies(db, table) == {1: {"text": fits}}


async def test_a_full_collection_takes_no_more_but_merges(db: Database, world: World) -> None:
    await add(db, world, email="a")
    async with db.write() as tx:
        await tx.execute("UPDATE artifact_collections SET record_count = $1", RECORDS_PER_COLLECTION)
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="collection leads would have 10,001 records; the limit is 10,000"):
        await add(db, world, email="b")
    assert await everything(db) == before
    assert (await records.add(db, world.operator, "leads", {"email": "a", "status": "won"})).merged == "1"


async def test_a_path_under_a_former_tables_name_goes_on_from_its_last_version(db: Database, world: World, leads: Row) -> None:
    await add(db, world, email="a")
    await records.update(db, world.operator, "leads", "1", {"score": 1})
    await collections.delete(db, world.operator, leads.id)
    again = await add_table(db, world.operator)
    assert again.version == 3
    assert (await add(db, world, email="a")).version == 3
    assert (await records.update(db, world.operator, "leads", "1", {"score": 1})).record.version == 4


@pytest.mark.parametrize("name", ["nope", "Leads", "../leads", "leads\n"])
async def test_an_unknown_collection(db: Database, world: World, name: str) -> None:
    for write in (
        records.add(db, world.operator, name, {}),
        records.update(db, world.operator, name, "1", {}),
        records.remove(db, world.operator, name, "1"),
    ):
        with pytest.raises(NotFound) as refused:
            await write
        assert refused.value.message == f"unknown collection {name}"
    assert await records.get(db, world.operator, name, "1") is None
