"""Adding and listing records tries the table as it was last read; whatever has changed since must decide all the same."""

from typing import Any

import pytest

from models.errors import Forbidden, NotFound, Unprocessable
from store import collections, record_list, records
from store.database import Database, Row
from store.known_tables import KnownTables
from tests.store.statements import counted
from tests.store.tables import add_table, allow, bodies, column, everything
from tests.world import World

TASK = {"title": "first"}


@pytest.fixture
async def tasks(db: Database, world: World) -> Row:
    """A table that the operator and ada have just added a record to, so that it is known."""
    table = await add_table(db, world.operator, "tasks", [column("title", required=True)])
    await allow(db, world.operator, table, world.ada, "WRITE")
    await records.add(db, world.operator, "tasks", TASK)
    await records.add(db, world.ada, "tasks", TASK)
    return table


async def refused(db: Database, call: Any, error: type[Exception], text: str) -> None:
    before = await everything(db)
    with pytest.raises(error, match=text):
        await call
    assert await everything(db) == before


@pytest.mark.usefixtures("tasks")
async def test_an_add_to_a_known_table_is_one_statement(db: Database, world: World) -> None:
    with counted() as sent:
        added = await records.add(db, world.ada, "tasks", {"title": "third"})
    assert (added.record.id, len(sent)) == ("3", 1)


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize("order", [None, "title desc", "updated_at"])
async def test_a_page_of_a_known_table_is_one_statement_with_the_same_answer(db: Database, world: World, order: str | None) -> None:
    elsewhere = await Database(db._dsn).open()  # to which no table is known
    try:
        expected = await record_list.list_records(elsewhere, world.ada, collection="tasks", order=order, limit=1)
    finally:
        await elsewhere.close()
    with counted() as sent:
        page = await record_list.list_records(db, world.ada, collection="tasks", order=order, limit=1)
    assert (page, page.total, len(sent)) == (expected, 2, 1)
    assert await record_list.list_records(db, world.ada, collection="tasks", offset=5) == record_list.RecordPage(2, [])


async def test_a_page_of_a_known_table_is_for_its_readers_of_now(db: Database, world: World, tasks: Row) -> None:
    listed = record_list.list_records
    await allow(db, world.operator, tasks, world.ada, "NONE")
    for caller in (world.ada, world.loner, world.stranger):
        await refused(db, listed(db, caller, collection="tasks"), NotFound, "unknown collection tasks")
        await refused(db, listed(db, caller, collection="tasks", limit=0, order="nothing"), NotFound, "unknown collection tasks")
    await refused(db, listed(db, world.operator, collection="tasks", limit=0), Unprocessable, "limit must be from 1 to 100")
    await allow(db, world.operator, tasks, world.ada, "READ")
    assert (await listed(db, world.ada, collection="tasks")).total == 2


async def test_a_page_is_ordered_by_the_columns_of_now(db: Database, world: World, tasks: Row) -> None:
    renamed = {**column("name", required=True), "rename_from": "title"}
    await collections.update(db, world.operator, tasks.id, columns=[renamed])
    assert (await record_list.list_records(db, world.ada, collection="tasks", order="name")).total == 2
    await refused(db, record_list.list_records(db, world.ada, collection="tasks", order="title"), Unprocessable, "unknown column")


async def test_new_columns_decide_at_once(db: Database, world: World, tasks: Row) -> None:
    columns = [column("name", required=True), column("size", "number")]
    await collections.update(db, world.operator, tasks.id, columns=columns)
    await refused(db, records.add(db, world.ada, "tasks", TASK), Unprocessable, "title")
    await records.add(db, world.ada, "tasks", {"name": "new", "size": 2})
    assert (await bodies(db, tasks))[3] == {"name": "new", "size": 2}


async def test_a_revoked_grant_decides_at_once(db: Database, world: World, tasks: Row) -> None:
    await allow(db, world.operator, tasks, world.ada, "READ")
    await refused(db, records.add(db, world.ada, "tasks", TASK), Forbidden, "may only be read")
    await allow(db, world.operator, tasks, world.ada, "NONE")
    await refused(db, records.add(db, world.ada, "tasks", TASK), NotFound, "unknown collection tasks")
    # Whether its body would do is none of its business.
    await refused(db, records.add(db, world.ada, "tasks", {"other": 1}), NotFound, "unknown collection tasks")


@pytest.mark.usefixtures("tasks")
async def test_who_has_no_grant_does_not_profit_from_others(db: Database, world: World) -> None:
    await refused(db, records.add(db, world.loner, "tasks", TASK), NotFound, "unknown collection tasks")
    await refused(db, records.add(db, world.stranger, "tasks", TASK), NotFound, "unknown collection tasks")


async def test_a_name_that_another_table_has_taken(db: Database, world: World, tasks: Row) -> None:
    await collections.update(db, world.operator, tasks.id, name="old_tasks")
    await refused(db, records.add(db, world.operator, "tasks", TASK), NotFound, "unknown collection tasks")
    other = await add_table(db, world.operator, "tasks", [column("title", required=True)])
    await records.add(db, world.operator, "tasks", {"title": "to the other"})
    assert list((await bodies(db, other)).values()) == [{"title": "to the other"}]
    assert len(await bodies(db, tasks)) == 2
    await collections.delete(db, world.operator, other.id)
    await refused(db, records.add(db, world.operator, "tasks", TASK), NotFound, "unknown collection tasks")


async def test_what_the_known_columns_refuse_may_be_right_by_now(db: Database, world: World, tasks: Row) -> None:
    elsewhere = await Database(db._dsn).open()  # as another process would
    try:
        await collections.update(elsewhere, world.operator, tasks.id, columns=[column("title", required=True), column("who")])
    finally:
        await elsewhere.close()
    await records.add(db, world.operator, "tasks", {"title": "t", "who": "w"})
    assert (await bodies(db, tasks))[3] == {"title": "t", "who": "w"}


async def test_the_least_recently_used_leave_first() -> None:
    known = KnownTables()
    for number in range(17):
        known.keep("o", _Named(f"t{number}"))
        known.get("o", "t0")
    assert known.get("o", "t0") is not None
    assert known.get("o", "t1") is None
    assert known.get("p", "t0") is None


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name
        self.columns = "x" * 500_000  # of which 16 MB hold 16
