"""Whatever is killed at whatever moment: nothing acknowledged is lost, nothing stays running, the next start works."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from server.postgres import EmbeddedPostgres
from server.postgres.processes import server_processes
from tests.server.postgres.helpers import FAST, end, eventually, keeper_of, kill, living_server, query, server_of, started, user_process


def kill_server(base: Path) -> None:
    server = living_server(base)
    keeper = keeper_of(base)
    server.kill()
    # With its keeper dead too, the server may stay a zombie where nobody reaps: that must not count as running.
    eventually(lambda: server_of(base) is None and (not keeper.is_running() or keeper.status() == psutil.STATUS_ZOMBIE))


def test_a_killed_server_comes_back_with_every_acknowledged_row(base: Path) -> None:
    pg = EmbeddedPostgres(base)
    pg.start()
    acknowledged = query(pg, "CREATE TABLE rows (n int)", *[f"INSERT INTO rows VALUES ({n}) RETURNING n" for n in range(200)])
    kill_server(base)
    pg.start()
    assert acknowledged == 199
    assert query(pg, "SELECT array_agg(n ORDER BY n) FROM rows") == list(range(200))
    pg.stop()
    assert server_of(base) is None


def test_what_a_killed_server_left_running_is_ended_before_the_next_one_starts(base: Path) -> None:
    with EmbeddedPostgres(base, settings=FAST) as pg:
        server = living_server(base)
        writer = next(child for child in server.children() if "checkpointer" in "".join(child.cmdline()))
        writer.suspend()  # so that it does not notice the death of its server
        server.kill()
        pg.start()
        assert not writer.is_running() or writer.status() == psutil.STATUS_ZOMBIE
        assert living_server(base) != server
        assert query(pg, "SELECT 1") == 1


def test_the_server_of_a_killed_user_stops(base: Path) -> None:
    user = user_process(base)
    assert started(user)
    keeper = keeper_of(base)
    kill(user)
    eventually(lambda: not server_processes(base / "postgres"))
    eventually(lambda: not keeper.is_running() or keeper.status() == psutil.STATUS_ZOMBIE)
    assert "database system is shut down" in (base / "postgres.log").read_text()


def test_a_start_right_after_a_killed_user_works(base: Path) -> None:
    user = user_process(base)
    assert started(user)
    kill(user)
    with EmbeddedPostgres(base, settings=FAST) as pg:
        assert query(pg, "SELECT 1") == 1


def test_a_killed_user_takes_the_server_from_nobody_else(base: Path) -> None:
    user = user_process(base)
    assert started(user)
    with EmbeddedPostgres(base) as pg:
        server = living_server(base)
        kill(user)
        assert query(pg, "SELECT 1") == 1
        assert living_server(base) == server


def test_a_server_without_keeper_is_stopped_by_its_next_last_user(base: Path) -> None:
    user = user_process(base)
    assert started(user)
    server = living_server(base)
    keeper_of(base).kill()
    kill(user)
    with EmbeddedPostgres(base) as pg:
        assert living_server(base) == server
        assert query(pg, "SELECT 1") == 1
    assert server_of(base) is None


def test_an_interrupted_initdb_leaves_nothing_that_counts(base: Path) -> None:
    user = user_process(base, fsync="on")
    eventually(lambda: any(base.glob("postgres.new-*/PG_VERSION")))
    os.killpg(user.pid, signal.SIGKILL)
    kill(user)
    assert not (base / "postgres").exists()
    with EmbeddedPostgres(base, settings=FAST) as pg:
        assert query(pg, "SELECT 1") == 1
    assert [path.name for path in base.glob("postgres.new-*")] == []


@pytest.fixture
def zombie() -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", ""])
    eventually(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
    yield child.pid
    child.wait()


@pytest.mark.parametrize("lie", ["", "12", "no number\n", "reused", "zombie", "dead"])
def test_a_pid_file_that_lies_is_not_believed(base: Path, zombie: int, lie: str) -> None:
    pg = EmbeddedPostgres(base, settings=FAST)
    pg.start()
    query(pg, "CREATE TABLE kept AS SELECT 7 AS number")
    files = [base / "postgres" / name for name in ("postmaster.pid", ".s.PGSQL.5432.lock")]
    true_pid, _, rest = files[0].read_text().partition("\n")
    kill_server(base)
    pids = {"reused": os.getpid(), "zombie": zombie, "dead": true_pid}
    for file in files:
        file.write_text(f"{pids[lie]}\n{rest}" if lie in pids else lie)
    pg.start()
    assert query(pg, "SELECT number FROM kept") == 7
    pg.stop()
    assert server_of(base) is None


def test_a_running_server_whose_pid_file_was_cut_is_joined_and_stopped(base: Path) -> None:
    user = user_process(base)
    assert started(user)
    server = living_server(base)
    (base / "postgres/postmaster.pid").write_text("")
    with EmbeddedPostgres(base) as pg:
        assert end(user) == 0
        assert living_server(base) == server
        assert query(pg, "SELECT 1") == 1
    assert server_of(base) is None
