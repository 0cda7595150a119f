"""Writes that meet: what one does while another, which it has to wait for, is under way."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from models.kinds import NoteLevel
from store import access, agents, collections, grants, guilds, notes
from store.database import Database, Writer
from tests.store.tables import add_table
from tests.world import World

_WAITING = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""


async def waiting(db: Database, write: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """The write, begun, once it waits for a lock that somebody holds."""
    task = asyncio.create_task(write)
    async with db.read() as reader:
        while not await reader.value(_WAITING):
            assert not task.done()
            await asyncio.sleep(0.01)
    return task


async def test_a_table_that_leaves_its_guild_outlives_it(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    async with db.write() as held:
        # What a move to the organisation writes, with its commit put off.
        await held.execute("UPDATE artifact_collections SET guild_id = NULL WHERE org_id = $1 AND id = $2", world.org, table.id)
        grant = "INSERT INTO collection_access VALUES ($1, $2, 'GUILD', $3, 'WRITE')"
        await held.execute(grant, world.org, table.id, world.writers)
        deletion = await waiting(db, guilds.delete(db, world.operator, world.writers))
    assert await deletion is True
    kept = await collections.get(db, world.operator, collection_id=table.id)
    assert kept is not None
    assert (kept.scope, kept.guild_id) == ("ORG", None)
    assert await grants.of_collections(db, world.operator, [table.id]) == {}


async def test_a_name_taken_over_while_it_is_given_up_goes_on_from_its_last_version(db: Database, world: World) -> None:
    first = await add_table(db, world.operator, "leads")
    async with db.write() as held:
        gone = await collections.delete_in(held, world.operator, await access.locked_id(held, world.operator, first.id))
        creation = await waiting(db, add_table(db, world.operator, "leads"))
    assert (gone.version, (await creation).version) == (2, 3)


async def test_a_table_renamed_to_a_name_while_it_is_given_up_goes_on_from_its_last_version(db: Database, world: World) -> None:
    first, second = await add_table(db, world.operator, "leads"), await add_table(db, world.operator, "people")
    for purpose in ("One.", "Two.", "Three."):
        await collections.update(db, world.operator, first.id, purpose=purpose)
    async with db.write() as held:
        gone = await collections.delete_in(held, world.operator, await access.locked_id(held, world.operator, first.id))
        renaming = await waiting(db, collections.update(db, world.operator, second.id, name="leads"))
    renamed = await renaming
    assert (gone.version, renamed.version) == (5, 6)


async def lock_at_once(held: Writer, table: str, org: str, row: str) -> None:
    await held.execute(f"SELECT 1 FROM {table} WHERE org_id = $1 AND id = $2 FOR UPDATE NOWAIT", org, row)


async def test_a_move_takes_the_guild_before_the_agent(db: Database, world: World) -> None:
    note = await notes.write(db, world.ada, NoteLevel.AGENT, "a.md", "x")
    async with db.write() as held:
        await held.execute("SELECT 1 FROM guilds WHERE org_id = $1 AND id = $2 FOR SHARE", world.org, world.readers)
        move = await waiting(db, notes.move(db, world.operator, note.display_path, NoteLevel.GUILD, "a.md", world.readers))
        # Whoever puts the agent into the guild has the guild and wants the agent next.
        await lock_at_once(held, "agents", world.org, world.ada.id)
    assert (await move).owner_id == world.readers


async def test_a_guild_that_is_deleted_takes_its_agents_by_id(db: Database, world: World) -> None:
    lower, higher = sorted([world.ada.id, world.bob.id])
    # An update leaves the row at the end of the table, where a plain scan meets it last.
    await agents.update(db, world.operator, lower, read_org=True)
    async with db.write() as held:
        await lock_at_once(held, "agents", world.org, lower)
        deletion = await waiting(db, guilds.delete(db, world.operator, world.writers))
        await lock_at_once(held, "agents", world.org, higher)
    assert await deletion is True
    released = await agents.by_ids(db, world.org, [lower, higher])
    assert [agent.guild_id for agent in released.values()] == [None, None]
