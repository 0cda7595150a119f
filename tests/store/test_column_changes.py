from typing import Any

import pytest

from models.errors import Conflict, NotFound, Unprocessable
from store import collections, records
from store.database import Database, Row
from tests.store.tables import add_table, bodies, column, everything, trail
from tests.world import World


@pytest.fixture
async def table(db: Database, world: World) -> Row:
    made = await add_table(db, world.operator, "t", [column("a"), column("b"), column("c")])
    await records.add(db, world.operator, "t", {"a": "A1", "b": "B1", "c": "C1"})
    await records.add(db, world.operator, "t", {"a": "A2", "c": "C2"})
    return made


async def change(db: Database, world: World, table: Row, *columns: dict[str, Any]) -> Row:
    return await collections.update(db, world.operator, table.id, columns=list(columns))


async def search_texts(db: Database, table: Row) -> list[tuple[str, str | None]]:
    async with db.read() as reader:
        rows = await reader.rows(
            "SELECT search_blob, identity FROM artifacts WHERE collection_id = $1 AND deleted_at IS NULL ORDER BY number", table.id
        )
    return [(row.search_blob, row.identity) for row in rows]


async def test_a_renamed_column_moves_its_key(db: Database, world: World, table: Row) -> None:
    changed = await change(db, world, table, column("x", rename_from="a"), column("b"), column("c"))
    assert await bodies(db, table) == {1: {"x": "A1", "b": "B1", "c": "C1"}, 2: {"x": "A2", "c": "C2"}}
    assert changed.version == 2
    assert "rename_from" not in changed.columns
    assert (await trail(db, world.org))[-1] == ("UPDATE", "t", 2, "t", "Olga")


async def test_record_versions_and_savers_stay(db: Database, world: World, table: Row) -> None:
    before = await records.get(db, world.operator, "t", "1")
    await change(db, world, table, column("x", rename_from="a"))
    after = await records.get(db, world.operator, "t", "1")
    assert before is not None
    assert after is not None
    assert (after.version, after.updated_at, after.updated_by_id) == (before.version, before.updated_at, before.updated_by_id)


async def test_a_removed_column_goes_and_the_search_text_follows(db: Database, world: World, table: Row) -> None:
    assert await search_texts(db, table) == [("A1\x1fB1\x1fC1", None), ("A2\x1fC2", None)]
    await change(db, world, table, column("c"), column("b"))
    assert await bodies(db, table) == {1: {"b": "B1", "c": "C1"}, 2: {"c": "C2"}}
    assert await search_texts(db, table) == [("C1\x1fB1", None), ("C2", None)]


async def test_a_swap_and_a_ring(db: Database, world: World, table: Row) -> None:
    await change(db, world, table, column("a", rename_from="b"), column("b", rename_from="a"), column("c"))
    assert await bodies(db, table) == {1: {"a": "B1", "b": "A1", "c": "C1"}, 2: {"b": "A2", "c": "C2"}}
    await change(db, world, table, column("a", rename_from="c"), column("b", rename_from="a"), column("c", rename_from="b"))
    assert await bodies(db, table) == {1: {"a": "C1", "b": "B1", "c": "A1"}, 2: {"a": "C2", "c": "A2"}}


async def test_a_rename_onto_the_name_of_a_removed_column(db: Database, world: World, table: Row) -> None:
    await change(db, world, table, column("b", rename_from="a"), column("c"))
    assert await bodies(db, table) == {1: {"b": "A1", "c": "C1"}, 2: {"b": "A2", "c": "C2"}}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([column("x", rename_from="nope")], '- column "x": rename_from "nope" is no column; present columns are a, b, c'),
        (
            [column("x", rename_from="a"), column("y", rename_from="a")],
            '- column "x": takes its values from a, as y does\n- column "y": takes its values from a, as x does',
        ),
        (
            [column("a"), column("y", rename_from="a")],
            '- column "a": takes its values from a, as y does\n- column "y": takes its values from a, as a does',
        ),
    ],
)
async def test_unclear_sources_are_refused(db: Database, world: World, table: Row, columns: list[dict[str, Any]], message: str) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await change(db, world, table, *columns)
    assert refused.value.message == f"columns rejected\n{message}"
    assert await everything(db) == before


async def test_a_column_that_becomes_unique(db: Database, world: World, table: Row) -> None:
    await change(db, world, table, column("a", unique=True), column("b"), column("c"))
    assert [own for _, own in await search_texts(db, table)] == ["a1", "a2"]
    assert (await records.add(db, world.operator, "t", {"a": " a2 "})).merged == "2"


async def test_a_column_that_repeats_values_cannot_become_unique(db: Database, world: World, table: Row) -> None:
    await records.add(db, world.operator, "t", {"a": "a1 ", "c": "x"})
    await records.add(db, world.operator, "t", {"c": "X"})
    await records.add(db, world.operator, "t", {"b": "not so", "c": "x"})
    gone = await records.add(db, world.operator, "t", {"b": "not so"})
    await records.remove(db, world.operator, "t", gone.record.id)
    before = await everything(db)
    with pytest.raises(Conflict) as refused:
        await change(db, world, table, column("a"), column("b"), column("c", unique=True))
    assert refused.value.message == 'column "c" cannot be unique, since live records repeat its values: "x" in records 3, 4, 5'
    with pytest.raises(Conflict, match=r'"a1" in records 1, 3$'):
        await change(db, world, table, column("z", unique=True, rename_from="a"))
    assert await everything(db) == before
    await change(db, world, table, column("b", unique=True))


async def test_identities_may_change_places(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "pairs", [column("a", unique=True), column("b")])
    await records.add(db, world.operator, "pairs", {"a": "x", "b": "y"})
    await records.add(db, world.operator, "pairs", {"a": "y", "b": "x"})
    await change(db, world, table, column("a"), column("b", unique=True))
    assert [own for _, own in await search_texts(db, table)] == ["y", "x"]
    await change(db, world, table, column("a", unique=True, rename_from="b"), column("b", rename_from="a"))
    assert [own for _, own in await search_texts(db, table)] == ["y", "x"]
    await change(db, world, table, column("a"), column("b"))
    assert [own for _, own in await search_texts(db, table)] == [None, None]


async def test_a_retyped_unique_column_keeps_its_values_but_not_their_identity(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "parts", [column("a", unique=True)])
    await records.add(db, world.operator, "parts", {"a": "42"})
    await change(db, world, table, column("a", "number", unique=True))
    assert await bodies(db, table) == {1: {"a": "42"}}
    assert (await records.add(db, world.operator, "parts", {"a": 42})).record.id == "2"
    await change(db, world, table, column("a", unique=True))
    assert (await records.add(db, world.operator, "parts", {"a": "42"})).merged == "1"
    assert (await records.add(db, world.operator, "parts", {"a": "43"})).record.id == "3"


async def test_what_concerns_no_values_leaves_the_records_alone(db: Database, world: World, table: Row) -> None:
    await change(db, world, table, column("a", "number"), column("b", values=["x"]), column("c", required=True), column("d", required=True))
    assert await bodies(db, table) == {1: {"a": "A1", "b": "B1", "c": "C1"}, 2: {"a": "A2", "c": "C2"}}
    removed = await collections.update(db, world.operator, table.id, purpose="Other.")
    assert '"required": true' in removed.columns


async def test_a_refused_move_leaves_the_columns_alone(db: Database, world: World, table: Row) -> None:
    before = await everything(db)
    with pytest.raises(NotFound, match="unknown guild nope"):
        await collections.update(db, world.operator, table.id, columns=[column("b")], guild_id="nope")
    with pytest.raises(Unprocessable, match="collection rejected\n- name must match"):
        await collections.update(db, world.operator, table.id, columns=[column("b")], name="B")
    assert await everything(db) == before
