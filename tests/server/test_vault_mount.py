"""A vault mounted in the server: whoever changes it, through a door, the command or an editor, the feed tells of it once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from store import tokens
from store.database import Database
from tests.server.vault_server import Client, Served, files, memo, rewrite, serving
from tests.store.trail import everything
from tests.world import World, add_run

UPSERT = """mutation($project: String! = "p", $kind: String! = "spec", $slug: String, $body: String! = "text", $matter: JSON) {
    vaultUpsert(project: $project, kind: $kind, slug: $slug, body: $body, frontmatter: $matter) {
        created recurrence superseded record { id project kind status displayPath body expired created updated frontmatter } } }"""
RECORD = """query($project: String, $id: String, $kind: String, $slug: String) {
    vaultRecord(project: $project, id: $id, kind: $kind, slug: $slug) { id status displayPath body } }"""
FORGET = 'mutation($id: String, $purge: Boolean) { vaultForget(project: "p", id: $id, purge: $purge) }'
LATEST = "query($p: [String!]!) { latestFileChanges(displayPaths: $p) { displayPath operation version recorded actor { name } } }"
SPECS = '{ vaultRecords(project: "p", kind: "spec") { id } }'
VAULT = ("SYSTEM", "vault")
OLGA = ("USER", "Olga")
ADA = ("AGENT", "Ada")


@dataclass
class Place:
    """The vault, and the tokens of who calls."""

    root: Path
    operator: str
    ada: str
    strangers: tuple[str, str]

    def file(self, slug: str, folder: str = "specs") -> Path:
        return self.root / "projects" / "p" / folder / f"{slug}.md"


@pytest.fixture
async def place(tmp_path: Path, db: Database, world: World) -> Place:
    other = world.stranger.org_id
    strangers = (await tokens.create_for_user(db, other, "Olga"), await tokens.create_for_agent(db, world.foreign_agent.id))
    operator, ada = await tokens.create_for_user(db, world.org, "Olga"), await tokens.create_for_agent(db, world.ada.id)
    return Place(tmp_path / "vault", operator, ada, strangers)


@pytest.fixture
async def served(dsn: str, place: Place, world: World) -> AsyncIterator[Served]:
    async with serving(dsn, place.root, world.org) as server:
        yield server


@pytest.fixture
def olga(served: Served, place: Place) -> Client:
    return served.client(place.operator)


async def settled(client: Client, root: Path) -> None:
    """Everything before this has been seen: a later change elsewhere is in the feed."""
    await memo(root, "upsert", "--kind", "plan", "--slug", "sentinel", text="seen")
    await client.until("vault/p/plans/sentinel.md", 1)


async def test_an_operator_writes_reads_and_forgets(olga: Client, place: Place) -> None:
    found = (await olga.data(UPSERT, slug="one", body="About pools.", matter={"title": "One", "tags": ["db"]}))["vaultUpsert"]
    assert (found["created"], found["recurrence"], found["superseded"]) == (True, False, False)
    record = found["record"]
    assert {name: record[name] for name in ("id", "project", "kind", "status", "displayPath", "body", "expired")} == {
        "id": "one",
        "project": "p",
        "kind": "spec",
        "status": "active",
        "displayPath": "vault/p/specs/one.md",
        "body": "About pools.",
        "expired": False,
    }
    assert (record["frontmatter"]["title"], record["frontmatter"]["tags"]) == ("One", ["db"])
    assert record["created"] == record["updated"]
    assert (await olga.data(UPSERT, slug="one", body="About wells."))["vaultUpsert"]["created"] is False
    assert await olga.data(FORGET, id="one", purge=False) == {"vaultForget": True}
    assert (await olga.data(RECORD, slug="one", kind="spec"))["vaultRecord"]["status"] == "archived"
    assert await olga.data(FORGET, id="one", purge=True) == {"vaultForget": True}
    assert await olga.data(RECORD, project="p", id="one") == {"vaultRecord": None}
    await settled(olga, place.root)
    path = "vault/p/specs/one.md"
    operations = ("CREATE", "UPDATE", "UPDATE", "DELETE")
    assert await olga.history(path) == [(operation, number, *OLGA) for number, operation in enumerate(operations, 1)]
    assert (await olga.data(LATEST, p=[path, "vault/p/specs/none.md"]))["latestFileChanges"] == [
        {"displayPath": path, "operation": "DELETE", "version": 4, "recorded": True, "actor": {"name": "Olga"}}
    ]


async def test_lists_searches_and_views(olga: Client) -> None:
    await olga.data(UPSERT, slug="one", body="About pools.")
    await olga.data(UPSERT, project="q", kind="trap", slug="two", body="Pools leak.", matter={"pathPatterns": ["src/a.py"]})
    query = """{ vaultProjects vaultRecords(project: "p", kind: "spec") { id } vaultView(project: "q", name: "TRAPS")
        all: vaultSearch(query: "pools") { record { project id } snippet rank }
        one: vaultSearch(query: "pools", project: "p") { record { id } } }"""
    found = await olga.data(query)
    assert (found["vaultProjects"], found["vaultRecords"]) == (["p", "q"], [{"id": "one"}])
    assert sorted((hit["record"]["project"], hit["record"]["id"], hit["snippet"]) for hit in found["all"]) == [
        ("p", "one", "About pools."),
        ("q", "two", "Pools leak."),
    ]
    assert found["one"] == [{"record": {"id": "one"}}]
    assert "two" in found["vaultView"]


async def test_an_agent_writes_in_its_run_and_supersedes_as_itself(
    served: Served, olga: Client, place: Place, db: Database, world: World
) -> None:
    run = await add_run(db, world.ada)
    await olga.data(UPSERT, kind="decision", slug="old", body="Use A.")
    ada = served.client(place.ada, Run_Id=run, Tool_Call_Id="call-7", Tool_Name="vault_upsert")
    found = (await ada.data(UPSERT, kind="decision", slug="new", body="Use B.", matter={"supersedes": "old"}))["vaultUpsert"]
    assert found["superseded"] is True
    await settled(olga, place.root)
    assert await olga.history("vault/p/decisions/new.md") == [("CREATE", 1, *ADA)]
    assert await olga.history("vault/p/decisions/old.md") == [("CREATE", 1, *OLGA), ("UPDATE", 2, *ADA)]
    changes = "query($r: ID!) { fileChanges(runId: $r) { displayPath toolCallId toolName run { id } } }"
    told = {"toolCallId": "call-7", "toolName": "vault_upsert", "run": {"id": run}}
    assert (await olga.data(changes, r=run))["fileChanges"] == [
        {"displayPath": "vault/p/decisions/old.md", **told},
        {"displayPath": "vault/p/decisions/new.md", **told},
    ]


async def test_the_command_an_editor_and_a_deletion_are_the_vaults_own_and_seen_by_readers(olga: Client, place: Place) -> None:
    await memo(place.root, "upsert", "--kind", "spec", "--slug", "one", text="By the command.")
    path = "vault/p/specs/one.md"
    assert await olga.until(path, 1) == [("CREATE", 1, *VAULT)]
    assert (await olga.data(RECORD, project="p", id="one"))["vaultRecord"]["body"] == "By the command."
    await asyncio.to_thread(rewrite, place.file("one"), lambda text: text.replace("By the command.", "By an editor."))
    assert (await olga.until(path, 2))[-1] == ("UPDATE", 2, *VAULT)
    listed = 'query { vaultRecords(project: "p") { id body } }'
    assert (await olga.data(listed))["vaultRecords"] == [{"id": "one", "body": "By an editor."}]
    await asyncio.to_thread(place.file("one").touch)
    await asyncio.to_thread(rewrite, place.file("one"), str)
    await settled(olga, place.root)
    assert len(await olga.history(path)) == 2
    await asyncio.to_thread(place.file("one").unlink)
    assert (await olga.until(path, 3))[-1] == ("DELETE", 3, *VAULT)
    assert [record["id"] for record in (await olga.data(listed))["vaultRecords"]] == ["sentinel"]
    assert (await olga.data(UPSERT, slug="one"))["vaultUpsert"]["created"] is True
    assert (await olga.history(path))[-1] == ("CREATE", 4, *OLGA)


async def test_a_file_that_a_hand_has_broken_is_a_change_and_no_write_touches_it(olga: Client, place: Place) -> None:
    await olga.data(UPSERT, slug="one")
    await asyncio.to_thread(rewrite, place.file("one"), lambda _: "---\nid: [\n---\n")
    assert await olga.until("vault/p/specs/one.md", 2) == [("CREATE", 1, *OLGA), ("UPDATE", 2, *VAULT)]
    before = files(place.root)
    refused = await olga.refused(UPSERT, slug="one", body="again")
    assert (refused["code"], refused["status"]) == ("CONFLICT", 409)
    assert refused["message"].startswith("projects/p/specs/one.md")
    assert files(place.root) == before
    await settled(olga, place.root)
    assert len(await olga.history("vault/p/specs/one.md")) == 2


async def test_what_changed_while_no_server_ran_is_told_at_the_next_start(dsn: str, place: Place, world: World) -> None:
    for slug in ("kept", "edited", "removed"):
        await memo(place.root, "upsert", "--kind", "spec", "--slug", slug, text="first")
    async with serving(dsn, place.root, world.org) as server:
        for slug in ("kept", "edited", "removed"):
            assert await server.client(place.operator).until(f"vault/p/specs/{slug}.md", 1) == [("CREATE", 1, *VAULT)]
    rewrite(place.file("edited"), lambda text: text.replace("first", "second"))
    place.file("removed").unlink()
    await memo(place.root, "upsert", "--kind", "spec", "--slug", "added", text="first")
    async with serving(dsn, place.root, world.org) as server:
        client = server.client(place.operator)
        assert (await client.until("vault/p/specs/edited.md", 2))[-1] == ("UPDATE", 2, *VAULT)
        assert (await client.until("vault/p/specs/removed.md", 2))[-1] == ("DELETE", 2, *VAULT)
        assert await client.until("vault/p/specs/added.md", 1) == [("CREATE", 1, *VAULT)]
        await settled(client, place.root)
        assert await client.history("vault/p/specs/kept.md") == [("CREATE", 1, *VAULT)]


async def test_two_servers_on_one_vault_tell_each_change_once_and_answer_alike(
    dsn: str, place: Place, world: World, served: Served
) -> None:
    async with serving(dsn, place.root, world.org) as second:
        one, other = served.client(place.operator), second.client(place.ada)
        await asyncio.gather(*(client.data(UPSERT, slug=f"s{n}") for n, client in enumerate([one, other] * 4)))
        await memo(place.root, "upsert", "--kind", "spec", "--slug", "s8", text="By the command.")
        await settled(one, place.root)
        told = [await one.history(f"vault/p/specs/s{n}.md") for n in range(9)]
        assert told == [*[[("CREATE", 1, *OLGA)], [("CREATE", 1, *ADA)]] * 4, [("CREATE", 1, *VAULT)]]
        for client in (one, other):
            async with asyncio.timeout(30):
                while len((await client.data(SPECS))["vaultRecords"]) < 9:  # noqa: ASYNC110  # another process has no event to give
                    await asyncio.sleep(0.02)


async def test_another_organisation_has_no_vault(olga: Client, served: Served, place: Place, db: Database) -> None:
    await olga.data(UPSERT, slug="one")
    await settled(olga, place.root)
    before, stored = files(place.root), await everything(db)
    calls = (
        "{ vaultProjects }",
        '{ vaultRecord(project: "p", id: "one") { id } }',
        '{ vaultRecords(project: "p") { id } }',
        '{ vaultSearch(query: "text") { rank } }',
        '{ vaultView(project: "p", name: "INDEX") }',
        'mutation { vaultUpsert(project: "p", kind: "spec", slug: "one", body: "mine") { created } }',
        'mutation { vaultAppend(project: "p", event: "mine") { id } }',
        'mutation { vaultForget(project: "p", id: "one", purge: true) }',
    )
    for token in place.strangers:
        for call in calls:
            assert (await served.client(token).refused(call))["code"] == "NOT_FOUND", call
    for call in calls:
        assert (await served.client(None).refused(call))["code"] == "UNAUTHENTICATED", call
    assert (await served.client(place.strangers[0]).data(LATEST, p=["vault/p/specs/one.md"])) == {"latestFileChanges": []}
    assert files(place.root) == before
    assert (await everything(db)) | {"tokens": ""} == stored | {"tokens": ""}


async def test_a_subscription_delivers_the_vault_to_its_organisation_only(olga: Client, served: Served, place: Place) -> None:
    await olga.data(UPSERT, slug="zero")
    (start,) = (await olga.data('{ fileChanges(displayPath: "vault/p/specs/zero.md") { cursor } }'))["fileChanges"]
    query = (
        f'subscription {{ fileChanges(after: "{start["cursor"]}", kinds: [VAULT], prefix: "vault/p/specs/") '
        "{ displayPath operation version kind actor { kind name } } }"
    )
    mine = served.client(place.strangers[1]).subscription("subscription { fileChanges { displayPath } }")
    async with olga.subscription(query) as operator, served.client(place.ada).subscription(query) as agent, mine as stranger:
        await served.client(place.ada).data(UPSERT, slug="one")
        await memo(place.root, "upsert", "--kind", "spec", "--slug", "two", text="By the command.")
        for following in (operator, agent):
            got = [await following(), await following()]
            assert [(change["displayPath"], change["operation"], change["version"], change["kind"]) for change in got] == [
                ("vault/p/specs/one.md", "CREATE", 1, "VAULT"),
                ("vault/p/specs/two.md", "CREATE", 1, "VAULT"),
            ]
            assert [change["actor"] for change in got] == [{"kind": "AGENT", "name": "Ada"}, {"kind": "SYSTEM", "name": "vault"}]
        note = 'mutation { noteWrite(level: ORG, key: "n.md", content: "x") { displayPath } }'
        written = (await served.client(place.strangers[0]).data(note.replace("key:", "ownerId: null, key:")))["noteWrite"]
        assert await stranger() == written
