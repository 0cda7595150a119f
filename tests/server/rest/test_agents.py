import pytest

from models.kinds import NoteLevel
from store import notes
from store.database import Database
from tests.server.rest.conftest import Api, refused
from tests.store.tables import everything
from tests.world import World


async def test_a_task_is_saved_rendered_and_bound_to_its_version(api: Api, db: Database, world: World) -> None:
    path = f"/api/agents/{world.ada.id}/task"
    await notes.write(db, world.operator, NoteLevel.ORG, "style.md", "Be brief.")
    empty = (await api("GET", path)).json()
    assert (empty["version"], empty["content"], empty["rendered"]) == (0, "", "")
    content = f"Write. ![[org/{world.org}/style.md]]"
    saved = await api("PUT", path, json={"content": content}, headers={"If-None-Match": "*"})
    assert (saved.json()["version"], saved.json()["content"]) == (1, content)
    assert "Be brief." in saved.json()["rendered"]
    assert saved.headers["etag"].startswith('"1-')
    again = await api("GET", path, "ada", headers={"If-None-Match": saved.headers["etag"]})
    assert again.status_code == 304
    await notes.write(db, world.operator, NoteLevel.ORG, "style.md", "Be long.")
    changed = await api("GET", path, headers={"If-None-Match": saved.headers["etag"]})
    assert "Be long." in changed.json()["rendered"]
    refused(await api("PUT", path, json={"content": "x"}, headers={"If-Match": '"2"'}), "VERSION_CONFLICT", 409)
    bound = await api("PUT", path, json={"content": "x"}, headers={"If-Match": saved.headers["etag"]})
    assert bound.json()["version"] == 2
    revisions = (await api("GET", f"{path}/revisions")).json()["revisions"]
    assert [(item["version"], item["content"], item["source"]) for item in revisions] == [(1, content, "operator")]


async def test_an_agent_reads_its_task_alone_and_writes_none(api: Api, db: Database, world: World) -> None:
    before = await everything(db)
    path = f"/api/agents/{world.ada.id}/task"
    assert (await api("GET", path, "ada")).status_code == 200
    refused(await api("PUT", path, "ada", json={"content": "x"}), "FORBIDDEN", 403)
    refused(await api("GET", f"{path}/revisions", "ada"), "FORBIDDEN", 403)
    refused(await api("GET", path, "bob"), "FORBIDDEN", 403)
    refused(await api("GET", path, "stranger"), "NOT_FOUND", 404)
    assert await everything(db) == before


async def test_memory_is_written_archived_and_restored(api: Api, world: World) -> None:
    path = f"/api/agents/{world.ada.id}/memory"
    assert refused(await api("GET", path, "ada"), "NOT_FOUND", 404)["message"] == "this agent has written no memory yet"
    assert (await api("PUT", path, "ada", json={"content": "one"}, headers={"If-None-Match": "*"})).json()["version"] == 1
    second = await api("PUT", path, json={"content": "two"}, headers={"If-Match": '"1"'})
    assert (second.headers["etag"], second.json()["updated_by"]["name"]) == ('"2"', "Olga")
    [revision] = (await api("GET", f"{path}/revisions")).json()["revisions"]
    assert (revision["content"], revision["source"], revision["version"]) == ("one", "agent", 1)
    read = await api("GET", f"/api/notes/{revision['display_path']}")
    assert read.json()["content"] == "one"
    refused(await api("GET", f"/api/notes/{revision['display_path']}", "ada"), "NOT_FOUND", 404)
    restored = await api("POST", "/api/memory/restore", json={"path": revision["display_path"]}, headers={"If-Match": '"2"'})
    assert (restored.status_code, restored.json()["content"], restored.headers["location"]) == (201, "one", path)
    refused(await api("PUT", path, "bob", json={"content": "x"}), "FORBIDDEN", 403)
    refused(await api("GET", f"{path}/revisions", "ada"), "FORBIDDEN", 403)
    assert (await api("GET", path, "ada")).json()["content"] == "one"


async def test_scripts_are_written_listed_and_deleted(api: Api, world: World) -> None:
    path = f"/api/agents/{world.ada.id}/scripts"
    made = await api("PUT", f"{path}/report.py", "ada", json={"content": "print(1)"})
    assert (made.headers["etag"], made.json()["name"], made.json()["content"]) == ('"1"', "report.py", "print(1)")
    [entry] = (await api("GET", path)).json()["scripts"]
    assert (entry["name"], entry["version"], "content" in entry) == ("report.py", 1, False)
    assert (await api("GET", f"{path}/report.py", "ada")).json() == made.json()
    refused(await api("GET", f"{path}/report.py", "bob"), "NOT_FOUND", 404)
    refused(await api("GET", path, "bob"), "FORBIDDEN", 403)
    told = refused(await api("PUT", f"{path}/-x", json={"content": ""}), "UNPROCESSABLE", 422)
    assert [problem["column"] for problem in told["problems"]] == ["name"]
    assert (await api("DELETE", f"{path}/report.py", "ada")).status_code == 204
    assert (await api("GET", path, "ada")).json() == {"scripts": []}


async def test_state_is_what_a_run_is_given(api: Api, db: Database, world: World) -> None:
    await notes.write(db, world.operator, NoteLevel.ORG, "style.md", "Be brief.")
    path = f"/api/agents/{world.ada.id}/state"
    state = (await api("GET", path, "ada")).json()
    assert state == (await api("GET", path)).json()
    assert [note["display_path"] for note in state["notes"]] == [f"org/{world.org}/style.md"]
    assert (state["task"], state["memory"], state["scripts"], state["collections"]) == ("", None, [], [])
    refused(await api("GET", path, "bob"), "FORBIDDEN", 403)


@pytest.mark.parametrize("name", ["task", "task/revisions", "memory", "memory/revisions", "scripts", "scripts/x.py", "state"])
async def test_nobodys_files_are_not_found(api: Api, name: str) -> None:
    refused(await api("GET", f"/api/agents/nobody/{name}"), "NOT_FOUND", 404)
    unstorable = await api("GET", f"/api/agents/no%00body/{name}")
    assert unstorable.json()["code"] in {"NOT_FOUND", "UNPROCESSABLE"}
