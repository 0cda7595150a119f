import json
from typing import Any

import pytest

from models.errors import Forbidden, LimitExceeded, NotFound, Unprocessable
from models.limits import RECORDS_PER_COLLECTION
from store import access, record_batch, records
from store.database import Database, Row
from store.record_plan import BatchProblem
from tests.store.tables import add_table, allow, bodies, counters, everything, trail
from tests.world import World

TOO_LARGE = "the values of the record are 32,772 bytes of text; the limit is 32 KB (32,768 bytes of UTF-8)"


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    return await add_table(db, world.operator)


def lead(email: str | None = None, **more: Any) -> dict[str, Any]:
    return {"status": "new", **more} if email is None else {"email": email, "status": "new", **more}


async def add_many(db: Database, world: World, *batch: Any, dry_run: bool = False) -> record_batch.BatchResult:
    return await record_batch.add_many(db, world.operator, "leads", list(batch), dry_run=dry_run)


async def test_a_batch_of_new_records(db: Database, world: World, leads: Row) -> None:
    result = await add_many(db, world, lead("a"), lead(), lead("b", score=2**70))
    assert (result.added, result.merged, result.problems) == (3, 0, [])
    assert [(row.id, row.version, row.display_path) for row in result.records] == [
        (number, 1, f"{leads.display_path}/{number}") for number in ("1", "2", "3")
    ]
    assert await bodies(db, leads) == {1: lead("a"), 2: lead(), 3: lead("b", score=2**70)}
    assert await counters(db, leads) == (4, 3)
    assert (await trail(db, world.org))[1:] == [("CREATE", f"leads/{n}", 1, "leads", "Olga") for n in (1, 2, 3)]
    assert await records.get(db, world.operator, "leads", "3") == result.records[2]


async def test_bodies_merge_into_records_and_into_earlier_bodies(db: Database, world: World, leads: Row) -> None:
    await records.add(db, world.operator, "leads", lead("old", score=1))
    result = await add_many(db, world, lead("new"), lead(" OLD", score=None), lead("NEW", score=5), lead("old", status="won"))
    assert (result.added, result.merged, result.problems) == (1, 3, [])
    assert [(row.id, row.version) for row in result.records] == [("2", 2), ("1", 3), ("2", 2), ("1", 3)]
    assert json.loads(result.records[0].body) == lead("NEW", score=5)
    assert await bodies(db, leads) == {1: lead("old", status="won"), 2: lead("NEW", score=5)}
    assert await counters(db, leads) == (3, 2)
    assert (await trail(db, world.org))[2:] == [
        ("CREATE", "leads/2", 1, "leads", "Olga"),
        ("UPDATE", "leads/1", 2, "leads/1", "Olga"),
        ("UPDATE", "leads/2", 2, "leads/2", "Olga"),
        ("UPDATE", "leads/1", 3, "leads/1", "Olga"),
    ]
    assert (await records.add(db, world.operator, "leads", lead("new"))).merged == "2"


@pytest.mark.parametrize("dry_run", [False, True])
async def test_any_problem_stops_all_and_every_problem_has_its_index(db: Database, world: World, leads: Row, dry_run: bool) -> None:
    await records.add(db, world.operator, "leads", lead("big", signed_up_at="2026-01-01T00:00:00Z"))
    before = await everything(db)
    batch = [lead("a"), {"status": "no", "score": "1"}, 5, lead("x" * 32_760), {"email": "b"}, lead("x" * 32_768)]
    result = await add_many(db, world, *batch, dry_run=dry_run)
    assert (result.added, result.merged, result.records) == (0, 0, [])
    assert result.problems == [
        BatchProblem(1, "status", 'expected one of new, contacted, won, lost; got "no"'),
        BatchProblem(1, "score", 'expected number; got "1"'),
        BatchProblem(2, None, "body must be an object of columns and values; got 5"),
        BatchProblem(4, "status", "required; missing"),
        BatchProblem(5, None, TOO_LARGE),
    ]
    assert await everything(db) == before
    assert await counters(db, leads) == (2, 1)


async def test_a_body_that_makes_a_record_too_large_is_named(db: Database, world: World, leads: Row) -> None:
    before = await everything(db)
    result = await add_many(db, world, lead("a"), lead("x" * 32_768))
    assert result.problems == [BatchProblem(1, None, TOO_LARGE)]
    assert await everything(db) == before
    assert await counters(db, leads) == (1, 0)


@pytest.mark.usefixtures("leads")
async def test_a_dry_run_says_the_same_and_writes_nothing(db: Database, world: World) -> None:
    await records.add(db, world.operator, "leads", lead("a"))
    before = await everything(db)
    batch = [lead("a"), lead("b"), lead("B")]
    tried = await add_many(db, world, *batch, dry_run=True)
    assert (tried.added, tried.merged, tried.records, tried.problems) == (1, 2, [], [])
    assert await everything(db) == before
    done = await add_many(db, world, *batch)
    assert (done.added, done.merged) == (1, 2)


@pytest.mark.usefixtures("leads")
@pytest.mark.parametrize("dry_run", [False, True])
async def test_what_is_no_batch(db: Database, world: World, dry_run: bool) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable, match="at most 500 bodies can be added at once; got 501"):
        await add_many(db, world, *[lead()] * 501, dry_run=dry_run)
    with pytest.raises(Unprocessable, match="bodies must be a list of record bodies; got null"):
        await record_batch.add_many(db, world.operator, "leads", None, dry_run=dry_run)  # type: ignore[arg-type]
    empty = await add_many(db, world, dry_run=dry_run)
    assert (empty.added, empty.merged, empty.records, empty.problems) == (0, 0, [], [])
    assert await everything(db) == before


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_batch_over_the_cap_is_refused_whole(db: Database, world: World, leads: Row, dry_run: bool) -> None:
    await records.add(db, world.operator, "leads", lead("a"))
    async with db.write() as tx:
        await tx.execute("UPDATE artifact_collections SET record_count = $1", RECORDS_PER_COLLECTION - 1)
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="collection leads would have 10,001 records; the limit is 10,000"):
        await add_many(db, world, lead("b"), lead("c"), dry_run=dry_run)
    assert await everything(db) == before
    await add_many(db, world, lead("a"), lead("b"), lead("B"))
    assert await counters(db, leads) == (3, RECORDS_PER_COLLECTION)


@pytest.mark.parametrize("dry_run", [False, True])
async def test_who_may_add(db: Database, world: World, leads: Row, dry_run: bool) -> None:
    await allow(db, world.operator, leads, world.writers, "WRITE")
    await allow(db, world.operator, leads, world.bob, "READ")
    before = await everything(db)
    for caller, refusal in ((world.bob, Forbidden), (world.cyd, NotFound), (world.loner, NotFound), (world.stranger, NotFound)):
        with pytest.raises(refusal):
            await record_batch.add_many(db, caller, "leads", [lead()], dry_run=dry_run)
    assert await everything(db) == before
    assert (await record_batch.add_many(db, world.ada, "leads", [lead()], dry_run=dry_run)).added == 1


async def test_ten_thousand_records_in_batches_of_one_transaction(db: Database, world: World, leads: Row) -> None:
    async with db.write() as writer:
        for start in range(0, RECORDS_PER_COLLECTION, 2_500):
            table = await access.locked_for_write(writer, world.operator, "leads")
            batch = [lead(f"{number}@x.org") for number in range(start, start + 2_500)]
            result = await record_batch.add_many_in(writer, world.operator, table, batch, with_records=False)
            assert (result.added, result.records) == (2_500, [])
    assert await counters(db, leads) == (RECORDS_PER_COLLECTION + 1, RECORDS_PER_COLLECTION)
    stored = await bodies(db, leads)
    assert list(stored) == list(range(1, RECORDS_PER_COLLECTION + 1))
    assert stored[10_000] == lead("9999@x.org")
    assert len(await trail(db, world.org)) == RECORDS_PER_COLLECTION + 1


async def test_a_failing_transaction_leaves_nothing_of_its_batches(db: Database, world: World, leads: Row) -> None:
    before = await everything(db)

    async def fail() -> None:
        async with db.write() as writer:
            table = await access.locked_for_write(writer, world.operator, "leads")
            await record_batch.add_many_in(writer, world.operator, table, [lead("a")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await everything(db) == before
    assert await counters(db, leads) == (1, 0)
