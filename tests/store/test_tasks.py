"""Saving tasks: versions, revisions, provenance, and who may."""

import asyncio

import pytest

from models.errors import Forbidden, LimitExceeded, MunimentError, NotFound, Unprocessable, VersionConflict
from models.limits import TASK_BYTES, TASK_REVISIONS
from models.paths import agent_path
from store import tasks
from store.database import Database
from tests.store.statements import counted
from tests.store.trail import changes_at, everything, history
from tests.world import World


def path_of(world: World) -> str:
    return agent_path(world.org, world.ada.id, "task.md")


async def test_a_task_that_was_never_saved(db: Database, world: World) -> None:
    task = await tasks.get(db, world.ada, world.ada.id)
    assert (task.id, task.file_id, task.agent_id, task.display_path) == (world.ada.id, world.ada.id, world.ada.id, path_of(world))
    assert (task.content, task.version, task.updated_by_kind, task.updated_by_name) == ("", 0, "SYSTEM", "muniment")
    assert await tasks.revisions(db, world.operator, [world.ada.id]) == {}


async def test_saves_count_and_keep_what_they_replace(db: Database, world: World) -> None:
    first = await tasks.save(db, world.operator, world.ada.id, "One.")
    second = await tasks.save(db, world.operator, world.ada.id, "Two.", expected_version=1)
    assert (first.content, first.version, second.content, second.version) == ("One.", 1, "Two.", 2)
    assert (second.updated_by_kind, second.updated_by_id, second.updated_by_name) == ("USER", world.operator.id, "Olga")
    assert await tasks.get(db, world.operator, world.ada.id) == second
    (revision,) = (await tasks.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    assert (revision.content, revision.version, revision.source, revision.display_path) == ("One.", 1, "operator", None)
    assert (revision.saved_at, revision.saved_by_kind, revision.saved_by_id) == (first.updated_at, "USER", world.operator.id)
    created, updated = await changes_at(db, path_of(world))
    assert (created.operation, created.version, updated.operation, updated.version) == ("CREATE", 1, "UPDATE", 2)
    assert (updated.kind, updated.file_id, updated.level, updated.owner_id) == ("TASK", world.ada.id, "AGENT", world.ada.id)
    assert (updated.actor_kind, updated.actor_name, updated.at, updated.event_path) == ("USER", "Olga", second.updated_at, path_of(world))


async def test_the_latest_fifty_previous_saves_are_kept(db: Database, world: World) -> None:
    for n in range(1, TASK_REVISIONS + 4):
        await tasks.save(db, world.operator, world.ada.id, f"{n}")
    kept = (await tasks.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    assert [(row.version, row.content) for row in kept] == [(n, f"{n}") for n in range(TASK_REVISIONS + 2, 2, -1)]
    assert len(await changes_at(db, path_of(world))) == TASK_REVISIONS + 3


async def test_expected_versions(db: Database, world: World) -> None:
    assert (await tasks.save(db, world.operator, world.ada.id, "One.", expected_version=0)).version == 1
    await tasks.save(db, world.operator, world.ada.id, "Two.", expected_version=1)
    before = await everything(db)
    for stale in (0, 1, 3):
        with pytest.raises(VersionConflict) as conflict:
            await tasks.save(db, world.operator, world.ada.id, "Three.", expected_version=stale)
        assert conflict.value.extensions == {"currentVersion": 2}
        assert (await tasks.save(db, world.operator, world.ada.id, "Two.", expected_version=stale)).version == 2
    assert await everything(db) == before
    assert (await tasks.save(db, world.operator, world.ada.id, "Two.", expected_version=2)).version == 3


async def test_saves_at_once_each_make_a_version(db: Database, world: World) -> None:
    saved = await asyncio.gather(*(tasks.save(db, world.operator, world.ada.id, f"{n}") for n in range(12)))
    assert sorted(row.version for row in saved) == list(range(1, 13))
    assert sorted(version for _, version in await history(db, path_of(world))) == list(range(1, 13))


async def test_refusals(db: Database, world: World) -> None:
    before = await everything(db)
    refusals: list[tuple[type[MunimentError], str, object, str, str]] = [
        (Forbidden, "taskSave is for operators", world.ada, world.ada.id, "x"),
        (NotFound, "unknown agent nobody", world.operator, "nobody", "x"),
        (NotFound, "unknown agent", world.stranger, world.ada.id, "x"),
        (Unprocessable, "NUL", world.operator, world.ada.id, "a\x00b"),
        (Unprocessable, "surrogate", world.operator, world.ada.id, "\ud800"),
        (Unprocessable, "NUL", world.operator, "a\x00b", "x"),
        (LimitExceeded, "this task is 262,145 bytes; the limit is 256 KB", world.operator, world.ada.id, "a" * (TASK_BYTES + 1)),
    ]
    for error, text, caller, agent, content in refusals:
        with pytest.raises(error, match=text):
            await tasks.save(db, caller, agent, content)  # type: ignore[arg-type]
    with pytest.raises(Unprocessable, match="must be a version") as refusal:
        await tasks.save(db, world.operator, world.ada.id, "\x00", expected_version=-1)
    assert [problem.column for problem in refusal.value.problems] == ["content", "expectedVersion"]
    assert await everything(db) == before
    assert (await tasks.save(db, world.operator, world.ada.id, "a" * TASK_BYTES)).version == 1


async def test_who_reads_tasks(db: Database, world: World) -> None:
    await tasks.save(db, world.operator, world.ada.id, "Ada's.")
    assert (await tasks.of_agents(db, world.ada, [world.ada.id]))[world.ada.id].content == "Ada's."
    for attempt in (tasks.of_agents(db, world.bob, [world.ada.id, world.bob.id]), tasks.get(db, world.bob, world.ada.id)):
        with pytest.raises(Forbidden, match="another agent's task is for operators"):
            await attempt
    with pytest.raises(Forbidden):
        await tasks.revisions(db, world.ada, [world.ada.id])
    assert await tasks.of_agents(db, world.stranger, [world.ada.id]) == {}
    with pytest.raises(NotFound):
        await tasks.get(db, world.stranger, world.ada.id)


async def test_one_statement_for_many_agents(db: Database, world: World) -> None:
    ids = [world.ada.id, world.bob.id, world.cyd.id, "nobody", "\x00"]
    for agent in ids[:2]:
        for text in ("One.", "Two."):
            await tasks.save(db, world.operator, agent, text)
    with counted() as sent:
        found = await tasks.of_agents(db, world.operator, ids)
        revisions = await tasks.revisions(db, world.operator, ids)
    assert len(sent) == 2
    assert {agent: task.version for agent, task in found.items()} == {world.ada.id: 2, world.bob.id: 2, world.cyd.id: 0}
    assert {agent: [row.content for row in rows] for agent, rows in revisions.items()} == {agent: ["One."] for agent in ids[:2]}
