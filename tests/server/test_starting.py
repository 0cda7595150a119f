"""What keeps a server from starting is told in a line, without a traceback and before anything is changed."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import migrate
from server.postgres import EmbeddedPostgres
from store import organisations
from store.database import Database
from tests.server.command import Command
from tests.store.tables import everything


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(dsn, monkeypatch, capfd)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_port_that_is_taken_is_told_before_the_demo_is_loaded(muniment: Command, taken: int) -> None:
    advice = "perhaps by another Muniment; choose one with --port, or --port 0 for any"
    assert muniment("serve", "--port", taken) == (1, "", f"muniment: port {taken} of 127.0.0.1 is in use, {advice}\n")
    assert muniment.database(organisations.listed) == []


def test_an_address_that_is_not_this_machines_is_told(muniment: Command) -> None:
    answer = muniment("serve", "--host", "192.0.2.1", "--port", 0)
    assert answer == (1, "", "muniment: cannot listen on port 0 of 192.0.2.1: cannot assign requested address\n")


def test_a_vault_that_is_none_is_told(muniment: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    muniment("org", "create", "Acme")
    (tmp_path / "file").touch()
    monkeypatch.setenv("MUNIMENT_VAULT_ROOT", str(tmp_path / "file"))
    answer = muniment("serve", "--port", 0)
    told = f"muniment: the settings are not right\n- MUNIMENT_VAULT_ROOT: the vault's root {tmp_path / 'file'} is a file, not a folder\n"
    assert answer == (1, "", told)


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("org", "list"), ("migrate",), ("doctor",)])
def test_a_database_of_a_later_version_is_left_alone(muniment: Command, command: tuple[str, ...]) -> None:
    async def leave(db: Database) -> None:
        async with db.write() as writer:
            await writer.execute("UPDATE alembic_version SET version_num = '9001'")

    muniment.database(leave)
    before = muniment.database(everything)
    answer = muniment(*command)
    assert answer.code == 1
    said = " ".join((answer.out + answer.err).split())
    assert f"the database is at revision 9001, which this version of Muniment does not know (its last one is {migrate.head()})" in said
    assert "Traceback" not in said
    assert muniment.database(everything) == before


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("org", "list"), ("token", "list"), ("export", "--all", "x")])
def test_a_database_without_tables_says_what_to_do(muniment: Command, cluster: EmbeddedPostgres, command: tuple[str, ...]) -> None:
    cluster.ensure_database("never_migrated")
    muniment.dsn = cluster.dsn("never_migrated")
    told = f"muniment: the database has no tables yet; this version needs revision {migrate.head()}. Run `muniment migrate` first\n"
    assert muniment(*command) == (1, "", told)


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("org", "list"), ("migrate",)])
def test_a_database_that_is_not_there_is_told(muniment: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    muniment.dsn = f"postgresql://nobody:secret@/nothing?host={tmp_path}"
    told = f"muniment: cannot connect to the database nothing at {tmp_path}: no such file or directory\n"
    assert muniment(*command) == (1, "", told)


def test_a_migration_goes_as_far_as_it_is_told(muniment: Command, cluster: EmbeddedPostgres) -> None:
    cluster.ensure_database("migrated_by_steps")
    muniment.dsn = cluster.dsn("migrated_by_steps")
    for revision in migrate.revisions():
        assert muniment("migrate", "--revision", revision) == (0, f"the database is at revision {revision}\n", "")
    assert muniment("migrate") == (0, f"the database is at revision {migrate.head()}\n", "")
    assert muniment("org", "list").code == 0
