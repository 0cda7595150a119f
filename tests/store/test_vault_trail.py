"""The trail of a mounted vault: what differs from what was last seen is one change, whoever records it."""

import asyncio
import hashlib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.caller import Caller, system
from models.errors import Forbidden
from store import provenance, vault_trail
from store.database import Database
from store.leadership import Leadership
from store.vault_trail import Digests
from tests.store.trail import changes_at, everything, history
from tests.world import World, add_run

PATH = "vault/p/traps/x.md"
OTHER = "vault/p/plans/y.md"


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


async def record(db: Database, caller: Caller, digests: Digests) -> int:
    async with vault_trail.turn(db, caller.org_id) as writer:
        return await vault_trail.record(writer, caller, digests)


async def fail_after_recording(db: Database, caller: Caller) -> None:
    async with vault_trail.turn(db, caller.org_id) as writer:
        await vault_trail.record(writer, caller, {PATH: digest("b")})
        raise RuntimeError("the file could not be written")


async def live(db: Database, org: str) -> list[str]:
    async with db.read() as reader:
        return sorted(await vault_trail.live_paths(reader, org))


async def test_a_file_is_created_updated_deleted_and_goes_on_from_its_version(db: Database, world: World) -> None:
    vault = system(world.org, "vault")
    for text in ("a", "b", None, "c"):
        assert await record(db, vault, {PATH: None if text is None else digest(text)}) == 1
    assert await history(db, PATH) == [("CREATE", 1), ("UPDATE", 2), ("DELETE", 3), ("CREATE", 4)]
    assert await live(db, world.org) == [PATH]


async def test_what_is_known_already_writes_nothing(db: Database, world: World) -> None:
    await record(db, world.operator, {PATH: digest("a")})
    before = await everything(db)
    assert await record(db, world.ada, {PATH: digest("a"), OTHER: None}) == 0
    assert await record(db, world.ada, {}) == 0
    assert await everything(db) == before


async def test_a_change_says_who_and_in_which_call(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    await record(db, replace(world.ada, run_id=run, tool_call_id="call-1", tool_name="vault_upsert"), {PATH: digest("a")})
    (change,) = await changes_at(db, PATH)
    assert (change.kind, change.file_id, change.display_path, change.event_path) == ("VAULT", PATH, PATH, PATH)
    assert (change.actor_kind, change.actor_id, change.actor_name) == ("AGENT", world.ada.id, "Ada")
    assert (change.run_id, change.tool_call_id, change.tool_name) == (run, "call-1", "vault_upsert")
    assert (change.level, change.owner_id, change.collection_id, change.previous_path) == (None, None, None, None)


async def test_the_commit_rings_the_organisation_and_a_refused_one_leaves_nothing(db: Database, world: World) -> None:
    rung: list[set[str]] = []
    db.after_commit = rung.append
    await record(db, world.operator, {PATH: digest("a")})
    await record(db, world.operator, {PATH: digest("a")})
    assert rung == [{world.org}]
    before = await everything(db)
    with pytest.raises(RuntimeError, match="the file could not be written"):
        await fail_after_recording(db, world.operator)
    assert await everything(db) == before
    assert rung == [{world.org}]


async def test_many_processes_that_see_one_change_record_it_once(db: Database, world: World) -> None:
    counts = await asyncio.gather(*(record(db, system(world.org, "vault"), {PATH: digest("a"), OTHER: digest("b")}) for _ in range(8)))
    assert sorted(counts) == [0] * 7 + [2]
    assert await history(db, PATH) == [("CREATE", 1)]
    assert await history(db, OTHER) == [("CREATE", 1)]


async def test_who_saw_a_change_waits_for_who_made_it(db: Database, world: World) -> None:
    async with vault_trail.turn(db, world.org) as writer:
        # The file has been written, its writer has yet to record it: a watcher in another process sees it now.
        seen = asyncio.create_task(record(db, system(world.org, "vault"), {PATH: digest("a")}))
        await asyncio.sleep(0.1)
        assert not seen.done()
        await vault_trail.record(writer, world.ada, {PATH: digest("a")})
    assert await seen == 0
    assert [row.actor_name for row in await changes_at(db, PATH)] == ["Ada"]


async def test_a_turn_that_does_not_come_is_a_timeout(dsn: str, db: Database, world: World) -> None:
    impatient = await Database(dsn, size=1, statement_timeout=0.2).open()
    async with vault_trail.turn(db, world.org):
        with pytest.raises(TimeoutError, match="another writer"):
            await record(impatient, world.operator, {PATH: digest("a")})
        assert await record(impatient, world.stranger, {PATH: digest("a")}) == 1
    assert await record(impatient, world.operator, {PATH: digest("a")}) == 1
    await impatient.close()


async def test_organisations_do_not_share_a_trail(db: Database, world: World) -> None:
    assert await record(db, world.operator, {PATH: digest("a")}) == 1
    assert await record(db, world.stranger, {PATH: digest("a")}) == 1
    assert await record(db, world.stranger, {PATH: None}) == 1
    assert await live(db, world.org) == [PATH]
    assert await live(db, world.stranger.org_id) == []


async def test_versions_go_on_where_only_the_changes_were_kept(db: Database, world: World) -> None:
    await record(db, world.operator, {PATH: digest("a")})
    async with db.write() as writer:
        await writer.execute("DELETE FROM vault_files")
    await record(db, world.operator, {PATH: digest("a")})
    assert await history(db, PATH) == [("CREATE", 1), ("CREATE", 2)]


async def test_history_and_latest_know_the_paths_of_a_vault(db: Database, world: World) -> None:
    await record(db, world.ada, {PATH: digest("a"), OTHER: digest("a")})
    await record(db, world.operator, {PATH: digest("b")})
    await record(db, world.operator, {OTHER: None})
    found = await provenance.history(db, world.operator, display_path=PATH)
    assert [(row.operation, row.version, row.actor_name) for row in found] == [("UPDATE", 2, "Olga"), ("CREATE", 1, "Ada")]
    latest = await provenance.latest(db, world.operator, [OTHER, "vault/p/traps/none.md", PATH])
    assert [(row.display_path, row.operation, row.version, row.recorded) for row in latest] == [
        (OTHER, "DELETE", 2, True),
        (PATH, "UPDATE", 2, True),
    ]
    assert await provenance.latest(db, world.stranger, [PATH, OTHER]) == []
    with pytest.raises(Forbidden):
        await provenance.latest(db, world.ada, [PATH])


async def test_a_file_whose_changes_were_lost_answers_with_what_was_last_seen(db: Database, world: World) -> None:
    await record(db, world.ada, {PATH: digest("a"), OTHER: digest("a")})
    await record(db, world.operator, {PATH: digest("b"), OTHER: None})
    async with db.write() as writer:
        await writer.execute("DELETE FROM file_changes")
    (row,) = await provenance.latest(db, world.operator, [PATH, OTHER])
    assert (row.display_path, row.kind, row.operation, row.version, row.recorded) == (PATH, "VAULT", "UPDATE", 2, False)
    assert (row.actor_kind, row.actor_id, row.actor_name) == ("USER", world.operator.id, "Olga")
    assert (row.change_id, row.xid, row.file_id, row.level) == (0, 0, PATH, None)


STATES = st.dictionaries(st.sampled_from([PATH, OTHER, "vault/q/logs/z.md"]), st.sampled_from(["a", "b", None]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STATES, max_size=8))
async def test_the_trail_is_the_sequence_of_states(db: Database, world: World, looks: list[dict[str, str | None]]) -> None:
    async with db.write() as writer:
        await writer.execute("DELETE FROM vault_files")
        await writer.execute("DELETE FROM file_changes")
    states: dict[str, str | None] = {}
    expected: dict[str, list[tuple[str, int]]] = {}
    for look in looks:
        await record(db, world.operator, {path: None if text is None else digest(text) for path, text in look.items()})
        for path, text in look.items():
            before = states.get(path)
            if text != before:
                told = expected.setdefault(path, [])
                told.append(("DELETE" if text is None else "CREATE" if before is None else "UPDATE", len(told) + 1))
                states[path] = text
    assert {path: await history(db, path) for path in states} == {path: expected.get(path, []) for path in states}
    assert await live(db, world.org) == sorted(path for path, text in states.items() if text is not None)


async def test_one_leads_and_another_takes_over(dsn: str, db: Database) -> None:
    other = await Database(dsn, size=2).open()
    first, second, elsewhere = Leadership(db, "task"), Leadership(other, "task"), Leadership(other, "another task")
    assert [await leader.held() for leader in (first, second, elsewhere, first, second)] == [True, False, True, True, False]
    await first.give_up()
    assert [await leader.held() for leader in (second, first)] == [True, False]
    async with db.read() as reader:  # as when its process is killed
        ended = await reader.value(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        )
    assert ended == 2
    async with asyncio.timeout(20):
        while not await first.held():  # noqa: ASYNC110  # the end of a backend sets no event here
            await asyncio.sleep(0.01)
    assert [await leader.held() for leader in (second, first)] == [False, True]
    for leader in (first, second, elsewhere):
        await leader.give_up()
    await other.close()


async def test_nobody_leads_while_the_database_is_away() -> None:
    nowhere = Leadership(Database("postgresql://127.0.0.1:1/none"), "task")
    assert await nowhere.held() is False
    await nowhere.give_up()
