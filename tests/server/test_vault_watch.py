"""Which process records what, what happens when one goes away, and what a mounted vault refuses."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from models.errors import MunimentError, Unprocessable
from resolvers.mount import Mount
from server.services import open_services
from server.settings import Settings, SettingsError
from server.vault_watch import VaultWatch
from store import tokens
from store.database import Database, DatabaseUnavailable
from tests.server.vault_server import files, memo, rewrite, serving
from tests.store.trail import changes_at, everything
from tests.world import World
from vault import Vault

PATIENCE = 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@contextlib.asynccontextmanager
async def watching(mount: Mount, db: Database) -> AsyncIterator[VaultWatch]:
    watch = VaultWatch(mount, db, every=0.05)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await mount.close()


async def leading(*watches: VaultWatch) -> VaultWatch:
    async with asyncio.timeout(PATIENCE):
        while not any(watch.leads for watch in watches):  # noqa: ASYNC110  # another process has no event to give
            await asyncio.sleep(0.01)
    (leader,) = [watch for watch in watches if watch.leads]
    return leader


async def told(db: Database, path: str, count: int) -> list[tuple[str, int, str]]:
    async with asyncio.timeout(PATIENCE):
        while len(rows := await changes_at(db, path)) < count:  # noqa: ASYNC110  # a row sets no event here
            await asyncio.sleep(0.01)
    return [(row.operation, row.version, row.actor_name) for row in rows]


def upsert(slug: str, body: str = "text") -> Any:
    return lambda vault: vault.upsert("p", "spec", body, slug=slug)


async def test_one_of_two_records_and_the_other_takes_over(db: Database, world: World, root: Path) -> None:
    first, second = Mount(root, db, world.org), Mount(root, db, world.org)
    async with watching(second, db) as heir:
        await leading(heir)
        async with contextlib.AsyncExitStack() as ended:
            other = await ended.enter_async_context(watching(first, db))
            await memo(root, "upsert", "--kind", "spec", "--slug", "one", text="a")
            assert await told(db, "vault/p/specs/one.md", 1) == [("CREATE", 1, "vault")]
            assert (heir.leads, other.leads) == (True, False)
        third = Mount(root, db, world.org)
        async with watching(third, db) as successor:
            await heir._leadership.give_up()
            await leading(heir, successor)
            await memo(root, "upsert", "--kind", "spec", "--slug", "two", text="a")
            assert await told(db, "vault/p/specs/two.md", 1) == [("CREATE", 1, "vault")]
    assert len(await changes_at(db, "vault/p/specs/one.md")) == 1


async def test_what_could_not_be_recorded_is_recorded_when_it_can_be(db: Database, world: World, root: Path) -> None:
    mount = Mount(root, db, world.org)
    await mount.write(world.operator, upsert("zero"))
    async with watching(mount, db) as watch:
        await leading(watch)
        async with db.write() as writer:
            await writer.execute("ALTER TABLE vault_files RENAME TO hidden")
        await memo(root, "upsert", "--kind", "spec", "--slug", "one", text="a")
        async with asyncio.timeout(PATIENCE):
            while not watch._behind:  # noqa: ASYNC110  # it sets no event
                await asyncio.sleep(0.01)
        assert await changes_at(db, "vault/p/specs/one.md") == []
        async with db.write() as writer:
            await writer.execute("ALTER TABLE hidden RENAME TO vault_files")
        assert await told(db, "vault/p/specs/one.md", 1) == [("CREATE", 1, "vault")]
    assert await told(db, "vault/p/specs/zero.md", 1) == [("CREATE", 1, "Olga")]


async def test_a_write_is_its_callers_however_long_it_takes_to_be_recorded(db: Database, world: World, root: Path) -> None:
    mount, other = Mount(root, db, world.org), Mount(root, db, world.org)
    written, released = threading.Event(), threading.Event()

    def slow(vault: Vault) -> Any:
        answer = vault.upsert("p", "spec", "text", slug="one")
        written.set()
        released.wait(PATIENCE)
        return answer

    async with watching(other, db) as watch:
        await leading(watch)
        writing = asyncio.create_task(mount.write(world.ada, slow))
        await asyncio.to_thread(written.wait, PATIENCE)
        async with asyncio.timeout(PATIENCE):
            while not (await other.read(lambda vault: vault.list_records("p"))):  # noqa: ASYNC110  # seeing a file sets no event
                await asyncio.sleep(0.01)
        assert await changes_at(db, "vault/p/specs/one.md") == []
        released.set()
        await writing
        await memo(root, "upsert", "--kind", "spec", "--slug", "two", text="a")
        await told(db, "vault/p/specs/two.md", 1)
    assert await told(db, "vault/p/specs/one.md", 1) == [("CREATE", 1, "Ada")]
    await mount.close()


async def cut_off(mount: Mount, world: World, *, begun_first: bool) -> None:
    """A write of Ada's, whose caller goes away before its first file is written, or after."""
    reached, released = threading.Event(), threading.Event()

    def slow(vault: Vault) -> Any:
        answer = vault.upsert("p", "spec", "text", slug="one") if begun_first else None
        reached.set()
        released.wait(PATIENCE)
        return answer or vault.upsert("p", "spec", "text", slug="one")

    writing = asyncio.create_task(mount.write(world.ada, slow))
    await asyncio.to_thread(reached.wait, PATIENCE)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    released.set()
    await mount.close()


async def test_a_caller_that_goes_away_leaves_a_recorded_write(db: Database, world: World, root: Path) -> None:
    await cut_off(Mount(root, db, world.org), world, begun_first=True)
    assert await told(db, "vault/p/specs/one.md", 1) == [("CREATE", 1, "Ada")]


async def test_a_write_that_is_cut_off_before_it_begins_writes_nothing(world: World, db: Database, root: Path) -> None:
    await cut_off(Mount(root, db, world.org), world, begun_first=False)
    await asyncio.sleep(0.2)  # the thread goes on to where it would write
    assert files(root) == {}


async def test_nothing_is_written_that_could_not_be_recorded(world: World, root: Path) -> None:
    mount = Mount(root, Database("postgresql://127.0.0.1:1/none"), world.org)
    with pytest.raises(DatabaseUnavailable):
        await mount.write(world.operator, upsert("one"))
    assert files(root) == {}


async def test_a_vault_that_somebody_else_holds_answers_that_it_is_busy(
    db: Database, world: World, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolvers.mount._LOCK_TIMEOUT", 0.1)
    mount = Mount(root, db, world.org)
    before = await everything(db)
    with Vault(root)._engine.lock(), pytest.raises(MunimentError) as refused:
        await mount.write(world.operator, upsert("one"))
    assert (refused.value.code, refused.value.status) == ("UNAVAILABLE", 503)
    assert str(root) not in refused.value.message
    assert files(root) == {}
    assert await everything(db) == before


async def test_every_problem_of_a_request_is_listed_and_nothing_changes(db: Database, world: World, root: Path) -> None:
    mount = Mount(root, db, world.org)
    await mount.write(world.operator, upsert("one"))
    before, stored = files(root), await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await mount.write(
            world.operator, lambda vault: vault.upsert("p", "novel", "", slug="../x", frontmatter={"status": "odd", "severity": "mild"})
        )
    problems = [(problem.column, problem.message) for problem in refused.value.problems]
    assert problems[:3] == [
        ("kind", "must be trap, decision, spec, plan, state, log, scratch, review, prompt or session"),
        ("body", "must be a text that is not empty"),
        ("slug", "must be one path segment: no slash or backslash, nor a character that looks like one"),
    ]
    assert len(problems) == 5
    assert refused.value.message.splitlines()[0] == "vault request rejected"
    assert len(refused.value.message.splitlines()) == 6
    assert files(root) == before
    assert await everything(db) == stored
    await mount.close()


CALLS = [
    ('mutation { vaultUpsert(project: "../p", kind: "spec", body: "x") { created } }', "UNPROCESSABLE", "project"),
    ('mutation { vaultUpsert(project: "p", kind: "spec", body: "x", frontmatter: [1]) { created } }', "UNPROCESSABLE", None),
    ('mutation { vaultUpsert(project: "p", kind: "plan", slug: "taken", body: "x") { created } }', "CONFLICT", None),
    ('mutation { vaultUpsert(project: "p", kind: "spec", slug: "a\\u0000", body: "x") { created } }', "UNPROCESSABLE", "slug"),
    ('mutation { vaultUpsert(project: "p", kind: "spec", slug: "n", body: "a\\u0000") { created } }', "UNPROCESSABLE", "body"),
    ('mutation { vaultAppend(project: "p", event: " ") { id } }', "UNPROCESSABLE", "event"),
    ('mutation { vaultAppend(project: "p", event: "x", kind: "novel") { id } }', "UNPROCESSABLE", "kind"),
    ('mutation { vaultForget(project: "p", id: "none") }', "NOT_FOUND", None),
    ('mutation { vaultForget(project: "p") }', "UNPROCESSABLE", None),
    ('{ vaultRecord(project: "p") { id } }', "UNPROCESSABLE", None),
    ("{ vaultRecord { id } }", "UNPROCESSABLE", None),
    ('{ vaultRecords(project: "p", kind: "novel") { id } }', "UNPROCESSABLE", "kind"),
    ('{ vaultRecords(project: "p", status: "odd") { id } }', "UNPROCESSABLE", "status"),
    ('{ vaultSearch(query: "\\"open", project: "p") { rank } }', "UNPROCESSABLE", None),
    ('{ vaultSearch(query: "x", limit: 0) { rank } }', "UNPROCESSABLE", "limit"),
    ('{ vaultSearch(query: "x", kinds: ["novel"]) { rank } }', "UNPROCESSABLE", "kind"),
    ('{ vaultView(project: "p", name: "SECRETS") }', "UNPROCESSABLE", "name"),
    ('{ vaultView(project: "none", name: "TRAPS") }', "NOT_FOUND", None),
]


async def test_each_refusal_has_its_code_and_changes_nothing(dsn: str, db: Database, world: World, root: Path) -> None:
    await memo(root, "upsert", "--kind", "state", "--slug", "taken", text="a")
    async with serving(dsn, root, world.org) as server:
        client = server.client(await tokens.create_for_agent(db, world.ada.id))
        await told(db, "vault/p/plans/taken.md", 1)
        before = files(root)
        for call, code, column in CALLS:
            refused = await client.refused(call)
            assert (call, refused["code"]) == (call, code)
            columns = {problem["column"] for problem in refused["problems"]}
            assert (call, column) == (call, column if column in columns else None)
            assert str(root) not in refused["message"]
        assert files(root) == before
        assert len(await changes_at(db, "vault/p/plans/taken.md")) == 1


async def test_a_secret_reaches_no_answer_no_log_and_no_row(
    dsn: str, db: Database, world: World, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    async with serving(dsn, root, world.org) as server:
        client = server.client(await tokens.create_for_user(db, world.org, "Olga"))
        calls = (
            ('mutation($s: String!) { vaultUpsert(project: "p", kind: "spec", body: $s) { created } }', "body"),
            ('mutation($s: String!) { vaultUpsert(project: "p", kind: "spec", slug: $s, body: "x") { created } }', "slug"),
            ('mutation($s: String!) { vaultUpsert(project: $s, kind: "spec", body: "x") { created } }', "project"),
            ('mutation($s: String!) { vaultAppend(project: "p", event: $s) { id } }', "event"),
        )
        for call, column in calls:
            refused = await client.refused(call, s=secret)
            assert (refused["code"], [problem["column"] for problem in refused["problems"]]) == ("UNPROCESSABLE", [column])
            assert secret not in str(refused)
    assert files(root) == {}
    assert secret not in str(await everything(db))
    captured = capfd.readouterr()
    assert captured.err.count('"code":"UNPROCESSABLE"') == len(calls)
    assert secret not in captured.out + captured.err


async def test_settings_that_bind_no_vault_are_refused(dsn: str, world: World, root: Path, tmp_path: Path) -> None:
    async def problem(**values: Any) -> str:
        with pytest.raises(SettingsError) as refused:
            async with open_services(Settings(**values), dsn):
                raise AssertionError("it was served")
        return str(refused.value)

    assert await problem(vault_root=root) == (
        "the settings are not right\n- MUNIMENT_VAULT_ORGANISATION: there are 2 organisations; say whose the vault is"
    )
    assert "MUNIMENT_VAULT_ORGANISATION: there is no organisation nobody" in await problem(vault_root=root, vault_organisation="nobody")
    (tmp_path / "file").write_text("mine")
    assert "MUNIMENT_VAULT_ROOT: the vault's root" in await problem(vault_root=tmp_path / "file", vault_organisation=world.org)
    broken = tmp_path / "config.json"
    broken.write_text("{")
    assert "MUNIMENT_VAULT_ROOT: config.json is not JSON" in await problem(vault_root=tmp_path, vault_organisation=world.org)


async def test_links_that_lead_out_of_the_vault_are_no_files_of_it(db: Database, world: World, root: Path, tmp_path: Path) -> None:
    mount = Mount(root, db, world.org)
    await mount.write(world.operator, upsert("one"))
    (tmp_path / "outside.md").write_text("not yours")
    rewritten = root / "projects" / "p" / "specs" / "one.md"
    rewritten.unlink()
    rewritten.symlink_to(tmp_path / "outside.md")
    (rewritten.parent / "two.md").symlink_to(tmp_path / "outside.md")
    assert await mount.reconcile() == 1
    assert await told(db, "vault/p/specs/one.md", 2) == [("CREATE", 1, "Olga"), ("DELETE", 2, "vault")]
    rewritten.unlink()
    rewritten.write_text("no frontmatter")
    assert (await mount.reconcile(), await mount.reconcile()) == (1, 0)
    rewrite(rewritten, str.upper)
    assert await mount.reconcile() == 1
    await mount.close()
