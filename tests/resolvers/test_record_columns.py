"""A list of records reads only the columns that are asked for: each answer is the same as when all are read."""

import json
from typing import Any

import pytest

from engine import dumps
from store import records
from store.database import Database
from tests.resolvers.test_agent_files import ask
from tests.store.statements import counted
from tests.store.tables import add_table, column
from tests.world import World

FIELDS = {
    "id": "id",
    "collection": "collection",
    "displayPath": "displayPath",
    "body": "body",
    "version": "version",
    "createdAt": "createdAt",
    "updatedAt": "updatedAt",
    "createdBy": "createdBy { kind id name }",
    "updatedBy": "updatedBy { kind id name }",
    "latestChange": "latestChange { operation displayPath version actor { name } }",
    "changes": "changes { operation displayPath version }",
}
LISTS = {
    "recordList": 'recordList(collection: "tasks") { records { %s } }',
    "narrowed": 'narrowed: recordList(collection: "tasks", where: {title: "first"}) { records { %s } }',
    "recordSearch": 'recordSearch(collection: "tasks", query: "first") { records { %s } }',
    "collection": 'collection(name: "tasks") { records(order: {column: "title"}) { records { %s } } }',
}


@pytest.fixture(autouse=True)
async def tasks(db: Database, world: World) -> None:
    await add_table(db, world.operator, "tasks", [column("title", required=True)])
    await records.add(db, world.operator, "tasks", {"title": "first"})
    await records.update(db, world.operator, "tasks", 1, {"title": "the first"})


async def record_of(db: Database, world: World, name: str, selection: str, fragments: str = "") -> dict[str, Any]:
    data, errors = await ask(db, world.operator, "query { " + LISTS[name] % selection + " }" + fragments)
    assert errors == []
    found = json.loads(dumps(data))[name]
    found = found["records"] if isinstance(found["records"], list) else found["records"]["records"]
    assert len(found) == 1
    record: dict[str, Any] = found[0]
    return record


@pytest.mark.parametrize("name", LISTS)
async def test_each_field_alone_is_as_among_all(db: Database, world: World, name: str) -> None:
    whole = await record_of(db, world, name, " ".join(FIELDS.values()))
    assert whole.keys() == FIELDS.keys()
    assert (whole["id"], whole["version"], whole["latestChange"]["operation"]) == ("1", 2, "UPDATE")
    for key, field in FIELDS.items():
        assert await record_of(db, world, name, field) == {key: whole[key]}


async def test_fragments_and_aliases_count(db: Database, world: World) -> None:
    spread = "fragment F on Record { ...G ... on Record { at: createdAt } } fragment G on Record { by: createdBy { name } }"
    found = await record_of(db, world, "recordList", "...F __typename", spread)
    assert (found["by"], found["__typename"], found["at"] is not None) == ({"name": "Olga"}, "Record", True)


async def test_other_columns_are_not_read(db: Database, world: World) -> None:
    with counted() as sent:
        await record_of(db, world, "recordList", "id body")
    assert "a.content_json AS body" in sent[-1]
    assert "NULL AS created_by_name" in sent[-1]
