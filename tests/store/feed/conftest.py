from collections.abc import AsyncIterator

import pytest

from store.bell import Bell
from store.database import Database
from store.feed import Feed


@pytest.fixture
async def feed(db: Database) -> AsyncIterator[Feed]:
    """A feed that is told by a bell; no timer helps it within a test."""
    bell = Bell()
    await bell.start()
    db.after_commit = bell.ring
    feed = Feed(db, bell, poll=600, rights_every=0.05)
    await feed.start()
    yield feed
    await feed.stop()
    await bell.stop()
    assert feed.subscribers == 0
