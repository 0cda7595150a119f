"""Waiting for a place among the operations that a process runs at once."""

import asyncio

from models.caller import Caller, required
from models.errors import RateLimited
from store.shares import Shares

_TRY_AGAIN = 5.0


class Turn:
    """A place for the length of a block. A class, since a generator would cost every request more."""

    __slots__ = ("_party", "_places", "_seconds")

    def __init__(self, places: Shares, caller: Caller | None, seconds: float) -> None:
        """`seconds` is how long to wait for it. Raises Unauthenticated for nobody."""
        known = required(caller)
        self._places = places
        self._party = (known.org_id, known.id)
        self._seconds = seconds

    async def __aenter__(self) -> None:
        """Wait for the place. Raises RateLimited where there is none in time."""
        if self._places.take_now(self._party):
            return
        try:
            async with asyncio.timeout(self._seconds):
                await self._places.take(self._party)
        except TimeoutError as error:
            raise RateLimited(_TRY_AGAIN, "too many operations of this caller, or of its organisation, run already") from error

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._places.give_back(self._party)
