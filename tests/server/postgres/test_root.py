"""Root starts the server as an account without its rights, without opening any folder to it."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from server.postgres import EmbeddedPostgres, PostgresError, binaries, embedded
from server.postgres.account import account_for
from tests.server.postgres.conftest import needs_root
from tests.server.postgres.helpers import FAST, ROOT, USER, living_server, query, server_of

pytestmark = needs_root


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that every account may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def modes(path: Path) -> list[int]:
    return [parent.stat().st_mode for parent in path.parents]


def test_the_server_of_root_has_nothing_of_root(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    base = closed / "home"
    before = modes(base)
    with EmbeddedPostgres(base, settings=FAST) as pg:
        server = living_server(base)
        status = Path(f"/proc/{server.pid}/status").read_text()
        groups = next(line for line in status.splitlines() if line.startswith("Groups:")).split()[1:]
        assert query(pg, "SELECT 1") == 1
        service = pwd.getpwnam("muniment")
        assert (server.uids().real, server.uids().saved, server.gids().real, server.gids().saved, groups) == (
            *(service.pw_uid,) * 2,
            *(service.pw_gid,) * 2,
            [],
        )
        assert (base.stat().st_uid, (base / "postgres").stat().st_uid) == (0, service.pw_uid)
    assert modes(base) == before


def test_programs_that_the_account_cannot_reach_are_copied(base: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = binaries.find_binaries()
    package = found.parent.parent
    closed = base.parent / "site"
    for folder in (package, package.parent / f"{package.name}.libs"):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    closed.chmod(0o700)
    (closed / package.name / "pginstall/bin/postgres").chmod(0o700)
    hidden = closed / package.name / found.relative_to(package)
    before = modes(hidden / "postgres")
    monkeypatch.setattr(binaries, "CACHE", outside / "cache")
    monkeypatch.setattr(embedded, "find_binaries", lambda: hidden)
    for _ in range(2):
        with EmbeddedPostgres(base, settings=FAST) as pg:
            assert query(pg, "CREATE EXTENSION IF NOT EXISTS pg_trgm", "SELECT similarity('ä', 'ä')") == 1.0
            assert Path(living_server(base).exe()).is_relative_to(outside / "cache")
    assert len(list((outside / "cache").iterdir())) == 1
    assert modes(hidden / "postgres") == before


def test_a_cluster_given_to_root_says_how_to_give_it_back(base: Path) -> None:
    with EmbeddedPostgres(base, settings=FAST):
        pass
    service = (base / "postgres").stat()
    os.chown(base / "postgres", 0, 0)
    with pytest.raises(PostgresError, match=f"sudo chown -R {service.st_uid}:{service.st_gid} '{base}/postgres'"):
        EmbeddedPostgres(base).start()
    assert server_of(base) is None


def test_in_a_folder_of_a_user_root_runs_the_server_as_that_user(outside: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    base = outside / "home"
    base.mkdir()
    os.chown(base, nobody.pw_uid, nobody.pw_gid)
    with EmbeddedPostgres(base, settings=FAST):
        assert living_server(base).uids().real == nobody.pw_uid
    owners = {path.name: path.stat().st_uid for path in base.iterdir()}
    assert owners == dict.fromkeys(("postgres", "postgres.log", "postgres.start.lock", "postgres.users.lock"), nobody.pw_uid)
    account = account_for(base)
    assert account is not None
    assert (account.uid, account.gid) == (nobody.pw_uid, nobody.pw_gid)


def as_nobody(base: Path) -> subprocess.CompletedProcess[str]:
    # The Python of the tests may lie in root's home, which nobody may enter; the machine's own has the same packages by their path.
    python = next(path for path in ("/usr/bin/python3", sys.executable) if Path(path).exists())
    packages = [str(ROOT), str(Path(psutil.__file__).parents[1])]
    return subprocess.run(
        [python, "-c", USER, str(base), "off"],
        cwd="/",
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(packages)},
        user="nobody",
        group=pwd.getpwnam("nobody").pw_gid,
        extra_groups=[],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_user_without_rights_runs_a_server_of_their_own(outside: Path) -> None:
    outside.chmod(0o777)
    done = as_nobody(outside / "home")
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")
    assert (outside / "home/postgres").stat().st_uid == pwd.getpwnam("nobody").pw_uid
    assert server_of(outside / "home") is None


def test_a_user_without_rights_to_the_base_is_told_so(outside: Path) -> None:
    with EmbeddedPostgres(outside / "home", settings=FAST):
        done = as_nobody(outside / "home")
    assert done.returncode == 1
    assert f"PostgresError: The folder of the database cannot be used: {outside}/home: " in done.stderr
    assert "Run the command as the user who owns it, or set MUNIMENT_HOME" in done.stderr
