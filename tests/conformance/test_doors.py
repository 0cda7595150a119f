"""Every case of the table, through every door that offers its operation: a door that answers otherwise fails."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager

from server.app import App
from server.postgres import EmbeddedPostgres
from server.settings import Settings
from store.database import Database
from tests.conformance import access_cases, notes_cases, records_cases
from tests.conformance.case import Case, Refused
from tests.conformance.doors import DOORS, Door, Operations, Outcome, Refusal
from tests.conformance.ground import Ground, lay

CASES = [*notes_cases.CASES, *records_cases.CASES, *access_cases.CASES]
pytestmark = pytest.mark.asyncio(loop_scope="module")

_TRACES = """SELECT (SELECT count(*) FROM file_changes WHERE org_id = $1),
    (SELECT coalesce(sum(version), 0) FROM artifacts WHERE org_id = $1),
    (SELECT coalesce(sum(version + next_id + record_count + revision), 0) FROM artifact_collections WHERE org_id = $1),
    (SELECT count(*) FROM collection_access WHERE org_id = $1), (SELECT coalesce(sum(task_version), 0) FROM agents WHERE org_id = $1)"""


@pytest.fixture(scope="module")
def shared_dsn(cluster: EmbeddedPostgres, worker_id: str) -> str:
    """One database for all cases: each has an organisation of its own."""
    name = f"conformance_{worker_id}"
    return cluster.dsn(name)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(
    cluster: EmbeddedPostgres, shared_dsn: str, worker_id: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, Door]]:
    admin = await asyncpg.connect(cluster.dsn("postgres"))
    name = f"conformance_{worker_id}"
    await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "muniment_template"')
    home: Path = tmp_path_factory.mktemp("conformance")
    db = await Database(shared_dsn, size=5).open()
    app = App(Settings(home=home, broadcast_url="memory://", database_connections=5), shared_dsn)
    async with (
        LifespanManager(app, startup_timeout=60, shutdown_timeout=60),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8000") as client,
    ):
        yield {door.name: door(db, client) for door in DOORS}
    await db.close()
    await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    await admin.close()


def offered(case: Case, door: type[Door]) -> bool:
    return (case.doors is None or door.name in case.doors) and door.offers(door, case.call.operation)  # type: ignore[arg-type]  # needs no state


PAIRS = [
    pytest.param(case, door.name, id=f"{case.section}-{case.name}-{door.name}") for case in CASES for door in DOORS if offered(case, door)
]


@pytest.mark.parametrize(("case", "door"), PAIRS)
async def test_the_door_answers_as_the_table_says(case: Case, door: str, shared: dict[str, Door]) -> None:
    inside = shared["operations"]
    ground = await lay(inside.db)
    for call in case.before:
        outcome = await inside.call(ground, call)
        assert not isinstance(outcome, Refusal), outcome
    traces = await _traces(inside.db, ground)
    found = await shared[door].call(ground, case.call)
    if isinstance(case.expected, Refused):
        holds_refusal(case.expected, found)
        assert await _traces(inside.db, ground) == traces
    else:
        assert not isinstance(found, Refusal), found
        assert missing(ground.fill(case.expected), found) == []


def holds_refusal(expected: Refused, found: Outcome) -> None:
    assert isinstance(found, Refusal), found
    assert found.code == expected.code, found
    for part in expected.says:
        assert part in found.message
    if expected.exact is not None:
        assert found.message == expected.exact
    if expected.columns is not None:
        assert tuple(problem["column"] for problem in found.problems) == expected.columns


def missing(expected: Any, found: Any, where: str = "") -> list[str]:
    """What of the expected answer is not in the found one; lists must have the same length, "..." is any text, a body is the whole body."""
    match expected:
        case "...":
            return [] if isinstance(found, str) and found else [f"{where}: no text but {found!r}"]
        case dict():
            if not isinstance(found, dict):
                return [f"{where}: {found!r}"]
            more = [f"{where}.{key}: {found[key]!r}" for key in found.keys() - expected.keys()] if where.endswith(".body") else []
            return more + [part for key, item in expected.items() for part in missing(item, found.get(key), f"{where}.{key}")]
        case list():
            if not isinstance(found, list) or len(found) != len(expected):
                return [f"{where}: {found!r}"]
            return [part for n, item in enumerate(expected) for part in missing(item, found[n], f"{where}[{n}]")]
    return [] if expected == found and isinstance(expected, bool) == isinstance(found, bool) else [f"{where}: {found!r}, not {expected!r}"]


async def _traces(db: Database, ground: Ground) -> list[int]:
    async with db.read() as reader:
        row = await reader.row(_TRACES, ground.world.org)
        assert row is not None
        return list(row.values())


async def test_the_table_is_large_enough_and_its_names_are_its_own() -> None:
    names = [(case.section, case.name) for case in CASES]
    assert len(names) == len(set(names))
    assert len(names) >= 120
    assert Operations in DOORS
