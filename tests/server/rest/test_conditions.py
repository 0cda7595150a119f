"""Writes that are bound to a version: a stale one changes nothing, the current one passes."""

from typing import Any

import pytest

from models.kinds import NoteLevel
from server.rest.route import Guard, Route
from server.rest.table import ROUTES
from store import notes, records, scripts
from store.database import Database, Row
from tests.server.rest.conftest import Api, columns_of, refused
from tests.server.rest.test_openapi import example
from tests.store.tables import everything
from tests.world import World


async def files(db: Database, world: World, leads: Row) -> dict[str, str]:
    """The address of each file, all at version 1."""
    await records.add(db, world.operator, "leads", {"email": "a@b", "status": "new"})
    note = await notes.write(db, world.operator, NoteLevel.ORG, "plan.md", "x")
    await scripts.write(db, world.ada, "x.py", "x")
    return {
        "collection": f"/api/collections/{leads.id}",
        "record": f"/api/collections/{leads.id}/records/1",
        "note": f"/api/notes/{note.display_path}",
        "script": f"/api/agents/{world.ada.id}/scripts/x.py",
    }


@pytest.mark.parametrize("kind", ["record", "note", "script", "collection"])
async def test_a_deletion_is_bound_to_a_version(api: Api, db: Database, world: World, leads: Row, kind: str) -> None:
    path = (await files(db, world, leads))[kind]
    before = await everything(db)
    for stale in ('"2"', '"0"'):
        told = refused(await api("DELETE", path, headers={"If-Match": stale}), "VERSION_CONFLICT", 409)
        assert told["current_version"] == 1
    assert await everything(db) == before
    tag = (await api("GET", path)).headers["etag"]
    assert (await api("DELETE", path, headers={"If-Match": tag})).status_code == 204
    refused(await api("GET", path), "NOT_FOUND", 404)


async def test_a_change_of_a_table_is_bound_to_a_version(api: Api, db: Database, world: World, leads: Row) -> None:
    path = (await files(db, world, leads))["collection"]
    before = await everything(db)
    told = refused(await api("PATCH", path, json={"name": "other"}, headers={"If-Match": '"3"'}), "VERSION_CONFLICT", 409)
    assert told["current_version"] == 1
    present = {"name": "leads", "columns": (await api("GET", path)).json()["columns"]}
    same = await api("PATCH", path, json=present, headers={"If-Match": '"3"'})
    assert (same.status_code, same.json()["version"]) == (200, 1)
    assert await everything(db) == before
    tag = (await api("GET", path)).headers["etag"]
    changed = await api("PATCH", path, json={"name": "other"}, headers={"If-Match": tag})
    assert (changed.json()["name"], changed.json()["version"]) == ("other", 2)


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.guard is Guard.NONE and route.method != "GET"], ids=lambda route: route.name
)
async def test_a_condition_is_refused_where_it_would_not_be_kept(api: Api, route: Route) -> None:
    body: Any = None if route.body is None else {}
    response = await api(route.method, example(route), headers={"If-Match": '"1"'}, json=body)
    refused(response, "UNPROCESSABLE", 422)
    assert "If-Match" in columns_of(response)
