from typing import Any

import pytest

from models.kinds import AccessMode, SubjectType
from store import collections, grants
from store.database import Database, Row
from tests.server.rest.conftest import Api, columns_of, refused
from tests.store.statements import counted
from tests.store.tables import LEADS, add_table, allow, everything
from tests.world import World

NEW = {"name": "tasks", "purpose": "What is to be done.", "columns": [{"name": "title", "type": "text", "description": "What."}]}


async def test_a_collection_is_made_read_changed_and_deleted(api: Api, world: World) -> None:
    made = await api("POST", "/api/collections", json=NEW)
    assert made.status_code == 201
    table = made.json()
    assert made.headers["location"] == f"/api/collections/{table['id']}"
    assert {key: table[key] for key in ("name", "display_path", "scope", "guild_id", "record_count", "access", "version")} == {
        "name": "tasks",
        "display_path": f"org/{world.org}/collections/tasks",
        "scope": "org",
        "guild_id": None,
        "record_count": 0,
        "access": "write",
        "version": 1,
    }
    assert table["created_by"] == {"kind": "user", "id": world.operator.id, "name": "Olga"}
    [column] = table["columns"]
    assert column == {"name": "title", "type": "text", "description": "What.", "required": False, "unique": False, "values": None}

    renamed = [{**NEW["columns"][0], "name": "name", "rename_from": "title"}]  # type: ignore[dict-item]
    changed = (await api("PATCH", f"/api/collections/{table['id']}", json={"columns": renamed, "guild_id": world.writers})).json()
    assert (changed["columns"][0]["name"], changed["scope"], changed["guild_id"], changed["version"]) == ("name", "guild", world.writers, 2)

    moved = (await api("PATCH", f"/api/collections/{table['id']}", json={"guild_id": None})).json()
    assert (moved["scope"], moved["guild_id"]) == ("org", None)
    read = await api("GET", f"/api/collections/{table['id']}")
    assert read.json()["access_list"] == {"guilds": [{"id": world.writers, "name": "writers", "mode": "write"}], "agents": []}

    gone = await api("DELETE", f"/api/collections/{table['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await api("GET", f"/api/collections/{table['id']}")).json()["message"] == f"unknown collection {table['id']}"
    assert (await api("GET", "/api/collections")).json() == {"collections": []}


async def test_everything_wrong_with_a_new_collection_is_told_and_nothing_made(api: Api, db: Database, world: World) -> None:
    before = await everything(db)
    wrong = {"name": "No", "purpose": "", "columns": [{"name": "id", "type": "json", "description": "x"}]}
    told = refused(await api("POST", "/api/collections", json=wrong), "UNPROCESSABLE", 422)
    assert len(told["problems"]) == 4
    loose = await api("POST", "/api/collections", json={"purpose": "x", "columns": {}, "colour": "red", "guild_id": 5})
    assert sorted(map(str, columns_of(loose))) == ["colour", "columns", "guild_id", "name"]
    refused(await api("POST", "/api/collections", "ada", json=NEW), "FORBIDDEN", 403)
    refused(await api("POST", "/api/collections", json={**NEW, "guild_id": "nobody"}), "NOT_FOUND", 404)
    assert await everything(db) == before
    del world


async def test_a_taken_name_conflicts(api: Api, leads: Row) -> None:
    told = refused(await api("POST", "/api/collections", json={**NEW, "name": leads.name}), "CONFLICT", 409)
    assert told["message"] == "a collection of this name exists already"


@pytest.mark.parametrize("body", [{}, {"name": None}, {"columns": None}, {"columns": "x"}, {"size": 3}])
async def test_a_patch_that_says_nothing_or_nonsense_is_refused(api: Api, db: Database, leads: Row, body: Any) -> None:
    before = await everything(db)
    refused(await api("PATCH", f"/api/collections/{leads.id}", json=body), "UNPROCESSABLE", 422)
    assert await everything(db) == before


async def test_agents_see_the_tables_that_they_read_and_not_who_else_does(api: Api, db: Database, world: World, leads: Row) -> None:
    hidden = await add_table(db, world.operator, "hidden")
    await allow(db, world.operator, leads, world.ada, "READ")
    assert [table["name"] for table in (await api("GET", "/api/collections", "ada")).json()["collections"]] == ["leads"]
    read = (await api("GET", f"/api/collections/{leads.id}", "ada")).json()
    assert (read["access"], read["access_list"]) == ("read", None)
    refused(await api("GET", f"/api/collections/{hidden.id}", "ada"), "NOT_FOUND", 404)
    refused(await api("GET", f"/api/collections/{leads.id}", "stranger"), "NOT_FOUND", 404)
    before = await everything(db)
    refused(await api("PATCH", f"/api/collections/{leads.id}", "ada", json={"name": "mine"}), "FORBIDDEN", 403)
    refused(await api("DELETE", f"/api/collections/{leads.id}", "ada"), "FORBIDDEN", 403)
    assert await everything(db) == before


async def test_a_guild_and_an_agent_get_and_lose_their_modes(api: Api, db: Database, world: World, leads: Row) -> None:
    own = await add_table(db, world.operator, "own", guild=world.writers)
    path = f"/api/guilds/{world.writers}/collection-access"
    given = await api("PUT", path, json={"collection_id": leads.id, "mode": "read"})
    entry = {"collection_id": leads.id, "name": "leads", "display_path": leads.display_path, "scope": "org", "mode": "read"}
    assert given.json() == entry
    mine = {"collection_id": own.id, "name": "own", "display_path": own.display_path, "scope": "guild", "mode": "write"}
    assert (await api("GET", path)).json() == {"guild_id": world.writers, "collections": [mine, entry]}

    path = f"/api/agents/{world.ada.id}/collection-access"
    given = await api("PUT", path, json={"collection_id": leads.id, "mode": "none"})
    modes = {"base": "read", "grant": "none", "effective": "none"}
    assert given.json() == {**{key: value for key, value in entry.items() if key != "mode"}, **modes}
    assert [table["effective"] for table in (await api("GET", path)).json()["collections"]] == ["write", "none"]
    assert [table["name"] for table in (await api("GET", path, "ada")).json()["collections"]] == ["own"]
    taken = await api("PUT", path, json={"collection_id": leads.id, "mode": None})
    assert (taken.json()["grant"], taken.json()["effective"]) == (None, "read")


@pytest.mark.parametrize(
    ("body", "column"),
    [({"collection_id": "x"}, "mode"), ({"mode": "all", "collection_id": "x"}, "mode"), ({"mode": "read"}, "collection_id")],
)
async def test_a_grant_that_makes_no_sense_is_refused(api: Api, world: World, body: Any, column: str) -> None:
    response = await api("PUT", f"/api/agents/{world.ada.id}/collection-access", json=body)
    refused(response, "UNPROCESSABLE", 422)
    assert columns_of(response) == [column]


async def test_access_of_nobody_is_not_found_and_of_others_forbidden(api: Api, world: World) -> None:
    for kind in ("agents", "guilds"):
        refused(await api("GET", f"/api/{kind}/nobody/collection-access"), "NOT_FOUND", 404)
    assert (await api("GET", f"/api/agents/{world.loner.id}/collection-access")).json()["collections"] == []
    refused(await api("GET", f"/api/agents/{world.bob.id}/collection-access", "ada"), "FORBIDDEN", 403)
    refused(await api("GET", f"/api/guilds/{world.writers}/collection-access", "ada"), "FORBIDDEN", 403)
    refused(await api("GET", f"/api/agents/{world.ada.id}/collection-access", "stranger"), "NOT_FOUND", 404)


async def test_lists_cost_the_same_however_long(api: Api, db: Database, world: World) -> None:
    await add_table(db, world.operator, "first")
    paths = ("/api/collections", f"/api/agents/{world.ada.id}/collection-access")
    few = []
    for path in paths:
        with counted() as sent:
            await api("GET", path)
        few.append(len(sent))
    for number in range(5):
        row = await collections.create(db, world.operator, name=f"more{number}", purpose="x", columns=LEADS)
        await grants.set_grant(
            db,
            world.operator,
            collection_id=row.id,
            subject_type=SubjectType.GUILD,
            subject_id=world.writers,
            mode=AccessMode.READ,
        )
    many = []
    for path in paths:
        with counted() as sent:
            await api("GET", path)
        many.append(len(sent))
    assert many == few
