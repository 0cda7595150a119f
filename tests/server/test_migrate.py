import pytest
from alembic.script import ScriptDirectory

from server import migrate
from server.postgres import EmbeddedPostgres


@pytest.fixture
def empty(cluster: EmbeddedPostgres) -> str:
    cluster.ensure_database("empty_for_migrations")
    return cluster.dsn("empty_for_migrations")


def test_migrations_go_up_agree_with_the_models_and_come_back_down(empty: str) -> None:
    migrate.upgrade(empty)
    migrate.check(empty)
    migrate.downgrade(empty, "base")
    migrate.upgrade(empty)
    migrate.check(empty)


async def test_the_current_revision_is_the_head(dsn: str) -> None:
    assert await migrate.current(dsn) == migrate.head() == migrate.revisions()[-1]


def test_the_head_is_what_alembic_finds() -> None:
    assert ScriptDirectory("migrations").get_heads() == [migrate.head()]


def test_what_a_migration_prints_goes_where_stdout_goes_now(empty: str, capsys: pytest.CaptureFixture[str]) -> None:
    migrate.upgrade(empty)
    capsys.readouterr()
    migrate.check(empty)
    assert capsys.readouterr().out == "No new upgrade operations detected.\n"
