import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from models.caller import system
from store import collections, organisations, records
from store.database import Database
from tests.server.command import Command
from tests.store.tables import LEADS, bodies, everything, trail


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(dsn, monkeypatch, capfd)


@pytest.fixture
def org(muniment: Command) -> str:
    async def make(db: Database) -> str:
        org_id: str = (await organisations.create(db, "Acme")).id
        await collections.create(db, system(org_id), name="leads", purpose="Who may buy.", columns=LEADS)
        return org_id

    found: str = muniment.database(make)
    return found


def stored(muniment: Command, org: str, name: str = "leads") -> dict[int, dict[str, Any]]:
    async def look(db: Database) -> dict[int, dict[str, Any]]:
        table = await collections.get(db, system(org), name=name)
        return {} if table is None else await bodies(db, table)

    found: dict[int, dict[str, Any]] = muniment.database(look)
    return found


@pytest.fixture
def leads(tmp_path: Path) -> Path:
    file = tmp_path / "leads.csv"
    file.write_text("Email,Status,Score\na@x,new,1\nb@x,won,\nA@X,lost,2\n")
    return file


def test_a_file_is_imported(muniment: Command, org: str, leads: Path) -> None:
    answer = muniment("import", leads, "--collection", "leads")
    assert answer == (0, "3 rows imported into leads: 2 added, 0 merged into records that were there, 1 merged into earlier rows.\n", "")
    assert stored(muniment, org) == {1: {"email": "A@X", "status": "lost", "score": 2}, 2: {"email": "b@x", "status": "won"}}
    assert [change[-1] for change in muniment.database(lambda db: trail(db, org))[1:]] == ["muniment"] * 3


def test_a_dry_run_writes_nothing(muniment: Command, org: str, leads: Path) -> None:
    before = muniment.database(everything)
    answer = muniment("import", leads, "--collection", "leads", "--dry-run")
    assert answer.code == 0
    assert answer.out.startswith("Dry run, nothing was written: 3 rows would go into leads: 2 added, 0 merged")
    assert muniment.database(everything) == before
    assert stored(muniment, org) == {}


def test_problems_are_told_by_line_and_column_and_nothing_is_written(muniment: Command, org: str, leads: Path) -> None:
    before = muniment.database(everything)
    leads.write_text("email,status,score\na@x,pending,1\nb@x\nc@x,new,high\n")
    answer = muniment("import", leads, "--collection", "leads")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines() == [
        f"muniment: {leads} was not imported; 3 problems, nothing was written",
        '  line 2  status  expected one of new, contacted, won, lost; got "pending"',
        "  line 3          has 1 values, but the header names 3 columns",
        '  line 4  score   expected number; got "high"',
    ]
    assert muniment.database(everything) == before
    assert stored(muniment, org) == {}


def test_of_very_many_problems_the_first_are_shown(muniment: Command, org: str, leads: Path) -> None:
    leads.write_text("status\n" + "bad\n" * 1500)
    answer = muniment("import", leads, "--collection", "leads")
    assert answer.code == 1
    lines = answer.err.splitlines()
    assert lines[0].endswith("; 1,500 problems, nothing was written")
    assert (len(lines), lines[-1]) == (52, "  … and 1,450 more")
    assert stored(muniment, org) == {}


def test_a_collection_is_made_with_what_was_inferred_and_shown(muniment: Command, org: str, tmp_path: Path) -> None:
    file = tmp_path / "Cities 2026.csv"
    file.write_text('Name,Size (km²),Twinned,Founded at,Tags\nBonn,141,true,1948-01-01T00:00:00Z,"[""rhine""]"\nPorto,41.4,false,,[]\n')
    dry = muniment("import", file, "--collection", "cities", "--create", "--dry-run")
    assert (dry.code, stored(muniment, org, "cities")) == (0, {})
    answer = muniment("import", file, "--collection", "cities", "--create", "--purpose", "Where we deliver.")
    assert (answer.code, answer.out) == (
        0,
        "2 rows imported into cities, in a new collection: 2 added, 0 merged into records that were there.\n",
    )
    assert answer.err == dry.err
    words = [line.split()[:4] for line in answer.err.splitlines()]
    assert ["name", "text", "yes", "Name"] in words
    assert ["founded_at", "datetime", "Founded", "at"] in words
    assert answer.err.splitlines()[-1] == "No column is unique. All values of name differ; --unique name keeps one record for each."
    assert stored(muniment, org, "cities") == {
        1: {"name": "Bonn", "size_km2": 141, "twinned": True, "founded_at": "1948-01-01T00:00:00Z", "tags": ["rhine"]},
        2: {"name": "Porto", "size_km2": 41.4, "twinned": False, "tags": []},
    }
    again = muniment("import", file, "--collection", "cities", "--create")
    assert (again.code, again.err.splitlines()[-1]) == (1, "muniment: a collection of this name exists already")
    assert len(stored(muniment, org, "cities")) == 2


def test_the_unique_column_may_be_chosen(muniment: Command, org: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"name": "a", "code": "1"}\n{"name": "b", "code": "2"}\n')

    def unique(name: str) -> list[str]:
        async def look(db: Database) -> list[str]:
            table = await collections.get(db, system(org), name=name)
            assert table is not None
            return [item["name"] for item in json.loads(table.columns) if item["unique"]]

        found: list[str] = muniment.database(look)
        return found

    for name, options in (("one", ()), ("two", ("--unique", "name")), ("three", ("--unique", "none"))):
        assert muniment("import", file, "--collection", name, "--create", *options).code == 0
    assert [unique("one"), unique("two"), unique("three")] == [[], ["name"], []]
    refused = muniment("import", file, "--collection", "four", "--create", "--unique", "size")
    assert (refused.code, refused.err) == (1, "muniment: --unique size is no column; columns are name, code\n")


def test_a_file_may_come_in_by_a_pipe(muniment: Command, org: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"status": "new"}\n')))
    assert muniment("import", "-", "--collection", "leads", "--format", "jsonl").code == 0
    assert stored(muniment, org) == {1: {"status": "new"}}


def test_an_export_imports_as_the_same_records(muniment: Command, org: str, tmp_path: Path) -> None:
    odd = [
        {"email": "", "status": "new", "score": 2**70},
        {"status": "won", "score": 0.1},
        {"email": 'q"u,o\r\nte', "status": "lost", "signed_up_at": "2026-01-01T00:00:00.000001Z"},
    ]

    async def fill(db: Database) -> None:
        for body in odd:
            await records.add(db, system(org), "leads", body)
        await records.add(db, system(org), "leads", {"status": "new"})
        await records.remove(db, system(org), "leads", 4)
        for name in ("csv_back", "jsonl_back"):
            await collections.create(db, system(org), name=name, purpose="Again.", columns=LEADS)

    muniment.database(fill)
    for kind in ("csv", "jsonl"):
        file = tmp_path / f"leads.{kind}"
        assert muniment("export", "--collection", "leads", "--output", file) == (0, "", f"leads written to {file}\n")
        assert muniment("import", file, "--collection", f"{kind}_back").code == 0
        assert list(stored(muniment, org, f"{kind}_back").values()) == odd
        shown = muniment("export", "--collection", f"{kind}_back", "--format", kind)
        assert (shown.code, shown.out.encode()) == (0, file.read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leads.csv", "leads.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import",), "give either a FILE (with --collection NAME) or --all DIR"),
        (("import", "x.csv"), "say with --collection NAME where the rows belong"),
        (("import", "x.csv", "--collection", "a", "--purpose", "b"), "--purpose and --unique belong to --create"),
        (("import", "--all", "x", "--dry-run"), "--all takes a whole organisation and no other options"),
        (("export",), "give either --collection NAME or --all DIR"),
        (("export", "--all", "x", "--facts"), "--all takes no options but --org"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(muniment: Command, arguments: tuple[str, ...], message: str) -> None:
    answer = muniment(*arguments)
    assert answer.code == 2
    assert message in " ".join(answer.err.replace("│", " ").split())


@pytest.mark.usefixtures("org")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "/nowhere/x.csv", "--collection", "leads"), "cannot read /nowhere/x.csv: No such file or directory"),
        (("import", "{file}.txt", "--collection", "leads"), "does not say by its name whether it is CSV or JSON Lines"),
        (("import", "{file}", "--collection", "nothing"), "unknown collection nothing"),
        (("import", "{file}", "--collection", "leads", "--org", "nobody"), "unknown organisation nobody"),
        (("export", "--collection", "nothing"), "unknown collection nothing"),
        (("export", "--collection", "leads", "--output", "/nowhere/x.csv"), "cannot write /nowhere/x.csv: No such file or directory"),
        (("import", "--all", "/nowhere"), "/nowhere holds no manifest.json: it is no export, or one that was not finished"),
    ],
)
def test_refusals_are_told_in_a_line(muniment: Command, leads: Path, arguments: tuple[str, ...], message: str) -> None:
    before = muniment.database(everything)
    answer = muniment(*(argument.format(file=leads) for argument in arguments))
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert answer.err.startswith("muniment: ")
    assert message in answer.err
    assert muniment.database(everything) == before


def test_the_organisation_must_be_said_where_there_are_several(muniment: Command, leads: Path) -> None:
    none = muniment("import", leads, "--collection", "leads")
    assert none == (1, "", "muniment: there is no organisation yet; make one with `muniment org create NAME`\n")
    first, second = (muniment("org", "create", name).out.strip() for name in ("One", "Two"))
    several = muniment("export", "--collection", "leads")
    heading = "muniment: there are several organisations; say which with --org ID"
    assert several == (1, "", f"{heading}\n  {first}  One\n  {second}  Two\n")
    assert muniment("import", leads, "--collection", "leads", "--create", "--org", second).code == 0
    assert len(stored(muniment, second)) == 3
    assert stored(muniment, first) == {}


def test_the_demo_is_loaded_once(muniment: Command) -> None:
    assert muniment("demo") == (0, "The demo organisation is loaded.\n", "")
    assert muniment("demo") == (0, "There is an organisation already; the demo was not loaded.\n", "")


def test_a_file_of_the_most_rows_is_imported(muniment: Command, org: str, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f'{{"email": "p{n}@x", "status": "new", "score": {n}}}\n' for n in range(10_000)))
    assert muniment("import", file, "--collection", "leads").out.startswith("10,000 rows imported into leads: 10,000 added")
    assert len(stored(muniment, org)) == 10_000
