import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from models.errors import Conflict, Forbidden, MunimentError, NotFound
from store import collections, record_batch, records
from store.database import Database, Row
from tests.store.tables import add_table, allow, bodies, column, counters, trail
from tests.world import World

NEW = {"status": "new"}


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    return await add_table(db, world.operator)


async def outcomes(*writes: Awaitable[Any]) -> list[Any]:
    """What each of the writes that run at once came to; anything but a refusal of ours is raised."""
    found = await asyncio.gather(*writes, return_exceptions=True)
    for item in found:
        if isinstance(item, BaseException) and not isinstance(item, MunimentError):
            raise item
    return found


async def test_64_adds_at_once_take_ids_1_to_64(db: Database, world: World, leads: Row) -> None:
    added = await outcomes(*(records.add(db, world.operator, "leads", {**NEW, "email": f"{n}@x.org"}) for n in range(64)))
    assert sorted(int(item.record.id) for item in added) == list(range(1, 65))
    assert [item.merged for item in added] == [None] * 64
    assert await counters(db, leads) == (65, 64)
    assert sorted((await trail(db, world.org))[1:]) == sorted(("CREATE", f"leads/{n}", 1, "leads", "Olga") for n in range(1, 65))


async def test_64_adds_at_once_of_one_value_are_one_record_and_63_merges(db: Database, world: World, leads: Row) -> None:
    added = await outcomes(*(records.add(db, world.operator, "leads", {**NEW, "email": "a", "score": n}) for n in range(64)))
    assert sorted((item.merged or "") for item in added) == [""] + ["1"] * 63
    assert sorted(item.record.version for item in added) == list(range(1, 65))
    assert await counters(db, leads) == (2, 1)
    assert [(change[0], change[2]) for change in (await trail(db, world.org))[1:]] == [
        ("CREATE", 1),
        *(("UPDATE", version) for version in range(2, 65)),
    ]
    assert (await records.add(db, world.operator, "leads", {**NEW, "email": "b"})).record.id == "2"


async def test_updates_at_once_lose_nothing(db: Database, world: World) -> None:
    await add_table(db, world.operator, "wide", [column(f"c{n}", "number") for n in range(24)])
    await records.add(db, world.operator, "wide", {})
    done = await outcomes(*(records.update(db, world.operator, "wide", "1", {f"c{n}": n}) for n in range(24)))
    assert sorted(item.record.version for item in done) == list(range(2, 26))
    record = await records.get(db, world.operator, "wide", "1")
    assert record is not None
    assert record.version == 25
    assert len(record.body.split(",")) == 24


async def test_of_two_updates_onto_one_unique_value_one_is_refused(db: Database, world: World, leads: Row) -> None:
    for number in range(8):
        await records.add(db, world.operator, "leads", {**NEW, "email": f"{number}"})
    done = await outcomes(*(records.update(db, world.operator, "leads", n, {"email": "same"}) for n in range(1, 9)))
    refused = [item for item in done if isinstance(item, Conflict)]
    [winner] = [item.record.id for item in done if not isinstance(item, Conflict)]
    assert {item.message for item in refused} == {f'column "email": record {winner} has the value "same" already, and it is unique'}
    assert len(refused) == 7
    assert await counters(db, leads) == (9, 8)


async def test_a_record_is_removed_once(db: Database, world: World, leads: Row) -> None:
    await records.add(db, world.operator, "leads", NEW)
    done = await outcomes(*(records.remove(db, world.operator, "leads", "1") for _ in range(8)))
    assert [item for item in done if not isinstance(item, NotFound)] == ["1"]
    assert await counters(db, leads) == (2, 0)
    assert [change[0] for change in await trail(db, world.org)] == ["CREATE", "CREATE", "DELETE"]


async def test_updates_and_removals_at_once_keep_the_count(db: Database, world: World, leads: Row) -> None:
    for _ in range(8):
        await records.add(db, world.operator, "leads", NEW)
    writes: list[Awaitable[Any]] = []
    for number in range(1, 9):
        writes += [records.update(db, world.operator, "leads", number, {"score": n}) for n in range(3)]
        writes += [records.remove(db, world.operator, "leads", number) for _ in range(2)]
    await outcomes(*writes)
    assert await counters(db, leads) == (9, 0)
    assert await bodies(db, leads) == {}
    versions = sorted((path, version) for _, path, version, _, _ in (await trail(db, world.org))[1:])
    assert len(versions) == len(set(versions))


async def test_adds_batches_and_column_changes_at_once(db: Database, world: World, leads: Row) -> None:
    async def rename(there: bool) -> Row:
        names = ("email", "mail") if there else ("mail", "email")
        columns = [column(names[1], rename_from=names[0], unique=True), column("status")]
        return await collections.update(db, world.operator, leads.id, columns=columns)

    writes: list[Awaitable[Any]] = [records.add(db, world.operator, "leads", {"status": f"{n}"}) for n in range(12)]
    writes.insert(6, rename(there=True))
    writes += [record_batch.add_many(db, world.operator, "leads", [{"status": f"b{n}"}] * 3) for n in range(4)]
    done = await outcomes(*writes)
    stored = await bodies(db, leads)
    added = sum(item.added if isinstance(item, record_batch.BatchResult) else 1 for item in done if not isinstance(item, MunimentError)) - 1
    assert list(stored) == list(range(1, added + 1))
    assert await counters(db, leads) == (added + 1, added)


async def overtaken(db: Database, blocked: Awaitable[Any], *statements: tuple[str, *tuple[Any, ...]]) -> Any:
    """What a write comes to that waits for a lock while these statements are run and committed."""
    async with db.write() as tx:
        for statement, *arguments in statements:
            await tx.execute(statement, *arguments)
        waiting = asyncio.ensure_future(blocked)
        async with db.read() as reader:
            while not await reader.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
                assert not waiting.done()
    [outcome] = await outcomes(waiting)
    return outcome


BUMP = "UPDATE artifact_collections SET version = version + 1 WHERE id = $1"


@pytest.mark.parametrize("locked", [False, True])
async def test_a_grant_that_is_taken_away_meanwhile_stops_the_write(db: Database, world: World, leads: Row, locked: bool) -> None:
    await allow(db, world.operator, leads, world.ada, "WRITE")
    write = records.add(db, world.ada, "leads", NEW, idempotency_key="k" if locked else None)
    outcome = await overtaken(db, write, (BUMP, leads.id), ("UPDATE collection_access SET mode = 'READ'",))
    assert isinstance(outcome, Forbidden)
    assert await counters(db, leads) == (1, 0)


async def test_a_table_that_is_deleted_meanwhile_is_unknown(db: Database, world: World, leads: Row) -> None:
    gone = ("UPDATE artifact_collections SET deleted_at = now(), version = version + 1 WHERE id = $1", leads.id)
    outcome = await overtaken(db, records.add(db, world.operator, "leads", NEW), gone)
    assert isinstance(outcome, NotFound)
    assert await bodies(db, leads) == {}


async def test_columns_that_change_meanwhile_are_the_ones_that_count(db: Database, world: World, leads: Row) -> None:
    changed = (
        """UPDATE artifact_collections SET version = version + 1, columns =
            '[{"name": "other", "type": "text", "description": "d", "required": false, "unique": false, "values": null}]' WHERE id = $1""",
        leads.id,
    )
    outcome = await overtaken(db, records.add(db, world.operator, "leads", NEW), changed)
    assert outcome.message == 'record rejected\n- column "status": unknown column; declared columns are other'
    assert await counters(db, leads) == (1, 0)


async def test_an_update_that_is_overtaken_builds_on_what_was_written(db: Database, world: World, leads: Row) -> None:
    await records.add(db, world.operator, "leads", {**NEW, "score": 1})
    lock = ("SELECT id FROM artifact_collections WHERE id = $1 FOR UPDATE", leads.id)
    write = (
        """UPDATE artifacts SET version = 2, content_json = '{"status": "won", "score": 2}' WHERE collection_id = $1""",
        leads.id,
    )
    outcome = await overtaken(db, records.update(db, world.operator, "leads", "1", {"email": "a"}), lock, write)
    assert outcome.record.version == 3
    assert await bodies(db, leads) == {1: {"status": "won", "score": 2, "email": "a"}}
