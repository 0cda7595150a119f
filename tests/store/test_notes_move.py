"""Moving notes between keys and owners."""

import asyncio

import pytest

from models.errors import Conflict, Forbidden, LimitExceeded, NotFound, Unprocessable
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER
from models.paths import note_path
from store import note_search, notes
from store.database import Database
from tests.store.test_notes_write import fill
from tests.store.trail import changes_at, everything, history
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def test_a_move_keeps_the_beginning_and_joins_the_histories(db: Database, world: World) -> None:
    await notes.write(db, world.ada, AGENT, "draft.md", "One.")
    old = await notes.write(db, world.ada, AGENT, "draft.md", "Two.")
    new = await notes.move(db, world.operator, old.display_path, ORG, "final.md")
    assert (new.display_path, new.level, new.owner_id) == (note_path(world.org, ORG, world.org, "final.md"), "ORG", world.org)
    assert (new.content, new.version, new.created_at, new.created_by_name) == ("Two.", 3, old.created_at, "Ada")
    assert (new.updated_by_kind, new.updated_by_name) == ("USER", "Olga")
    with pytest.raises(NotFound):
        await notes.get(db, world.operator, old.display_path)
    assert await notes.get(db, world.bob, new.display_path) == new
    (change,) = await changes_at(db, new.display_path)
    assert (change.operation, change.version, change.previous_path) == ("MOVE", 3, old.display_path)
    assert (change.file_id, change.level, change.owner_id, change.at) == (new.id, "ORG", world.org, new.updated_at)
    assert await history(db, old.display_path) == [("CREATE", 1), ("UPDATE", 2)]
    assert (await notes.write(db, world.ada, AGENT, "draft.md", "Anew.")).version == 4


async def test_a_move_goes_on_from_the_last_version_there(db: Database, world: World) -> None:
    for n in range(4):
        there = await notes.write(db, world.ada, GUILD, "final.md", f"{n}")
    await notes.delete(db, world.ada, there.display_path)
    here = await notes.write(db, world.ada, GUILD, "draft.md", "x")
    moved = await notes.move(db, world.operator, here.display_path, GUILD, "final.md")
    assert (moved.version, moved.owner_id) == (6, world.writers)
    back = await notes.move(db, world.operator, moved.display_path, GUILD, "draft.md", world.writers)
    assert back.version == 7


async def test_a_moved_note_is_found_by_its_new_key(db: Database, world: World) -> None:
    note = await notes.write(db, world.operator, ORG, "draft.md", "x")
    await notes.move(db, world.operator, note.display_path, ORG, "charter.md")
    assert [hit.key for hit in await note_search.find(db, world.ada, "charter")] == ["charter.md"]
    assert await note_search.find(db, world.ada, "draft") == []


async def test_moves_that_are_refused(db: Database, world: World) -> None:
    here = await notes.write(db, world.ada, GUILD, "here.md", "x")
    await notes.write(db, world.ada, GUILD, "there.md", "y")
    before = await everything(db)
    refusals = [
        (Conflict, "already", here.display_path, GUILD, "there.md", world.writers),
        (Conflict, "already", here.display_path, GUILD, "here.md", None),
        (NotFound, "unknown note", note_path(world.org, GUILD, world.writers, "none.md"), ORG, "x.md", None),
        (NotFound, "unknown guild", here.display_path, GUILD, "x.md", world.foreign_agent.guild_id),
        (NotFound, "unknown agent", here.display_path, AGENT, "x.md", "nobody"),
        (Unprocessable, "ownerId is required", here.display_path, AGENT, "x.md", None),
        (Unprocessable, "one file name", here.display_path, ORG, "a/b.md", None),
        (Unprocessable, "reserved", here.display_path, AGENT, "memory.md", world.ada.id),
    ]
    for error, text, path, level, key, owner in refusals:
        with pytest.raises(error, match=text):
            await notes.move(db, world.operator, path, level, key, owner)
    with pytest.raises(Forbidden, match="noteMove is for operators"):
        await notes.move(db, world.ada, here.display_path, GUILD, "x.md")
    with pytest.raises(NotFound):
        await notes.move(db, world.stranger, here.display_path, ORG, "x.md")
    assert await everything(db) == before


async def test_a_move_into_a_full_owner(db: Database, world: World) -> None:
    await fill(db, world, ARTIFACTS_PER_OWNER)
    note = await notes.write(db, world.operator, ORG, "plan.md", "x")
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="10,000"):
        await notes.move(db, world.operator, note.display_path, GUILD, "plan.md", world.writers)
    assert await everything(db) == before
    assert (await notes.move(db, world.operator, note_path(world.org, GUILD, world.writers, "1.md"), GUILD, "renamed.md")).version == 2


async def test_one_of_many_moves_onto_a_key(db: Database, world: World) -> None:
    sources = [await notes.write(db, world.operator, ORG, f"{n}.md", f"{n}") for n in range(8)]
    moves = (notes.move(db, world.operator, note.display_path, ORG, "one.md") for note in sources)
    answers = await asyncio.gather(*moves, return_exceptions=True)
    assert sum(isinstance(answer, Conflict) for answer in answers) == 7
    assert len(await notes.listed(db, world.operator, ORG)) == 8
    assert await history(db, note_path(world.org, ORG, world.org, "one.md")) == [("MOVE", 2)]
