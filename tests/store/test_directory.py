"""Organisations, guilds, agents, runs and routines: making, changing and reading them, and who may not."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from models.caller import Caller
from models.errors import Conflict, Forbidden, LimitExceeded, NotFound, Unprocessable
from models.limits import TASK_BYTES
from models.paths import agent_path
from store import agents, guilds, notes, organisations, runs, schedules
from store.database import Database
from tests.store.rows import add_collection, column, grant
from tests.store.trail import changes_at, everything
from tests.world import World, add_run


async def test_organisations(db: Database, world: World) -> None:
    made = await organisations.create(db, "Third")
    assert await organisations.get(db, made.id) == made
    assert [row.name for row in await organisations.listed(db)] == ["Acme", "Other", "Third"]
    with pytest.raises(NotFound, match="unknown organisation nowhere"):
        await organisations.get(db, "nowhere")
    with pytest.raises(Unprocessable, match="the name of an organisation is empty"):
        await organisations.create(db, " ")
    assert (await organisations.operator(db, world.org, "Olga")).id == world.operator.id
    with pytest.raises(NotFound):
        await organisations.operator(db, "nowhere", "Olga")


async def test_guilds(db: Database, world: World) -> None:
    made = await guilds.create(db, world.operator, "Editors")
    assert (made.name, made.deleted_at) == ("Editors", None)
    assert [row.name for row in await guilds.listed(db, world.org)] == ["Editors", "readers", "writers"]
    found = await guilds.by_ids(db, world.org, [made.id, world.writers, "nowhere", str(world.foreign_agent.guild_id)])
    assert set(found) == {made.id, world.writers}
    with pytest.raises(Conflict, match="a guild of this name exists already"):
        await guilds.create(db, world.operator, "Editors")
    assert (await guilds.create(db, world.stranger, "Editors")).name == "Editors"
    await guilds.delete(db, world.operator, made.id)
    assert (await guilds.create(db, world.operator, "Editors")).id != made.id


async def test_an_agent_begins_with_the_default_bindings(db: Database, world: World) -> None:
    made = await agents.create(db, world.operator, name="Dan", guild_id=world.writers)
    assert (made.name, made.guild_id, made.task, made.task_version) == ("Dan", world.writers, "", 0)
    assert (made.read_guild, made.read_org, made.write_guild, made.write_org) == (True, True, True, False)
    assert (made.created_by_name, made.updated_by_name) == ("Olga", "Olga")
    assert await changes_at(db, agent_path(world.org, made.id, "task.md")) == []
    assert (await agents.create(db, world.operator, name="Eve", task="")).task_version == 0


async def test_an_agent_begins_with_its_task(db: Database, world: World) -> None:
    made = await agents.create(db, world.operator, name="Dan", task="Keep the ledger.")
    assert (made.task, made.task_version, made.guild_id) == ("Keep the ledger.", 1, None)
    (change,) = await changes_at(db, agent_path(world.org, made.id, "task.md"))
    assert (change.kind, change.operation, change.version, change.file_id) == ("TASK", "CREATE", 1, made.id)
    assert (change.level, change.owner_id, change.actor_name, change.at) == ("AGENT", made.id, "Olga", made.updated_at)


async def test_an_agent_is_changed_in_what_is_given(db: Database, world: World) -> None:
    before = dict((await agents.by_ids(db, world.org, [world.ada.id]))[world.ada.id].items())
    after = await agents.update(db, world.operator, world.ada.id, name="Ada L.", write_org=True, read_guild=False)
    changed = {key for key, value in before.items() if value != after[key]}
    assert changed == {"name", "write_org", "read_guild"}
    assert await agents.update(db, world.operator, world.ada.id) == after
    left = await agents.update(db, world.operator, world.ada.id, guild_id=None)
    assert (left.guild_id, left.name) == (None, "Ada L.")
    assert (await agents.update(db, world.operator, world.ada.id, guild_id=world.readers)).guild_id == world.readers


async def test_agents_read_by_organisation_guild_and_id(db: Database, world: World) -> None:
    assert [row.name for row in await agents.listed(db, world.org)] == ["Ada", "Bob", "Cyd", "Loner"]
    members = await agents.of_guilds(db, world.org, [world.writers, world.readers, "nowhere"])
    assert {guild: [row.name for row in rows] for guild, rows in members.items()} == {world.writers: ["Ada", "Bob"], world.readers: ["Cyd"]}
    await agents.delete(db, world.operator, world.bob.id)
    assert [row.name for row in await agents.listed(db, world.org)] == ["Ada", "Cyd", "Loner"]
    assert [row.name for row in (await agents.of_guilds(db, world.org, [world.writers]))[world.writers]] == ["Ada"]
    found = await agents.by_ids(db, world.org, [world.bob.id, world.foreign_agent.id])
    assert [(row.name, row.deleted_at is None) for row in found.values()] == [("Bob", False)]


@pytest.mark.parametrize("odd", ["", "nothing", "\x00", "\ud800", "x" * 10_000])
async def test_odd_ids_are_unknown_ids(db: Database, world: World, odd: str) -> None:
    for read in (guilds.by_ids, agents.by_ids, agents.of_guilds, runs.by_ids):
        assert await read(db, world.org, [odd]) == {}
    assert await schedules.of_agents(db, world.operator, [odd]) == {}
    assert await notes.of_owners(db, world.operator, [odd]) == {}


async def test_leaving_a_guild_drops_the_grants_on_its_own_tables(db: Database, world: World) -> None:
    own = await add_collection(db, world.operator, "own", [column("a")], guild=world.writers)
    common = await add_collection(db, world.operator, "common", [column("a")])
    for table in (own, common):
        for agent in (world.ada, world.bob):
            await grant(db, world.operator, table, subject_type="AGENT", subject=agent.id, mode="READ")

    async def granted() -> set[tuple[str, str]]:
        async with db.read() as reader:
            return {(row[0], row[1]) for row in await reader.rows("SELECT collection_id, subject_id FROM collection_access")}

    everywhere = {(table, agent.id) for table in (own, common) for agent in (world.ada, world.bob)}
    await agents.update(db, world.operator, world.ada.id, guild_id=world.writers, write_org=True)
    assert await granted() == everywhere
    await agents.update(db, world.operator, world.ada.id, guild_id=world.readers)
    assert await granted() == everywhere - {(own, world.ada.id)}
    await agents.update(db, world.operator, world.bob.id, guild_id=None)
    assert await granted() == {(common, world.ada.id), (common, world.bob.id)}


async def test_what_is_refused_of_guilds_and_agents(db: Database, world: World) -> None:
    operator, foreign_guild = world.operator, str(world.foreign_agent.guild_id)
    refusals: list[tuple[type[Exception], str, Callable[[], Awaitable[Any]]]] = [
        (Conflict, "an agent of this name", lambda: agents.create(db, operator, name="Ada", task="x")),
        (Conflict, "an agent of this name", lambda: agents.update(db, operator, world.bob.id, name="Ada", write_org=True)),
        (NotFound, "unknown guild nowhere", lambda: agents.create(db, operator, name="Dan", guild_id="nowhere")),
        (NotFound, "unknown guild", lambda: agents.create(db, operator, name="Dan", guild_id=foreign_guild)),
        (NotFound, "unknown guild", lambda: agents.update(db, operator, world.ada.id, guild_id=foreign_guild)),
        (NotFound, "unknown agent", lambda: agents.update(db, operator, world.foreign_agent.id, name="x")),
        (NotFound, "unknown agent", lambda: agents.delete(db, operator, world.foreign_agent.id)),
        (NotFound, "unknown guild", lambda: guilds.delete(db, operator, foreign_guild)),
        (NotFound, "unknown guild", lambda: guilds.delete(db, world.stranger, world.writers)),
        (Unprocessable, "name of a guild is empty", lambda: guilds.create(db, operator, "")),
        (Unprocessable, "201 characters", lambda: agents.create(db, operator, name="x" * 201)),
        (Unprocessable, "name of an agent is empty", lambda: agents.update(db, operator, world.ada.id, name="")),
        (Unprocessable, "NUL", lambda: agents.create(db, operator, name="Dan", task="a\x00")),
        (Unprocessable, "surrogate", lambda: guilds.create(db, operator, "\ud800")),
        (Unprocessable, "NUL", lambda: agents.delete(db, operator, "\x00")),
        (LimitExceeded, "256 KB", lambda: agents.create(db, operator, name="Dan", task="x" * (TASK_BYTES + 1))),
    ]
    before = await everything(db)
    for error, text, call in refusals:
        with pytest.raises(error, match=text):
            await call()
    assert await everything(db) == before


async def test_directory_writes_are_for_operators(db: Database, world: World) -> None:
    run, other = await add_run(db, world.ada), world.ada.id
    routine = (await schedules.save(db, world.operator, agent_id=other, name="daily", instruction="x")).id
    calls: list[Callable[[Caller], Awaitable[Any]]] = [
        lambda caller: guilds.create(db, caller, "New"),
        lambda caller: guilds.delete(db, caller, world.writers),
        lambda caller: agents.create(db, caller, name="New"),
        lambda caller: agents.update(db, caller, other, write_org=True),
        lambda caller: agents.delete(db, caller, other),
        lambda caller: runs.start(db, caller, agent_id=other, kind="chat"),
        lambda caller: runs.finish(db, caller, run, "completed"),
        lambda caller: schedules.save(db, caller, agent_id=other, name="daily", instruction="y"),
        lambda caller: schedules.delete(db, caller, routine),
        lambda caller: schedules.fire(db, caller, routine),
    ]
    before = await everything(db)
    for call in calls:
        for caller in (world.ada, world.bob, world.foreign_agent):
            with pytest.raises(Forbidden, match="is for operators"):
                await call(caller)
    for call in calls[4:]:
        with pytest.raises(NotFound):
            await call(world.stranger)
    assert await everything(db) == before


async def test_runs(db: Database, world: World) -> None:
    run = await runs.start(db, world.operator, agent_id=world.ada.id, kind="chat", routine="by hand")
    assert (run.agent_id, run.guild_id, run.kind, run.status, run.routine) == (world.ada.id, world.writers, "chat", "running", "by hand")
    assert (run.schedule_id, run.finished_at, run.previous_run_at, run.instruction) == (None, None, None, None)
    ended = await runs.finish(db, world.operator, run.id, "completed")
    assert (ended.status, ended.started_at) == ("completed", run.started_at)
    assert ended.finished_at >= run.started_at
    assert await runs.by_ids(db, world.org, [run.id, "nothing"]) == {run.id: ended}
    assert await runs.by_ids(db, world.stranger.org_id, [run.id]) == {}
    with pytest.raises(Conflict, match=f"run {run.id} has ended already; its status is completed"):
        await runs.finish(db, world.operator, run.id, "failed")
    assert (await runs.by_ids(db, world.org, [run.id]))[run.id] == ended


async def test_runs_that_are_refused(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    before = await everything(db)
    for kind in ("", "\x00", "x" * 201):
        with pytest.raises(Unprocessable, match=r"the name of a run's kind|NUL"):
            await runs.start(db, world.operator, agent_id=world.ada.id, kind=kind)
    with pytest.raises(Unprocessable, match="the name of a routine is empty"):
        await runs.start(db, world.operator, agent_id=world.ada.id, kind="chat", routine="")
    with pytest.raises(NotFound, match="unknown agent"):
        await runs.start(db, world.operator, agent_id=world.foreign_agent.id, kind="chat")
    with pytest.raises(NotFound, match="unknown run nothing"):
        await runs.finish(db, world.operator, "nothing", "completed")
    for status in ("", "running"):
        with pytest.raises(Unprocessable):
            await runs.finish(db, world.operator, run, status)
    assert await everything(db) == before


async def test_a_routine_remembers_when_it_fired_before(db: Database, world: World) -> None:
    routine = await schedules.save(db, world.operator, agent_id=world.ada.id, name="daily", instruction="Look.")
    assert (routine.agent_id, routine.name, routine.instruction, routine.previous_run_at) == (world.ada.id, "daily", "Look.", None)
    first = await schedules.fire(db, world.operator, routine.id)
    assert (first.kind, first.routine, first.schedule_id, first.agent_id) == ("routine", "daily", routine.id, world.ada.id)
    assert (first.instruction, first.previous_run_at) == ("Look.", None)
    again = await schedules.save(db, world.operator, agent_id=world.ada.id, name="daily", instruction="Look twice.")
    assert (again.id, again.instruction, again.previous_run_at) == (routine.id, "Look twice.", first.started_at)
    second = await runs.start(db, world.operator, agent_id=world.ada.id, kind="routine", routine="daily")
    assert (second.schedule_id, second.instruction, second.previous_run_at) == (routine.id, "Look twice.", first.started_at)
    third = await schedules.fire(db, world.operator, routine.id)
    assert third.previous_run_at == second.started_at


async def test_firings_at_once_follow_each_other(db: Database, world: World) -> None:
    routine = await schedules.save(db, world.operator, agent_id=world.ada.id, name="daily", instruction="Look.")
    fired = await asyncio.gather(*(schedules.fire(db, world.operator, routine.id) for _ in range(8)))
    assert len({run.previous_run_at for run in fired}) == 8


async def test_routines_are_seen_by_operators_and_their_agent(db: Database, world: World) -> None:
    ids = [world.ada.id, world.bob.id]
    for agent in ids:
        for name in ("weekly", "daily"):
            await schedules.save(db, world.operator, agent_id=agent, name=name, instruction="x")
    seen = {caller.name: await schedules.of_agents(db, caller, ids) for caller in (world.operator, world.ada, world.cyd, world.stranger)}
    assert seen.pop("Ada").keys() == {world.ada.id}
    assert [row.name for row in (await schedules.of_agents(db, world.operator, ids))[world.bob.id]] == ["daily", "weekly"]
    assert seen["Cyd"] == {}
    assert await schedules.of_agents(db, world.stranger, ids) == {}
    daily = (await schedules.of_agents(db, world.ada, ids))[world.ada.id][0]
    assert await schedules.delete(db, world.operator, daily.id) is True
    for call in (schedules.delete, schedules.fire):
        with pytest.raises(NotFound, match="unknown routine"):
            await call(db, world.operator, daily.id)
    assert (await schedules.save(db, world.operator, agent_id=world.ada.id, name="daily", instruction="x")).id != daily.id
