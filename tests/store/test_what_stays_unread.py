"""What a move, an embed and a stale version must not tell those who may not read."""

from dataclasses import replace

import pytest

from models.embeds import markup
from models.errors import VersionConflict
from models.kinds import NoteLevel
from models.paths import note_path
from store import agents, embeds, notes
from store.database import Database
from tests.schema.asking import data
from tests.store.trail import everything
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def test_a_move_launders_no_embed(db: Database, world: World) -> None:
    secret = await notes.write(db, world.bob, AGENT, "secret.md", "of Bob alone")
    carrier = await notes.write(db, world.ada, GUILD, "carrier.md", f"see {markup(secret.display_path)}")
    missing = await embeds.render(db, world.org, markup(carrier.display_path))
    assert "of Bob alone" not in missing
    for level, key in ((ORG, "moved.md"), (ORG, "again.md"), (AGENT, "home.md")):
        owner = None if level is ORG else world.bob.id
        carrier = await notes.move(db, world.operator, carrier.display_path, level, key, owner)
        assert await embeds.render(db, world.org, markup(carrier.display_path)) == missing
    # An operator who writes the text has read what it embeds.
    carrier = await notes.write(db, world.operator, AGENT, "home.md", f"see {markup(secret.display_path)}.", world.bob.id)
    assert await embeds.render(db, world.org, markup(carrier.display_path)) == "see of Bob alone."
    moved = await notes.move(db, world.operator, carrier.display_path, ORG, "moved.md")
    assert await embeds.render(db, world.org, markup(moved.display_path)) == "see of Bob alone."


async def test_a_history_shows_no_path_that_its_reader_does_not_read(db: Database, world: World) -> None:
    hidden = await notes.write(db, world.bob, AGENT, "hidden.md", "x")
    shown = await notes.move(db, world.operator, hidden.display_path, GUILD, "shown.md", world.writers)
    ask = "query ($path: String!) { noteGet(path: $path) { latestChange { operation previousPath } changes { displayPath previousPath } } }"
    here = {"displayPath": shown.display_path, "previousPath": None}
    assert (await data(db, world.ada, ask, path=shown.display_path))["noteGet"] == {
        "latestChange": {"operation": "MOVE", "previousPath": None},
        "changes": [here],
    }
    for reader in (world.operator, world.bob):
        found = (await data(db, reader, ask, path=shown.display_path))["noteGet"]
        assert (found["latestChange"]["previousPath"], found["changes"][0]["previousPath"]) == (hidden.display_path, hidden.display_path)
    # And where the note goes away to, and another takes its place.
    await notes.move(db, world.operator, shown.display_path, AGENT, "back.md", world.bob.id)
    await notes.write(db, world.ada, GUILD, "shown.md", "another")
    paths = [change["displayPath"] for change in (await data(db, world.ada, ask, path=shown.display_path))["noteGet"]["changes"]]
    assert paths == [shown.display_path] * 2
    assert note_path(world.org, AGENT, world.bob.id, "back.md") in [
        change["displayPath"] for change in (await data(db, world.bob, ask, path=shown.display_path))["noteGet"]["changes"]
    ]


async def test_a_writer_who_may_not_read_cannot_guess_a_text(db: Database, world: World) -> None:
    await notes.write(db, world.operator, GUILD, "plan.md", "the plan", world.writers)
    await agents.update(db, world.operator, world.ada.id, read_guild=False)
    blind = replace(world.ada, read_guild=False)
    before = await everything(db)
    for guess in ("the plan", "another"):
        with pytest.raises(VersionConflict):
            await notes.write(db, blind, GUILD, "plan.md", guess, expected_version=0)
    assert (await notes.write(db, world.ada, GUILD, "plan.md", "the plan", expected_version=0)).version == 1
    assert await everything(db) == before
