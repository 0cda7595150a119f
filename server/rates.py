"""A token bucket for each caller."""

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from models.errors import RateLimited

_KEPT = 10_000


class Rates:
    """How much each caller may still do: `burst` requests at once, refilled by `rate` a second; a rate of 0 sets no limit."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Take one request from a caller's bucket. Raises RateLimited with the time until there is one again."""
        if not self._rate:
            return
        now = self._clock()
        level, since = self._buckets.pop(caller, (float(self._burst), now))
        level = min(self._burst, level + (now - since) * self._rate)
        allowed = level >= 1
        self._buckets[caller] = (level - 1 if allowed else level, now)
        if len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited((1 - level) / self._rate)
