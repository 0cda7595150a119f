from pathlib import Path

import pytest

from server import migrate
from store import invariants
from store.database import Database
from tests.server.command import Command


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(dsn, monkeypatch, capfd)


def statement(muniment: Command, text: str) -> None:
    async def run(db: Database) -> None:
        async with db.write() as writer:
            await writer.execute(text)

    muniment.database(run)


def test_a_sound_installation_has_a_line_for_each_check(muniment: Command) -> None:
    assert muniment("demo").code == 0
    answer = muniment("doctor")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split(maxsplit=2) for line in answer.out.splitlines()]
    # The cluster of the tests is fast rather than safe, which is worth a note and no fault.
    assert {line[1] for line in lines if line[0] != "ok"} == {"durability"}
    assert [line[0] for line in lines if line[1] == "durability"] == ["note"]
    server = ["settings", "database", "encoding", "locale", "extension", "writing", "durability", "indexes"]
    assert [line[1] for line in lines] == [*server, "migrations", "bell", *["stored"] * len(invariants.INVARIANTS)]
    assert [line[2] for line in lines if line[1] == "migrations"] == [f"revision {migrate.head()}"]


def test_each_thing_that_is_broken_has_a_line_of_its_own(muniment: Command) -> None:
    assert muniment("demo").code == 0
    statement(muniment, "UPDATE artifact_collections SET record_count = record_count + 1 WHERE name IN ('leads', 'jobs')")
    answer = muniment("doctor")
    assert answer.code == 1
    broken = sorted(line.split(maxsplit=2)[2].split(" (organisation")[0] for line in answer.out.splitlines() if line.startswith("broken"))
    assert broken[:2] == ["collection jobs counts 5 records and has 4", "collection leads counts 10 records and has 9"]
    assert "ok      stored       counters match the records" not in answer.out
    assert "ok      stored       no id is used twice" in answer.out


def test_a_database_that_is_not_migrated_is_told(muniment: Command) -> None:
    statement(muniment, "UPDATE alembic_version SET version_num = '0001'")
    answer = muniment("doctor")
    assert (answer.code, answer.err) == (1, "muniment: 1 thing is broken\n")
    told = f"the database is at revision 0001; this version needs revision {migrate.head()}. Run `muniment migrate` first"
    assert answer.out.splitlines()[-1] == f"broken  migrations   {told}"


def test_an_extension_that_is_gone_is_told(muniment: Command) -> None:
    statement(muniment, "DROP EXTENSION pg_trgm CASCADE")
    answer = muniment("doctor")
    assert answer.code == 1
    assert next(line for line in answer.out.splitlines() if "extension" in line).endswith("run `muniment migrate`")


def test_settings_that_are_not_right_are_all_told(muniment: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_PORT", "99999999")
    monkeypatch.setenv("MUNIMENT_WORKERS", "0")
    answer = muniment("doctor")
    assert answer.code == 1
    assert "MUNIMENT_PORT" in answer.out
    assert "MUNIMENT_WORKERS" in answer.out
    assert answer.out.startswith("broken  settings ")


def test_a_database_that_does_not_answer_is_told(muniment: Command, tmp_path: Path) -> None:
    muniment.dsn = f"postgresql://nobody@/nothing?host={tmp_path}"
    answer = muniment("doctor")
    assert answer.code == 1
    assert answer.out.splitlines()[-1].startswith("broken  database ")


def test_a_bell_that_is_not_reached_is_told(muniment: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.cli.doctoring._PATIENCE", 0.3)
    monkeypatch.setenv("MUNIMENT_BROADCAST_URL", "redis://127.0.0.1:1/0")
    answer = muniment("doctor")
    assert answer.code == 1
    assert [line[:21] for line in answer.out.splitlines() if line.startswith("broken")] == ["broken  bell         "]
