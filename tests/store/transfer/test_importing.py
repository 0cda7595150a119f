from typing import Any

import pytest

from models import columns as dialect
from models.errors import Conflict, Forbidden, NotFound
from models.limits import RECORDS_PER_COLLECTION
from store import access, transfer
from store.database import Database, Row
from store.transfer import Format, ImportResult, LineProblem, NewTable
from tests.store.tables import add_table, allow, bodies, column, counters, everything, trail
from tests.world import World


@pytest.fixture
async def leads(db: Database, world: World) -> Row:
    return await add_table(db, world.operator)


async def load(db: Database, world: World, text: str, kind: Format = Format.CSV, **more: Any) -> ImportResult:
    async with db.read() as reader:
        table = await access.for_read(reader, world.operator, "leads")
    parsed = transfer.parse(text.encode().splitlines(keepends=True), kind, dialect.load(table.columns))
    return await transfer.import_into(db, more.pop("caller", world.operator), "leads", parsed, **more)


async def test_every_row_becomes_a_record_with_its_change(db: Database, world: World, leads: Row) -> None:
    result = await load(db, world, "email,status,score\na@x,new,1\n,won,\nA@X ,lost,2\n")
    assert (result.rows, result.added, result.merged, result.written, result.problems) == (3, 2, 0, True, [])
    assert result.merged_within == 1
    assert await bodies(db, leads) == {1: {"email": "A@X ", "status": "lost", "score": 2}, 2: {"status": "won"}}
    assert (await trail(db, world.org))[1:] == [
        ("CREATE", "leads/1", 1, "leads", "Olga"),
        ("CREATE", "leads/2", 1, "leads", "Olga"),
        ("UPDATE", "leads/1", 2, "leads/1", "Olga"),
    ]


async def test_every_problem_is_told_by_line_and_column_and_nothing_is_written(db: Database, world: World, leads: Row) -> None:
    before = await everything(db)
    text = "email,status,score\na,new,1\nb,pending,x\nc,new\n,,2\n"
    result = await load(db, world, text)
    assert (result.written, result.problem_count) == (False, 4)
    assert result.problems == [
        LineProblem(3, "status", 'expected one of new, contacted, won, lost; got "pending"'),
        LineProblem(3, "score", 'expected number; got "x"'),
        LineProblem(4, None, "has 2 values, but the header names 3 columns"),
        LineProblem(5, "status", "required; missing"),
    ]
    assert await everything(db) == before
    assert await counters(db, leads) == (1, 0)


@pytest.mark.usefixtures("leads")
async def test_a_problem_in_a_late_piece_takes_back_the_early_ones(db: Database, world: World) -> None:
    before = await everything(db)
    text = "status,score\n" + "new,1\n" * 1200 + "old,1\n"
    result = await load(db, world, text)
    assert (result.rows, result.written) == (1201, False)
    assert result.problems == [LineProblem(1202, "status", 'expected one of new, contacted, won, lost; got "old"')]
    assert await everything(db) == before


async def test_a_dry_run_says_the_same_and_writes_nothing(db: Database, world: World, leads: Row) -> None:
    before = await everything(db)
    text = "email,status\n" + "".join(f"{n % 600},new\n" for n in range(1100))
    dry = await load(db, world, text, dry_run=True)
    assert (dry.rows, dry.added, dry.merged, dry.merged_within, dry.written, dry.problems) == (1100, 600, 0, 500, False, [])
    assert await everything(db) == before
    done = await load(db, world, text)
    assert (done.added, done.merged_within, done.written) == (600, 500, True)
    assert await counters(db, leads) == (601, 600)


@pytest.mark.usefixtures("leads")
async def test_a_full_table_takes_no_file_that_would_go_beyond(db: Database, world: World) -> None:
    before = await everything(db)
    seen: list[int] = []
    text = "status,email\nbad,\n" + "new,\n" * (RECORDS_PER_COLLECTION + 1)
    result = await load(db, world, text, progress=seen.append)
    assert result.problems == [
        LineProblem(2, "status", 'expected one of new, contacted, won, lost; got "bad"'),
        LineProblem(None, None, "collection leads would have 10,001 records; the limit is 10,000"),
    ]
    assert seen[-1] == RECORDS_PER_COLLECTION
    assert await everything(db) == before


async def test_a_table_is_made_with_its_rows_or_not_at_all(db: Database, world: World) -> None:
    new = NewTable("Cities.", [column("city", required=True), column("size", "number")])
    columns = dialect.parse(new.columns)
    before = await everything(db)
    lines = [b"city,size\n", b"Bonn,1\n", b",2\n"]
    bad = await transfer.import_into(db, world.operator, "cities", transfer.parse(lines, Format.CSV, columns), create=new)
    assert bad.problems == [LineProblem(3, "city", "required; missing")]
    dry = await transfer.import_into(db, world.operator, "cities", transfer.parse(lines[:2], Format.CSV, columns), create=new, dry_run=True)
    assert (dry.added, dry.written) == (1, False)
    assert await everything(db) == before
    done = await transfer.import_into(db, world.operator, "cities", transfer.parse(lines[:2], Format.CSV, columns), create=new)
    assert (done.added, done.written) == (1, True)
    with pytest.raises(Conflict, match="a collection of this name exists already"):
        await transfer.import_into(db, world.operator, "cities", transfer.parse(lines[:2], Format.CSV, columns), create=new)


async def test_rights_are_those_of_adding_records(db: Database, world: World, leads: Row) -> None:
    text = "status\nnew\n"
    with pytest.raises(NotFound, match="unknown collection leads"):
        await load(db, world, text, caller=world.cyd)
    await allow(db, world.operator, leads, world.cyd, "READ")
    with pytest.raises(Forbidden, match="leads may only be read"):
        await load(db, world, text, caller=world.cyd)
    assert await bodies(db, leads) == {}
    await allow(db, world.operator, leads, world.cyd, "WRITE")
    assert (await load(db, world, text, caller=world.cyd)).added == 1
