"""Where the base folder and the socket may lie."""

import asyncio
import subprocess
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from server.postgres import EmbeddedPostgres, PostgresError, sockets
from server.postgres.binaries import find_binaries
from server.postgres.layout import prepare_base
from tests.server.postgres.helpers import FAST, query, server_of

LONG = "long" * 40


def ask_through_sqlalchemy(pg: EmbeddedPostgres) -> object:
    async def ask() -> object:
        engine = create_async_engine(pg.dsn("postgres").replace("postgresql:", "postgresql+asyncpg:"))
        async with engine.connect() as connection:
            answer = (await connection.execute(text("SELECT 1"))).scalar()
        await engine.dispose()
        return answer

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "name", ["a space", "comma, colon: +", "q?&=#%20'\"", "schön 書", LONG], ids=["space", "comma", "signs", "unicode", "long"]
)
def test_a_folder_of_any_name_works_for_every_client(tmp_path: Path, name: str) -> None:
    with EmbeddedPostgres(tmp_path / name, settings=FAST) as pg:
        asked = [find_binaries() / "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command=SELECT 1", pg.dsn("postgres")]
        psql = subprocess.run(asked, capture_output=True, text=True, check=True)
        answers = (query(pg, "SELECT 1"), ask_through_sqlalchemy(pg), psql.stdout)
    assert answers == (1, 1, "1\n")
    assert server_of(tmp_path / name) is None


def test_a_relative_folder_and_a_link_name_the_same_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    addresses = {EmbeddedPostgres(folder).dsn() for folder in (Path("real"), Path("link"), tmp_path / "real")}
    assert addresses == {EmbeddedPostgres(tmp_path / "real").dsn()}


def test_the_short_link_lives_as_long_as_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / LONG / "postgres"
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        link = sockets.socket_folder(data)
        with EmbeddedPostgres(tmp_path / LONG, settings=FAST):
            assert link.is_relative_to(runtime)
            assert (link.parent.stat().st_mode & 0o777, link.readlink()) == (0o700, data)
        assert not link.is_symlink()


@pytest.mark.parametrize("fits", [True, False])
def test_the_limit_of_an_address_is_exact(fits: bool) -> None:
    length = sockets.LIMIT - len("/.s.PGSQL.5432") + (0 if fits else 1)
    data = Path("/" + "d" * (length - 1))
    assert (sockets.socket_folder(data) == data) is fits


def test_a_folder_for_links_that_others_may_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_folder = tmp_path / "x"
    open_folder.mkdir(mode=0o755)
    monkeypatch.setattr(sockets, "_link_folder", lambda: open_folder)
    monkeypatch.setattr(sockets, "LIMIT", 200)
    with pytest.raises(PostgresError, match="must be a folder of yours that nobody else may enter"):
        EmbeddedPostgres(tmp_path / LONG).start()
    assert list(open_folder.iterdir()) == []
    assert server_of(tmp_path / LONG) is None


def test_without_any_short_path_the_text_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LIMIT", 20)
    with pytest.raises(PostgresError, match="Set XDG_RUNTIME_DIR or MUNIMENT_HOME to a folder with a shorter path"):
        EmbeddedPostgres(tmp_path).start()


@pytest.mark.parametrize(("content", "mode"), [([], 0o700), (["other"], 0o755)])
def test_a_folder_with_content_of_others_keeps_its_mode(tmp_path: Path, content: list[str], mode: int) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o755)
    for name in content:
        (folder / name).touch()
    prepare_base(folder)
    assert folder.stat().st_mode & 0o777 == mode


def test_no_environment_of_the_user_reaches_the_server(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "PGPORT": "1",
        "PGHOST": "/nowhere",
        "PGDATA": "/nowhere",
        "PGOPTIONS": "-c work_mem=none",
        "LANG": "xx_YY.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")
    with EmbeddedPostgres(base, settings=FAST) as pg:
        pg.ensure_database("one")
        assert (query(pg, "SHOW fsync", database="one"), ask_through_sqlalchemy(pg)) == ("off", 1)
    assert server_of(base) is None
