"""The demo: an organisation of people, agents and their work, for whoever looks at the product for the first time."""

import asyncio

from server.demo import directory, week
from server.demo.story import Story
from store import erasure, organisations
from store.database import Database
from store.leadership import Leadership

NAME = "Meridian Classics"
_UNFINISHED = f"{NAME} (being loaded)"
_AGAIN = 0.1  # seconds


async def load_if_new(db: Database) -> bool:
    """Load the demo where there is no organisation at all; whether it did. One process at a time looks, the others wait for it.

    A load that was cut off leaves nothing behind: the next one begins anew.
    """
    turn = Leadership(db, "demo")
    try:
        while not await turn.held():  # noqa: ASYNC110  # another process holds it, so there is no event to wait for
            await asyncio.sleep(_AGAIN)
        found = await organisations.listed(db)
        if [row.name for row in found] == [_UNFINISHED]:
            await erasure.erase(db, found[0].id)
        elif found:
            return False
        # In a task of its own, so that the clock of the story stays within it.
        await asyncio.create_task(_load(db), name="demo")
        return True
    finally:
        await turn.give_up()


async def _load(db: Database) -> None:
    organisation = await organisations.create(db, _UNFINISHED)
    story = await Story.begin(db, organisation.id)
    await directory.build(story)
    await week.tell(story)
    await organisations.rename(db, organisation.id, NAME)
