"""A bounded number of places that callers and organisations share fairly."""

import asyncio
from collections import OrderedDict, deque
from math import ceil

from models.errors import RateLimited
from store.usage import Party

# Of one caller, so that what waits is bounded too.
MOST_WAITING = 1_000
_TRY_AGAIN, _TRY_LATER = 1.0, 30.0


class Shares:
    """Places of which one caller, and one organisation, can hold only a part.

    Whoever finds no place waits; callers who wait are served in turn, one request of each, so that one with many does not delay
    another with few. A party of None is the server itself, which is bound by the number of places alone.
    """

    def __init__(self, places: int, *, caller: float = 1.0, organisation: float = 1.0) -> None:
        """`caller` and `organisation` are the parts of the places that one of them may hold, from 0 to 1; each may hold one."""
        self.places = places
        self._free = places
        self._of_caller = max(1, ceil(places * caller))
        self._of_organisation = max(1, ceil(places * organisation))
        self._held: dict[str | Party, int] = {}
        self._waiting: OrderedDict[Party | None, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def is_full(self) -> bool:
        """Whether nobody can have another place."""
        return self._free <= 0

    def refusal(self, what: str) -> RateLimited:
        """Return the refusal of a caller who holds all that it may, of places for `what`."""
        return RateLimited(_TRY_LATER, f"this caller, or its organisation, has all the {what} open that it may have")

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(map(len, self._waiting.values()))

    def take_now(self, party: Party | None) -> bool:
        """Take a place if there is one for this party; whether there was."""
        if not self._has_place(party):
            return False
        self._free -= 1
        if party is not None:
            held, org = self._held, party[0]
            held[party] = held.get(party, 0) + 1
            held[org] = held.get(org, 0) + 1
        return True

    async def take(self, party: Party | None) -> None:
        """Take a place, waiting for it in turn. Raises RateLimited where too many of the caller wait already."""
        if self.take_now(party):
            return
        queue = self._waiting.setdefault(party, deque())
        if len(queue) >= MOST_WAITING:
            raise RateLimited(_TRY_AGAIN, "too many requests of this caller wait already")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.give_back(party)  # the place came just as the wait was given up
            else:
                self._leave(party, turn)
            raise

    def give_back(self, party: Party | None) -> None:
        """Give a place back, to the first who waits and may have it."""
        self._free += 1
        if party is not None:
            self._less(party)
            self._less(party[0])
        if self._waiting:
            self._serve_next()

    def _has_place(self, party: Party | None) -> bool:
        if self._free <= 0:
            return False
        held = self._held
        return party is None or (held.get(party, 0) < self._of_caller and held.get(party[0], 0) < self._of_organisation)

    def _serve_next(self) -> None:
        for party in self._waiting:
            if self.take_now(party):
                turn = self._waiting[party][0]
                self._leave(party, turn)
                if party in self._waiting:
                    self._waiting.move_to_end(party)
                turn.set_result(None)
                return

    def _leave(self, party: Party | None, turn: asyncio.Future[None]) -> None:
        queue = self._waiting[party]
        queue.remove(turn)
        if not queue:
            del self._waiting[party]

    def _less(self, holder: str | Party) -> None:
        left = self._held[holder] - 1
        if left:
            self._held[holder] = left
        else:
            del self._held[holder]
