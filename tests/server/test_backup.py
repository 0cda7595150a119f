import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.caller import system
from store import collections, invariants, organisations
from store.backup import TABLES
from store.database import Database
from tests.server.command import Command
from tests.store.tables import bodies, everything


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    command = Command(dsn, monkeypatch, capfd)
    assert command("demo").code == 0
    return command


@pytest.fixture
def elsewhere(muniment: Command, cluster: Any) -> Iterator[Command]:
    """The same command for a second, empty database."""
    from server import migrate

    name = f"elsewhere_{muniment.dsn.rpartition('/')[2].partition('?')[0]}"
    cluster.ensure_database(name)
    migrate.upgrade(cluster.dsn(name))
    yield Command(cluster.dsn(name), muniment.patch, muniment.captured)

    async def drop(db: Database) -> None:
        async with db.write_once() as writer:
            await writer.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    muniment.database(drop)


def exported(muniment: Command, folder: Path) -> str:
    answer = muniment("export", "--all", folder)
    assert answer.code == 0
    assert "Left out: tokens" in answer.err
    return answer.out.strip()


def test_a_whole_organisation_goes_to_another_database(muniment: Command, elsewhere: Command, tmp_path: Path) -> None:
    org = exported(muniment, tmp_path / "all")
    answer = elsewhere("import", "--all", tmp_path / "all")
    assert (answer.code, answer.out) == (0, f"{org}\n")
    here, there = muniment.database(everything), elsewhere.database(everything)
    for table in here:
        # Of a change, the transaction's id is the database's own.
        strip = (lambda row: row[:2] + row[3:]) if table == "file_changes" else (lambda row: row)
        assert sorted(map(strip, there[table]), key=str) == sorted(map(strip, here[table]), key=str), table
    assert elsewhere.database(invariants.findings) == []
    exported(elsewhere, tmp_path / "again")
    for table in TABLES.keys() - {"file_changes", "feed_horizons"}:
        assert (tmp_path / "again" / f"{table}.jsonl").read_bytes() == (tmp_path / "all" / f"{table}.jsonl").read_bytes(), table


def test_the_manifest_says_what_is_there(muniment: Command, tmp_path: Path) -> None:
    org = exported(muniment, tmp_path / "all")
    manifest = json.loads((tmp_path / "all" / "manifest.json").read_text())
    assert (manifest["format"], manifest["organisation"]) == (1, {"id": org, "name": "Meridian Classics"})
    assert manifest["tables"].keys() == TABLES.keys()
    assert manifest["left_out"].keys() == {"sign_in_codes", "sessions", "tokens"}
    assert {table: facts["rows"] for table, facts in manifest["tables"].items() if table in {"guilds", "agents", "tokens"}} == {
        "guilds": 3,
        "agents": 6,
    }
    assert stat.S_IMODE((tmp_path / "all").stat().st_mode) == 0o700
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == sorted(["manifest.json", *(f"{name}.jsonl" for name in TABLES)])


def test_an_organisation_that_is_there_is_left_alone(muniment: Command, tmp_path: Path) -> None:
    org = exported(muniment, tmp_path / "all")
    before = muniment.database(everything)
    answer = muniment("import", "--all", tmp_path / "all")
    told = f'organisation {org} ("Meridian Classics") is in this database already; a whole organisation is only brought in anew'
    assert answer == (1, "", f"muniment: {told}\n")
    assert muniment.database(everything) == before


def test_a_folder_with_something_in_it_is_not_written_to(muniment: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    answer = muniment("export", "--all", tmp_path)
    assert answer == (1, "", f"muniment: {tmp_path} is there already and not an empty folder; name a new one\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_was_changed_or_lost_is_refused_and_nothing_is_written(muniment: Command, elsewhere: Command, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    exported(muniment, folder)
    (folder / "runs.jsonl").unlink()
    guilds = folder / "guilds.jsonl"
    guilds.write_text(guilds.read_text().replace("Sales", "Sails"))
    agents = folder / "agents.jsonl"
    agents.write_text("".join(agents.read_text().splitlines(keepends=True)[1:]))
    answer = elsewhere("import", "--all", folder)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines() == [
        f"muniment: {folder} is not whole",
        "- guilds.jsonl was changed since it was written",
        "- agents.jsonl has 5 rows; the manifest says 6",
        "- runs.jsonl is missing",
    ]
    assert elsewhere.database(organisations.listed) == []


@pytest.mark.parametrize(
    ("manifest", "message"),
    [("{", "is not the manifest of an export"), ("[]", "is not the manifest"), ('{"format": 2}', "this version reads format 1")],
)
def test_a_manifest_that_is_none_is_refused(muniment: Command, tmp_path: Path, manifest: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    answer = muniment("import", "--all", tmp_path)
    assert answer.code == 1
    assert message in answer.err


def test_records_come_back_value_for_value(muniment: Command, elsewhere: Command, tmp_path: Path) -> None:
    org = exported(muniment, tmp_path / "all")
    assert elsewhere("import", "--all", tmp_path / "all").code == 0

    async def cars(db: Database) -> dict[int, dict[str, Any]]:
        table = await collections.get(db, system(org), name="cars")
        assert table is not None
        return await bodies(db, table)

    assert elsewhere.database(cars) == muniment.database(cars)
