"""What a subscription shows beside the change itself is judged by the rights of the moment."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from models.kinds import NoteLevel
from resolvers import context as contexts
from resolvers.context import Context
from store import notes
from store.bell import Bell
from store.database import Database
from store.feed import Feed
from tests.schema.asking import SCHEMA
from tests.world import World, add_run

NESTED = "subscription { fileChanges { displayPath run { agent { name guild { notes { key } } } } } }"


@pytest.fixture
async def feed(db: Database) -> AsyncIterator[Feed]:
    bell = Bell()
    await bell.start()
    db.after_commit = bell.ring
    feed = Feed(db, bell)
    await feed.start()
    yield feed
    await feed.stop()
    await bell.stop()


async def test_a_binding_that_ends_ends_for_what_hangs_on_a_change_too(
    db: Database, world: World, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "OLDEST_RIGHTS", 0)
    await notes.write(db, world.ada, NoteLevel.GUILD, "guild.md", "x")
    run = await add_run(db, world.ada)
    working = world.ada.in_call(run, "call", "note_write")
    stream: Any = await SCHEMA.stream(NESTED, {}, Context(db=db, feed=feed, known=world.ada))
    async with asyncio.timeout(20), contextlib.aclosing(stream):
        seen = []
        for key in ("one.md", "two.md"):
            following = asyncio.ensure_future(anext(stream))
            while not feed.subscribers:  # noqa: ASYNC110  # the feed tells nobody of it
                await asyncio.sleep(0.01)
            await notes.write(db, working, NoteLevel.AGENT, key, "x")
            guild = (await following).data["fileChanges"]["run"]["agent"]["guild"]
            seen.append([note["key"] for note in guild["notes"]])
            async with db.write() as tx:
                await tx.execute("UPDATE agents SET read_guild = false WHERE org_id = $1 AND id = $2", world.org, world.ada.id)
    assert seen == [["guild.md"], []]
