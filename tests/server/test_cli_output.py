"""Where output cannot go, a command says so; and what it writes to is not done away with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.caller import system
from store import collections, organisations, records
from store.database import Database
from tests.server.command import Command
from tests.store.tables import LEADS

MUNIMENT = Path(sys.executable).parent / "muniment"


@pytest.fixture
def muniment(dsn: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(dsn, monkeypatch, capfd)


@pytest.fixture(autouse=True)
def leads(muniment: Command) -> None:
    async def make(db: Database) -> None:
        caller = system((await organisations.create(db, "Acme")).id)
        await collections.create(db, caller, name="leads", purpose="Who may buy.", columns=LEADS)
        await records.add(db, caller, "leads", {"email": "a@x", "status": "new"})

    muniment.database(make)


LINE = b'{"email":"a@x","status":"new"}\n'


@pytest.mark.parametrize("command", [("schema",), ("org", "list"), ("export", "--collection", "leads")])
def test_a_full_disk_is_told(dsn: str, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        environment = os.environ | {"MUNIMENT_DATABASE_URL": dsn}
        done = subprocess.run([MUNIMENT, *command], env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"muniment: No space left on device\n")


def test_a_reader_that_goes_is_no_fault() -> None:
    with subprocess.Popen([MUNIMENT, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_device_is_written_to_and_stays(muniment: Command) -> None:
    answer = muniment("export", "--collection", "leads", "--output", "/dev/null")
    assert (answer.code, answer.err) == (0, "leads written to /dev/null\n")
    assert Path("/dev/null").is_char_device()
    answer = muniment("export", "--collection", "leads", "--output", "/dev/full")
    assert answer == (1, "", "muniment: cannot write /dev/full: No space left on device\n")
    assert Path("/dev/full").is_char_device()


def test_what_a_link_leads_to_is_replaced(muniment: Command, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "leads.jsonl").write_text("old")
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real" / "leads.jsonl")
    assert muniment("export", "--collection", "leads", "--output", link).code == 0
    assert link.is_symlink()
    assert [file.name for file in (tmp_path / "real").iterdir()] == ["leads.jsonl"]
    assert (tmp_path / "real" / "leads.jsonl").read_bytes() == LINE


def test_a_folder_is_no_place_for_a_file(muniment: Command, tmp_path: Path) -> None:
    answer = muniment("export", "--collection", "leads", "--output", tmp_path)
    assert answer == (1, "", f"muniment: cannot write {tmp_path}: Is a directory\n")
    assert list(tmp_path.iterdir()) == []
