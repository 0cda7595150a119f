"""A real PostgreSQL for every test: one throw-away cluster, one migrated template, one clone of it a test."""

import itertools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import hypothesis
import pytest
from filelock import FileLock

from store.database import Database
from tests import world as worlds
from tests.world import World

if TYPE_CHECKING:
    from server.postgres import EmbeddedPostgres

TEMPLATE = "muniment_template"

# How long a busy machine takes is no fault of what is tested.
hypothesis.settings.register_profile("muniment", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("muniment")
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator["EmbeddedPostgres"]:
    """One cluster for the whole session, shared by its worker processes; it has no need to survive a power cut."""
    # Tests of the vault need no database and should not wait for these.
    from server import migrate
    from server.postgres import EmbeddedPostgres

    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    with EmbeddedPostgres(base / "cluster", settings={"fsync": "off", "full_page_writes": "off", "max_connections": "300"}) as postgres:
        with FileLock(base / "template.lock"):
            done = base / "template.done"
            if not done.exists():
                postgres.ensure_database(TEMPLATE)
                migrate.upgrade(postgres.dsn(TEMPLATE))
                done.touch()
        yield postgres


@pytest.fixture
async def dsn(cluster: "EmbeddedPostgres") -> AsyncIterator[str]:
    """The address of a fresh, migrated database."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    admin = await asyncpg.connect(cluster.dsn("postgres"))
    try:
        await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{TEMPLATE}" STRATEGY FILE_COPY')
        yield cluster.dsn(name)
        await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await admin.close()


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Database]:
    """A fresh database, open."""
    database = await Database(dsn, size=10).open()
    yield database
    await database.close()


@pytest.fixture
async def world(db: Database) -> World:
    """The organisation of tests/world.py."""
    return await worlds.build(db)


@pytest.fixture
def repository() -> Path:
    """The root of the project."""
    return Path(__file__).resolve().parent.parent
