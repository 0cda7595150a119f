"""Pages of many collections at once are those of each alone."""

import pytest

from models.errors import Unprocessable
from store import collections, record_batch, record_list, record_pages
from store.database import Database
from tests.store.tables import add_table
from tests.world import World


@pytest.mark.parametrize(("limit", "offset"), [(20, 0), (2, 0), (2, 1), (1, 4), (100, 2**70)])
async def test_each_page_is_the_collections_own(db: Database, world: World, limit: int, offset: int) -> None:
    for number, name in enumerate(("empty", "some", "many")):
        await add_table(db, world.operator, name)
        bodies = [{"email": f"{n}@x.example", "status": "new"} for n in range(number * 5)]
        if bodies:
            await record_batch.add_many(db, world.operator, name, bodies)
    tables = await collections.listed(db, world.operator)
    pages = await record_pages.of_collections(db, world.operator, tables, limit, offset)
    assert set(pages) == {table.id for table in tables}
    for table in tables:
        alone = await record_list.for_collection(db, world.operator, table, limit=limit, offset=offset)
        found = pages[table.id]
        assert (found.total, found.hint, [dict(row) | {"listed": 0} for row in found.records]) == (
            alone.total,
            alone.hint,
            [dict(row) | {"listed": 0} for row in alone.records],
        )


async def test_bounds_are_refused_as_for_one(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    with pytest.raises(Unprocessable) as refused:
        await record_pages.of_collections(db, world.operator, [table, table], 101, -1)
    with pytest.raises(Unprocessable) as alone:
        await record_list.for_collection(db, world.operator, table, limit=101, offset=-1)
    assert refused.value.message == alone.value.message
