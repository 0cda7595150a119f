"""Versions, guards, caps and provenance of note writes and deletions."""

import asyncio
from dataclasses import replace

import pytest

from models.errors import LimitExceeded, NotFound, Unprocessable, VersionConflict
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER, NOTE_BYTES
from models.paths import note_path
from store import notes
from store.database import Database
from tests.store.trail import changes_at, everything, history
from tests.world import World, add_run

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


def path_of(world: World, key: str = "plan.md") -> str:
    return note_path(world.org, GUILD, world.writers, key)


async def test_versions_go_on_after_a_deletion(db: Database, world: World) -> None:
    first = await notes.write(db, world.ada, GUILD, "plan.md", "One.")
    second = await notes.write(db, world.bob, GUILD, "plan.md", "Two.")
    assert (second.version, second.id, second.content) == (2, first.id, "Two.")
    assert (second.created_by_name, second.updated_by_name, second.created_at) == ("Ada", "Bob", first.created_at)
    deletion = await notes.delete(db, world.ada, path_of(world))
    assert (deletion.operation, deletion.version, deletion.display_path, deletion.recorded) == ("DELETE", 3, path_of(world), True)
    with pytest.raises(NotFound):
        await notes.get(db, world.ada, path_of(world))
    with pytest.raises(NotFound):
        await notes.delete(db, world.ada, path_of(world))
    again = await notes.write(db, world.ada, GUILD, "plan.md", "Three.")
    assert again.version == 4
    assert again.id != first.id
    assert await history(db, path_of(world)) == [("CREATE", 1), ("UPDATE", 2), ("DELETE", 3), ("CREATE", 4)]


async def test_versions_go_on_when_old_changes_are_pruned(db: Database, world: World) -> None:
    await notes.write(db, world.ada, GUILD, "plan.md", "One.")
    await notes.delete(db, world.ada, path_of(world))
    async with db.write() as tx:
        await tx.execute("DELETE FROM file_changes")
    assert (await notes.write(db, world.ada, GUILD, "plan.md", "Two.")).version == 3


async def test_a_change_says_who_when_and_in_which_call(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    caller = world.ada.in_call(run, "call-1", "note_write")
    note = await notes.write(db, caller, GUILD, "plan.md", "x")
    await notes.delete(db, caller.in_call(run, "call-2", "note_delete"), path_of(world))
    created, deleted = await changes_at(db, path_of(world))
    assert (created.file_id, created.kind, created.level, created.owner_id) == (note.id, "NOTE", "GUILD", world.writers)
    assert (created.event_path, created.previous_path, created.at) == (path_of(world), None, note.updated_at)
    assert (created.actor_kind, created.actor_id, created.actor_name) == ("AGENT", world.ada.id, "Ada")
    assert (created.run_id, created.tool_call_id, created.tool_name) == (run, "call-1", "note_write")
    assert (deleted.file_id, deleted.level, deleted.owner_id) == (note.id, "GUILD", world.writers)
    assert (deleted.run_id, deleted.tool_call_id, deleted.tool_name) == (run, "call-2", "note_delete")


async def test_the_bell_rings_for_writes_alone(db: Database, world: World) -> None:
    rung: list[set[str]] = []
    db.after_commit = rung.append
    await notes.write(db, world.ada, GUILD, "plan.md", "x")
    await notes.write(db, world.ada, GUILD, "plan.md", "y", None, 1)
    with pytest.raises(VersionConflict):
        await notes.write(db, world.ada, GUILD, "plan.md", "z", None, 1)
    await notes.delete(db, world.ada, path_of(world))
    assert rung == [{world.org}] * 3


@pytest.mark.parametrize(
    "content", ["", "  \r\n\ttext \n\n", "e\N{COMBINING ACUTE ACCENT}", "\N{ROCKET}" * 100, "' OR 1=1; --", "a" * NOTE_BYTES]
)
async def test_content_comes_back_character_for_character(db: Database, world: World, content: str) -> None:
    assert (await notes.write(db, world.ada, AGENT, "plan.md", content)).content == content
    path = note_path(world.org, AGENT, world.ada.id, "plan.md")
    assert (await notes.get(db, world.ada, path)).content == content


async def test_a_note_of_unique_words_up_to_the_cap(db: Database, world: World) -> None:
    content = " ".join(f"{n:x}" for n in range(60_000))[:NOTE_BYTES]
    assert (await notes.write(db, world.ada, AGENT, "words.md", content)).content == content


@pytest.mark.parametrize("content", ["a" * (NOTE_BYTES + 1), "\N{EURO SIGN}" * (NOTE_BYTES // 3 + 1)])
async def test_content_over_the_cap(db: Database, world: World, content: str) -> None:
    before = await everything(db)
    with pytest.raises(LimitExceeded, match=r"the limit is 256 KB \(262,144 bytes"):
        await notes.write(db, world.ada, AGENT, "plan.md", content)
    assert await everything(db) == before


KEYS = {
    "../x.md": "one file name",
    "a/b.md": "one file name",
    "a\\b.md": "backslash",
    "MEMORY.MD": 'must end in ".md"',
    "plan": 'must end in ".md"',
    "": 'must end in ".md"',
    ".md": "needs a name",
    "a\nb.md": "control character",
    "a\x00b.md": "NUL",
    "\ud800.md": "surrogate",
    "x" * 297 + ".md": "300 bytes; at most 255",
    "task.md": "reserved",
    "memory.md": "memory_write",
}


@pytest.mark.parametrize("key", KEYS)
async def test_keys_that_are_refused(db: Database, world: World, key: str) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable, match=KEYS[key]) as refusal:
        await notes.write(db, world.ada, AGENT, key, "x")
    assert {problem.column for problem in refusal.value.problems} == {"key"}
    assert await everything(db) == before


@pytest.mark.parametrize("key", ["task.md", "memory.md", "%_'.md", "É" * 126 + ".md", "Plan.md", " .md"])
async def test_keys_that_are_taken_at_guild_level(db: Database, world: World, key: str) -> None:
    await notes.write(db, world.ada, GUILD, key, "x")
    assert (await notes.get(db, world.bob, path_of(world, key))).key == key


async def test_every_problem_is_listed_at_once(db: Database, world: World) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable) as refusal:
        await notes.write(db, world.ada, GUILD, "a/b", "x\x00", None, -1)
    assert [problem.column for problem in refusal.value.problems] == ["key", "key", "content", "expectedVersion"]
    assert refusal.value.message.splitlines()[0] == "note rejected"
    assert await everything(db) == before


async def test_keys_compare_exactly(db: Database, world: World) -> None:
    await notes.write(db, world.ada, GUILD, "Plan.md", "x")
    assert (await notes.write(db, world.ada, GUILD, "plan.md", "y")).version == 1
    with pytest.raises(NotFound):
        await notes.get(db, world.ada, path_of(world, "p%.md"))


async def test_expected_version_guards(db: Database, world: World) -> None:
    async def write(content: str, expected: int) -> int:
        return int((await notes.write(db, world.ada, GUILD, "plan.md", content, None, expected)).version)

    with pytest.raises(VersionConflict, match="does not exist") as missing:
        await write("x", 3)
    assert missing.value.extensions == {"currentVersion": 0}
    assert await write("One.", 0) == 1
    assert await write("Two.", 1) == 2
    assert await write("Two.", 2) == 3
    before = await everything(db)
    for stale in (0, 1, 2, 4, 2**31 - 1):
        with pytest.raises(VersionConflict, match="is at version 3") as conflict:
            await write("Four.", stale)
        assert conflict.value.extensions == {"currentVersion": 3}
        assert await write("Two.", stale) == 3
    assert await everything(db) == before
    await notes.delete(db, world.ada, path_of(world))
    with pytest.raises(VersionConflict):
        await write("Five.", 4)
    assert await write("Five.", 0) == 5


async def test_writing_the_same_again_counts(db: Database, world: World) -> None:
    for version in (1, 2):
        assert (await notes.write(db, world.ada, GUILD, "plan.md", "Same.")).version == version
    assert await history(db, path_of(world)) == [("CREATE", 1), ("UPDATE", 2)]


async def test_writers_at_once_each_make_a_version(db: Database, world: World) -> None:
    written = await asyncio.gather(*(notes.write(db, world.ada, GUILD, "plan.md", f"{n}") for n in range(20)))
    assert sorted(row.version for row in written) == list(range(1, 21))
    assert len({row.id for row in written}) == 1
    changes = await history(db, path_of(world))
    assert sorted(changes, key=lambda change: change[1]) == [("CREATE", 1), *(("UPDATE", n) for n in range(2, 21))]


async def test_one_of_many_creates(db: Database, world: World) -> None:
    attempts = (notes.write(db, world.ada, GUILD, "plan.md", f"{n}", None, 0) for n in range(12))
    answers = await asyncio.gather(*attempts, return_exceptions=True)
    conflicts = [answer for answer in answers if isinstance(answer, VersionConflict)]
    assert len(conflicts) == 11
    assert {conflict.extensions["currentVersion"] for conflict in conflicts} == {1}
    assert await history(db, path_of(world)) == [("CREATE", 1)]


async def test_writes_and_deletions_at_once_never_share_a_version(db: Database, world: World) -> None:
    async def churn(n: int) -> None:
        for round_ in range(8):
            if (n + round_) % 3:
                await notes.write(db, world.ada, GUILD, "plan.md", f"{n}")
                continue
            try:
                await notes.delete(db, world.bob, path_of(world))
            except NotFound:
                continue

    await asyncio.gather(*(churn(n) for n in range(6)))
    versions = [version for _, version in await history(db, path_of(world))]
    assert sorted(versions) == list(range(1, len(versions) + 1))


async def fill(db: Database, world: World, count: int) -> None:
    async with db.write() as tx:
        await tx.execute(
            """INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, content, search_blob, version, created_at, created_by_kind,
                created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
            SELECT $1, 'n' || n, 'NOTE', 'GUILD', $2, n || '.md', '', '', 1, now(), 'SYSTEM', 's', 's', now(), 'SYSTEM', 's', 's'
            FROM generate_series(1, $3::int) n""",
            world.org,
            world.writers,
            count,
        )


async def test_the_cap_of_an_owner(db: Database, world: World) -> None:
    await fill(db, world, ARTIFACTS_PER_OWNER - 5)
    answers = await asyncio.gather(*(notes.write(db, world.ada, GUILD, f"new{n}.md", "x") for n in range(9)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, LimitExceeded)]
    assert len(refused) == 4
    assert all("10,000 artifacts" in refusal.message for refusal in refused)
    before = await everything(db)
    with pytest.raises(LimitExceeded):
        await notes.write(db, world.operator, GUILD, "more.md", "x", world.writers)
    assert await everything(db) == before
    assert (await notes.write(db, world.ada, GUILD, "1.md", "y")).version == 2
    assert (await notes.write(db, world.ada, AGENT, "own.md", "y")).version == 1
    await notes.delete(db, world.ada, path_of(world, "1.md"))
    assert (await notes.write(db, world.ada, GUILD, "more.md", "x")).version == 1


async def test_a_deleted_owner_takes_no_notes(db: Database, world: World) -> None:
    async with db.write() as tx:
        await tx.execute("UPDATE guilds SET deleted_at = now() WHERE id = $1", world.writers)
        await tx.execute("UPDATE agents SET deleted_at = now() WHERE id = $1", world.ada.id)
    before = await everything(db)
    with pytest.raises(NotFound, match="unknown guild"):
        await notes.write(db, world.bob, GUILD, "plan.md", "x")
    with pytest.raises(NotFound, match="unknown agent"):
        await notes.write(db, world.operator, AGENT, "plan.md", "x", world.ada.id)
    assert await everything(db) == before


async def test_organisations_do_not_meet(db: Database, world: World) -> None:
    ours = await notes.write(db, world.operator, ORG, "plan.md", "Ours.")
    theirs = await notes.write(db, world.stranger, ORG, "plan.md", "Theirs.")
    assert (ours.version, theirs.version) == (1, 1)
    with pytest.raises(NotFound):
        await notes.delete(db, world.stranger, ours.display_path)
    assert (await notes.get(db, replace(world.loner), ours.display_path)).content == "Ours."
