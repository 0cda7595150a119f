import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models import clock
from models.errors import Conflict, NotFound, Unprocessable
from store import records
from store.database import Database, Row
from store.records import RecordAdded
from tests.store.tables import add_table, allow, counters, everything
from tests.world import World

BODY = {"email": "a", "status": "new", "score": 1.0}


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.writers, "WRITE")
    return table


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    clock.set_clock(lambda: moment)
    yield
    clock.set_clock(lambda: datetime.now(UTC))


async def add(db: Database, world: World, body: Any = BODY, key: str | None = "key") -> RecordAdded:
    return await records.add(db, world.operator, "leads", body, idempotency_key=key)


async def test_the_same_key_and_body_answer_alike_and_write_nothing(db: Database, world: World, leads: Row) -> None:
    first = await add(db, world)
    await records.update(db, world.operator, "leads", "1", {"score": 9})
    before = await everything(db)
    again = await add(db, world, {"score": 1, "status": "new", "email": "a"})
    assert {name: again.record[name] for name in first.record.keys()} == dict(first.record)  # noqa: SIM118  # a row is no mapping
    assert (again.merged, again.note) == (None, None)
    assert await everything(db) == before
    assert await counters(db, leads) == (2, 1)


@pytest.mark.usefixtures("leads")
async def test_a_merge_answers_alike_too(db: Database, world: World) -> None:
    await add(db, world, key=None)
    first = await add(db, world)
    assert (first.merged, first.note, first.record.version) == ("1", "merged into existing record 1", 2)
    await records.remove(db, world.operator, "leads", "1")
    again = await add(db, world)
    assert (again.merged, again.note, again.record.version) == ("1", "merged into existing record 1", 2)
    assert again.record.body == first.record.body


@pytest.mark.usefixtures("leads")
@pytest.mark.parametrize("other", [{"status": "new"}, {**BODY, "score": 2}, {**BODY, "email": "A"}, {**BODY, "score": "1"}, None])
async def test_another_body_is_refused(db: Database, world: World, other: Any) -> None:
    await add(db, world)
    before = await everything(db)
    with pytest.raises(Conflict, match="the idempotency key key was used with another body"):
        await add(db, world, other)
    assert await everything(db) == before


async def test_a_key_belongs_to_caller_and_collection(db: Database, world: World, leads: Row) -> None:
    await add_table(db, world.operator, "others")
    await add(db, world)
    assert (await records.add(db, world.operator, "others", BODY, idempotency_key="key")).record.collection == "others"
    assert (await records.add(db, world.ada, "leads", {**BODY, "email": "b"}, idempotency_key="key")).record.id == "2"
    assert (await add(db, world)).record.id == "1"
    assert await counters(db, leads) == (3, 2)


@pytest.mark.usefixtures("leads")
async def test_a_refused_add_does_not_use_the_key_up(db: Database, world: World) -> None:
    with pytest.raises(Unprocessable):
        await add(db, world, {"status": "pending"})
    assert (await add(db, world)).record.id == "1"


async def test_a_key_lasts_a_day(db: Database, world: World, leads: Row) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with at(start):
        await add(db, world, {"status": "new"})
    with at(start + timedelta(hours=24) - timedelta(seconds=1)):
        assert (await add(db, world, {"status": "new"})).record.id == "1"
    with at(start + timedelta(hours=24)):
        assert (await add(db, world, {"status": "won"})).record.id == "2"
        assert (await add(db, world, {"status": "won"})).record.id == "2"
    assert await counters(db, leads) == (3, 2)


@pytest.mark.usefixtures("leads")
async def test_old_keys_are_swept(db: Database, world: World) -> None:
    with at(datetime(2026, 1, 1, tzinfo=UTC)):
        await add(db, world, {"status": "new"}, "old")
    await add(db, world, {"status": "new"}, "fresh")
    async with db.read() as reader:
        assert [row.key for row in await reader.rows("SELECT key FROM idempotency_keys")] == ["fresh"]


async def test_one_key_at_once_writes_one_record(db: Database, world: World, leads: Row) -> None:
    done = await asyncio.gather(*(add(db, world, {"status": "new"}) for _ in range(16)))
    assert {item.record.id for item in done} == {"1"}
    assert await counters(db, leads) == (2, 1)


async def test_a_repeated_answer_needs_the_right_that_the_first_had(db: Database, world: World, leads: Row) -> None:
    await records.add(db, world.ada, "leads", BODY, idempotency_key="key")
    await allow(db, world.operator, leads, world.ada, "NONE")
    with pytest.raises(NotFound):
        await records.add(db, world.ada, "leads", BODY, idempotency_key="key")


@pytest.mark.usefixtures("leads")
@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a\x00", "\ud800"])
async def test_what_is_no_key(db: Database, world: World, key: str) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable):
        await add(db, world, key=key)
    assert await everything(db) == before


@pytest.mark.usefixtures("leads")
async def test_a_body_that_nests_deeply_is_another_body(db: Database, world: World) -> None:
    await add(db, world)
    nested: Any = []
    for _ in range(900):
        nested = [nested]
    before = await everything(db)
    with pytest.raises(Conflict, match="was used with another body"):
        await add(db, world, {"email": nested})
    assert await everything(db) == before
