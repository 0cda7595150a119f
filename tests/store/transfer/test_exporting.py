import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models import columns as dialect
from models.errors import Conflict
from models.json_text import to_json
from store import access, collections, record_batch, records, transfer
from store.database import Database, Row
from store.transfer import Format
from tests.store.people import PEOPLE, add_people
from tests.store.tables import add_table, bodies, column
from tests.world import World

BODIES: list[dict[str, Any]] = [
    {"name": "Ada", "bio": "", "score": 1, "active": True, "due": "2026-01-01T00:00:00Z", "skills": ["a", "b,c"], "labels": ["red"]},
    {"name": " Bob ", "bio": 'said "hi",\r\nthen; left\n', "score": -0.1, "active": False, "skills": []},
    {"name": "=1+1", "bio": "\ufeff日本 e\u0301 \u2028", "score": 2**70, "status": "won", "due": "2026-01-01T00:00:00.000001Z"},
    {"name": "none"},
    {"name": "007", "bio": "null", "score": 1e300, "skills": ['"', "\\", "\n"]},
]


async def exported(db: Database, table: Row, kind: Format, **more: Any) -> bytes:
    return b"".join([piece async for piece in transfer.export_collection(db, table, kind, **more)])


async def table_of(db: Database, world: World, name: str) -> Row:
    async with db.read() as reader:
        return await access.for_read(reader, world.operator, name)


async def brought_back(db: Database, world: World, data: bytes, kind: Format, name: str) -> dict[int, dict[str, Any]]:
    table = await add_table(db, world.operator, name, PEOPLE)
    lines = data.splitlines(keepends=True) if kind is Format.JSONL else [line + b"\n" for line in data.split(b"\n")[:-1]]
    result = await transfer.import_into(db, world.operator, name, transfer.parse(lines, kind, dialect.load(table.columns)))
    assert result.problems == []
    return await bodies(db, table)


@pytest.mark.parametrize("kind", list(Format))
@pytest.mark.parametrize("facts", [False, True])
async def test_what_is_exported_is_imported_as_the_same_records(db: Database, world: World, kind: Format, facts: bool) -> None:
    table = await add_people(db, world.operator, BODIES)
    data = await exported(db, table, kind, facts=facts)
    back = await brought_back(db, world, data, kind, "back")
    assert [to_json(body) for body in back.values()] == [to_json(body) for body in (await bodies(db, table)).values()]
    assert await exported(db, await table_of(db, world, "back"), kind) == await exported(db, table, kind)


LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
VALUES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "bio": st.text(LETTERS, max_size=12),
        "score": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        "active": st.booleans(),
        "skills": st.lists(st.text(LETTERS, min_size=1, max_size=5), unique=True),
    },
)


@pytest.mark.parametrize("kind", list(Format))
async def test_any_values_come_back(db: Database, world: World, kind: Format) -> None:
    drawn: list[dict[str, Any]] = []

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(VALUES)
    def draw(body: dict[str, Any]) -> None:
        # A row of empty cells is no record to an import.
        if body or kind is Format.JSONL:
            drawn.append(body)

    draw()
    table = await add_people(db, world.operator, drawn)
    back = await brought_back(db, world, await exported(db, table, kind), kind, "back")
    assert back == await bodies(db, table)


async def test_a_line_has_the_columns_in_their_order_and_with_facts_what_the_store_set(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "pairs", [column("b"), column("a", "number")])
    await record_batch.add_many(db, world.operator, "pairs", [{"a": 1, "b": "x"}, {"b": ""}, {"a": 2}])
    await records.remove(db, world.operator, "pairs", "2")
    assert await exported(db, table, Format.JSONL) == b'{"b":"x","a":1}\n{"a":2}\n'
    assert await exported(db, table, Format.CSV) == b"b,a\nx,1\n,2\n"
    first = (await exported(db, table, Format.JSONL, facts=True)).splitlines()[0]
    record = await records.get(db, world.operator, "pairs", "1")
    assert record is not None
    at = record.created_at.isoformat().replace("+00:00", "Z")
    facts = {"id": "1", "created_at": at, "updated_at": at, "created_by": "Olga", "updated_by": "Olga"}
    assert json.loads(first) == {**facts, "b": "x", "a": 1}
    header = (await exported(db, table, Format.CSV, facts=True)).splitlines()[0]
    assert header == b"id,created_at,updated_at,created_by,updated_by,b,a"


async def test_many_records_come_in_pieces(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "numbers", [column("n", "number")])
    await record_batch.add_many(db, world.operator, "numbers", [{"n": n} for n in range(450)])
    pieces = [piece async for piece in transfer.export_collection(db, table, Format.JSONL)]
    assert [piece.count(b"\n") for piece in pieces] == [200, 200, 50]
    assert [json.loads(line)["n"] for line in b"".join(pieces).splitlines()] == list(range(450))


async def test_a_column_alone_keeps_its_missing_values(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "single", [column("n")])
    await record_batch.add_many(db, world.operator, "single", [{"n": "a"}, {}, {"n": ""}])
    data = await exported(db, table, Format.CSV)
    assert data == b'n\na\n\n""\n'
    parsed = transfer.parse(data.splitlines(keepends=True), Format.CSV, dialect.load(table.columns))
    assert [row.body for row in parsed] == [{"n": "a"}, {}, {"n": ""}]


async def test_a_slow_reader_holds_no_connection_and_has_each_record_once(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, "numbers", [column("n", "number")])
    await record_batch.add_many(db, world.operator, "numbers", [{"n": n} for n in range(401)])
    pieces = transfer.export_collection(db, table, Format.JSONL)
    first = await anext(pieces)
    assert db.pool["idle"] == 1
    await records.remove(db, world.operator, "numbers", "1")
    await records.remove(db, world.operator, "numbers", "301")
    await records.update(db, world.operator, "numbers", "400", {"n": -1})
    await records.add(db, world.operator, "numbers", {"n": 401})
    rest = [piece async for piece in pieces]
    numbers = [json.loads(line)["n"] for line in b"".join([first, *rest]).splitlines()]
    assert numbers == [*range(300), *range(301, 399), -1, 400, 401]


@pytest.mark.parametrize("kind", list(Format))
@pytest.mark.parametrize("columns", [[column("m", "number", rename_from="n")], None])
async def test_a_table_that_changes_its_columns_or_goes_breaks_an_export_off(
    db: Database, world: World, kind: Format, columns: list[dict[str, Any]] | None
) -> None:
    table = await add_table(db, world.operator, "numbers", [column("n", "number")])
    await record_batch.add_many(db, world.operator, "numbers", [{"n": n} for n in range(201)])
    pieces = transfer.export_collection(db, table, kind)
    begun = [await anext(pieces) for _ in range(2 if kind is Format.CSV else 1)]
    if columns is None:
        await collections.delete(db, world.operator, table.id)
    else:
        await collections.update(db, world.operator, table.id, columns=columns)
    with pytest.raises(Conflict, match="collection numbers was changed or deleted during its export; export it again"):
        await anext(pieces)
    assert b"".join(begun).count(b"\n") == 200 + (kind is Format.CSV)
