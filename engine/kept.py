"""What was computed once and is kept within a bound in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Values by key. The least recently used leave first, once all together weigh more than `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: K) -> V | None:
        """Return the value that is kept, if one is."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def keep(self, key: K, value: V, weight: int) -> None:
        """Keep a value of about so many bytes, its key included, in place of the one before."""
        if (before := self._values.pop(key, None)) is not None:
            self.weight -= before[1]
        self._values[key] = (value, weight)
        self.weight += weight
        while self.weight > self._most:
            _, (_, gone) = self._values.popitem(last=False)
            self.weight -= gone
