from collections.abc import AsyncIterator
from typing import Self

from models.cursor import Cursor
from models.errors import Unavailable
from models.kinds import FileKind
from resolvers.context import Info
from resolvers.inputs import ID
from store.feed import FeedChange, Subscription
from store.shares import Shares
from store.usage import Party, current


class Held:
    """A subscription that holds one of the places for subscriptions until it ends."""

    def __init__(self, subscription: Subscription, places: Shares, party: Party) -> None:
        self._subscription = subscription
        self._places: Shares | None = places
        self._party = party

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedChange:
        """Return the next change. Raises as the subscription does."""
        try:
            return await anext(self._subscription)
        except Exception:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Leave the feed and give the place back; harmless when done twice."""
        places, self._places = self._places, None
        if places is not None:
            places.give_back(self._party)
            await self._subscription.aclose()


async def file_changes(
    info: Info,
    after: Cursor | None = None,
    paths: list[str] | None = None,
    prefix: str | None = None,
    kinds: list[FileKind] | None = None,
    run_id: ID | None = None,
) -> AsyncIterator[FeedChange]:
    context, caller = info.context, info.context.caller
    places, party = context.subscriptions, (caller.org_id, caller.id)
    if not places.take_now(party):
        if places.is_full:
            raise Unavailable(f"this server has {places.places:,} subscriptions open, which is its limit; try again later")
        raise places.refusal("subscriptions")
    # What the feed starts here serves others too, and has no bound of this request.
    current.set(None)
    try:
        # Not a generator, which would begin with the first event: what is wrong is told at once, and nothing is missed from here on.
        opened = await context.feed.open(caller, after=after, paths=paths, prefix=prefix, kinds=kinds, run_id=run_id)
    except BaseException:
        places.give_back(party)
        raise
    return Held(opened, places, party)
