from urllib.parse import quote

import pytest

from models.kinds import NoteLevel
from store import notes
from store.database import Database
from tests.server.rest.conftest import Api, columns_of, refused
from tests.store.statements import counted
from tests.store.tables import everything
from tests.world import World


def org_note(world: World, key: str = "plan.md") -> str:
    return f"/api/notes/org/{world.org}/{key}"


def guild_note(world: World, guild: str, key: str = "plan.md") -> str:
    return f"/api/notes/org/{world.org}/guilds/{guild}/{key}"


def agent_note(world: World, agent: str, key: str = "plan.md") -> str:
    return f"/api/notes/org/{world.org}/agents/{agent}/{key}"


async def test_a_note_is_written_read_moved_and_deleted(api: Api, world: World) -> None:
    path = org_note(world, "caf%C3%A9 plan.md")
    written = await api("PUT", path, json={"content": "one\r\n two "})
    note = written.json()
    assert written.headers["etag"] == '"1"'
    assert (note["level"], note["owner_id"], note["key"], note["content"]) == ("org", world.org, "café plan.md", "one\r\n two ")
    assert (await api("GET", path)).json() == note
    place = {"path": note["display_path"], "level": "guild", "key": "moved.md", "owner_id": world.writers}
    moved = await api("POST", "/api/notes/move", json=place)
    assert (moved.status_code, moved.headers["location"]) == (201, guild_note(world, world.writers, "moved.md"))
    assert moved.json()["created_at"] == note["created_at"]
    refused(await api("GET", path), "NOT_FOUND", 404)
    gone = await api("DELETE", guild_note(world, world.writers, "moved.md"))
    assert (gone.status_code, gone.content) == (204, b"")
    refused(await api("DELETE", guild_note(world, world.writers, "moved.md")), "NOT_FOUND", 404)


@pytest.mark.parametrize("key", ["план.md", "見積 100%.md", "what? #1.md", "📦.md"])
async def test_a_move_leads_to_the_note_whatever_its_name(api: Api, world: World, key: str) -> None:
    note = (await api("PUT", org_note(world, "plan.md"), json={"content": "one"})).json()
    moved = await api("POST", "/api/notes/move", json={"path": note["display_path"], "level": "org", "key": key})
    assert (moved.status_code, moved.json()["key"]) == (201, key)
    assert moved.headers["location"] == "/api/notes/" + quote(f"org/{world.org}/{key}")
    assert (await api("GET", moved.headers["location"])).json() == moved.json()


async def test_writes_are_bound_to_a_version(api: Api, db: Database, world: World) -> None:
    path = org_note(world)
    new = {"If-None-Match": "*"}
    assert (await api("PUT", path, json={"content": "one"}, headers=new)).status_code == 200
    before = await everything(db)
    told = refused(await api("PUT", path, json={"content": "other"}, headers=new), "VERSION_CONFLICT", 409)
    assert told["current_version"] == 1
    assert (await api("PUT", path, json={"content": "one"}, headers=new)).json()["version"] == 1
    assert await everything(db) == before
    for stale in ('"2"', "7", '"0"'):
        refused(await api("PUT", path, json={"content": "two"}, headers={"If-Match": stale}), "VERSION_CONFLICT", 409)
    assert await everything(db) == before
    changed = await api("PUT", path, json={"content": "two"}, headers={"If-Match": '"1"'})
    assert (changed.headers["etag"], changed.json()["version"]) == ('"2"', 2)
    weak = await api("PUT", path, json={"content": "three"}, headers={"If-Match": 'W/"2"'})
    assert weak.json()["version"] == 3


@pytest.mark.parametrize("condition", [{"If-Match": "*"}, {"If-Match": '"1", "2"'}, {"If-None-Match": '"1"'}, {"If-Match": "new"}])
async def test_a_condition_that_cannot_be_kept_is_refused(api: Api, db: Database, world: World, condition: dict[str, str]) -> None:
    before = await everything(db)
    response = await api("PUT", org_note(world), json={"content": "x"}, headers=condition)
    refused(response, "UNPROCESSABLE", 422)
    assert columns_of(response) == list(condition)
    assert await everything(db) == before


async def test_a_reader_that_has_the_note_is_told_so(api: Api, world: World) -> None:
    await api("PUT", org_note(world), json={"content": "one"})
    for held in ('"1"', 'W/"1"', '"0", "1"', "*"):
        answer = await api("GET", org_note(world), headers={"If-None-Match": held})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", '"1"')
    assert (await api("GET", org_note(world), headers={"If-None-Match": '"2"'})).status_code == 200


async def test_the_finder_lists_one_owner_without_texts(api: Api, db: Database, world: World) -> None:
    for key in ("b.md", "A.md"):
        await notes.write(db, world.ada, NoteLevel.AGENT, key, "text")
    listed = await api("GET", "/api/notes", params={"level": "agent", "owner_id": world.ada.id})
    assert [(note["key"], note["updated_by"]["name"]) for note in listed.json()["notes"]] == [("A.md", "Ada"), ("b.md", "Ada")]
    assert (await api("GET", "/api/notes", params={"level": "ORG"})).json() == {"notes": []}
    refused(await api("GET", "/api/notes", params={"level": "guild", "owner_id": "nobody"}), "NOT_FOUND", 404)
    missing = refused(await api("GET", "/api/notes", params={"level": "guild"}), "UNPROCESSABLE", 422)
    assert missing["message"] == "owner_id is required at guild level: the id of the guild whose notes they are"
    wrong = await api("GET", "/api/notes", params={"level": "team", "owner": "x"})
    assert wrong.json()["problems"] == [
        {"column": "level", "message": 'expected one of agent, guild, org; got "team"'},
        {"column": "owner", "message": "unknown parameter; this route takes level, owner_id"},
    ]
    refused(await api("GET", "/api/notes", "ada", params={"level": "org"}), "FORBIDDEN", 403)


async def test_agents_write_where_their_bindings_let_them(api: Api, db: Database, world: World) -> None:
    own = await api("PUT", agent_note(world, world.ada.id), "ada", json={"content": "mine"})
    assert own.json()["updated_by"] == {"kind": "agent", "id": world.ada.id, "name": "Ada"}
    assert (await api("PUT", guild_note(world, world.writers), "ada", json={"content": "ours"})).status_code == 200
    await api("PUT", org_note(world), json={"content": "all"})
    before = await everything(db)
    refused(await api("PUT", org_note(world), "ada", json={"content": "x"}), "FORBIDDEN", 403)
    refused(await api("DELETE", org_note(world), "ada"), "FORBIDDEN", 403)
    for path in (agent_note(world, world.bob.id), guild_note(world, world.readers), agent_note(world, "nobody")):
        refused(await api("PUT", path, "ada", json={"content": "x"}), "NOT_FOUND", 404)
        refused(await api("GET", path, "ada"), "NOT_FOUND", 404)
    refused(await api("GET", agent_note(world, world.ada.id), "bob"), "NOT_FOUND", 404)
    refused(await api("GET", org_note(world), "stranger"), "NOT_FOUND", 404)
    place = {"path": f"org/{world.org}/plan.md", "level": "org", "key": "x.md"}
    refused(await api("POST", "/api/notes/move", "ada", json=place), "FORBIDDEN", 403)
    assert await everything(db) == before


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ("agents/a/task.md", "save it at /api/agents/{id}/task"),
        ("agents/a/memory.md", "write it at /api/agents/{id}/memory"),
        ("agents/a/scripts/x.py", "write it at /api/agents/{id}/scripts/{name}"),
        ("collections/leads", "change it at /api/collections/{id}"),
        ("collections/leads/1", "change it at /api/collections/{id}/records/{record_id}"),
        ("plain.txt", "is not a display path"),
        ("a%00b.md", "contains a NUL character"),
        ("x%2Fy.md", "is not a display path"),
        (f"{'k' * 300}.md", "has 303 bytes; at most 255 are allowed"),
    ],
)
async def test_a_path_of_no_note_is_refused_by_naming_the_right_place(api: Api, db: Database, world: World, tail: str, words: str) -> None:
    before = await everything(db)
    told = refused(await api("PUT", f"/api/notes/org/{world.org}/{tail}", json={"content": "x"}), "UNPROCESSABLE", 422)
    assert words in told["message"]
    assert await everything(db) == before


async def test_notes_are_found_by_their_words(api: Api, world: World) -> None:
    await api("PUT", org_note(world), json={"content": "The harvest begins in May."})
    found = await api("GET", "/api/notes/search", "ada", params={"query": "harvest", "level": "org"})
    [hit] = found.json()["notes"]
    assert (hit["key"], hit["level"], hit["snippet"]) == ("plan.md", "org", "The harvest begins in May.")
    assert (await api("GET", "/api/notes/search", "stranger", params={"query": "harvest"})).json() == {"notes": []}
    assert columns_of(await api("GET", "/api/notes/search", params={"limit": "x"})) == ["query", "limit"]
    refused(await api("GET", "/api/notes/search", params={"query": "x", "limit": "101"}), "UNPROCESSABLE", 422)


async def test_a_list_of_notes_costs_the_same_however_long(api: Api, db: Database, world: World) -> None:
    costs = []
    for number in range(9):
        await notes.write(db, world.operator, NoteLevel.ORG, f"n{number}.md", "x")
        if number in {0, 8}:
            with counted() as sent:
                await api("GET", "/api/notes?level=org")
            costs.append(len(sent))
    assert costs[0] == costs[1]
