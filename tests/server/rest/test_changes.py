from models.kinds import NoteLevel
from store import notes
from store.database import Database, Row
from tests.server.conftest import bearer
from tests.server.rest.conftest import Api, columns_of, refused
from tests.store.statements import counted
from tests.world import World, add_run


async def test_a_run_owned_change_names_its_run(api: Api, db: Database, world: World) -> None:
    run = await add_run(db, world.ada, kind="routine", routine="daily")
    headers = bearer(api.tokens.ada) | {"X-Run-Id": run, "X-Tool-Call-Id": "call-1", "X-Tool-Name": "note_write"}
    path = f"org/{world.org}/guilds/{world.writers}/plan.md"
    await api("PUT", f"/api/notes/{path}", "ada", json={"content": "x"}, headers=headers)
    await api("PUT", f"/api/notes/{path}", json={"content": "y"})
    second, first = (await api("GET", "/api/file-changes", params={"display_path": path})).json()["changes"]
    assert (second["version"], second["operation"], second["actor"]["name"], second["run"]) == (2, "update", "Olga", None)
    assert (first["version"], first["kind"], first["operation"], first["recorded"]) == (1, "note", "create", True)
    assert (first["tool_call_id"], first["tool_name"]) == ("call-1", "note_write")
    told = first["run"]
    assert (told["agent"], told["guild"]) == ({"id": world.ada.id, "name": "Ada"}, {"id": world.writers, "name": "writers"})
    assert (told["id"], told["kind"], told["status"], told["routine"]) == (run, "routine", "running", "daily")
    [only] = (await api("GET", "/api/file-changes", params={"run_id": run})).json()["changes"]
    assert only == first
    [older] = (await api("GET", "/api/file-changes", params={"before": second["cursor"], "display_path": path})).json()["changes"]
    assert older == first


async def test_the_newest_change_of_many_paths(api: Api, db: Database, world: World, leads: Row) -> None:
    await notes.write(db, world.operator, NoteLevel.ORG, "a.md", "x")
    await notes.write(db, world.operator, NoteLevel.ORG, "b,c.md", "x")
    async with db.write() as writer:
        await writer.execute("DELETE FROM file_changes WHERE kind = 'NOTE'")
    prefix = f"org/{world.org}"
    asked = {"display_paths": f"{leads.display_path},{prefix}/a.md,{prefix}/none.md"}
    newest = (await api("GET", "/api/file-changes/latest", params=asked)).json()["changes"]
    assert [(change["display_path"], change["recorded"]) for change in newest] == [(leads.display_path, True), (f"{prefix}/a.md", False)]
    assert (newest[1]["actor"]["name"], newest[1]["version"]) == ("Olga", 1)
    posted = await api("POST", "/api/file-changes/latest", json={"display_paths": [f"{prefix}/b,c.md"]})
    assert posted.status_code == 200
    assert [change["display_path"] for change in posted.json()["changes"]] == [f"{prefix}/b,c.md"]
    assert (await api("POST", "/api/file-changes/latest", json={"display_paths": []})).json() == {"changes": []}


async def test_provenance_is_for_operators_and_refuses_nonsense(api: Api) -> None:
    refused(await api("GET", "/api/file-changes", "ada", params={"display_path": "x"}), "FORBIDDEN", 403)
    refused(await api("GET", "/api/file-changes/latest", "ada", params={"display_paths": "x"}), "FORBIDDEN", 403)
    wrong = await api("GET", "/api/file-changes", params={"before": "soon", "limit": "many", "path": "x"})
    assert columns_of(wrong) == ["limit", "before", "path"]
    refused(await api("GET", "/api/file-changes", params={"limit": "101"}), "UNPROCESSABLE", 422)
    assert columns_of(await api("GET", "/api/file-changes/latest")) == ["display_paths"]
    assert columns_of(await api("POST", "/api/file-changes/latest", json={"display_paths": "a,b"})) == ["display_paths"]
    assert columns_of(await api("POST", "/api/file-changes/latest", json={"display_paths": [1, "b"]})) == ["display_paths.0"]
    refused(await api("POST", "/api/file-changes/latest", json={"display_paths": ["x"] * 501}), "UNPROCESSABLE", 422)


async def test_history_costs_the_same_however_many_runs(api: Api, db: Database, world: World) -> None:
    costs = []
    for number in range(6):
        agent = world.ada if number % 2 else world.cyd
        run = await add_run(db, agent)
        await notes.write(db, agent.in_call(run, None, None), NoteLevel.AGENT, f"n{number}.md", "x")
        if number in {0, 5}:
            with counted() as sent:
                await api("GET", "/api/file-changes")
            costs.append(len(sent))
    assert costs[0] == costs[1]
