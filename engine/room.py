"""What is left of the bounds on an answer while it is made."""

from typing import Any

import orjson

from engine.encoding import dumps
from engine.errors import RefusedError, unprocessable
from engine.limits import Limits


class Room:
    """Counts the items of the lists of one answer, as each list is completed, and the bytes of the whole.

    A document says at most how many objects it asks for where its lists take a limit. Lists without one, and rows that many
    objects share, show their numbers only here.
    """

    __slots__ = ("_items", "_limits", "_wrote")

    def __init__(self, limits: Limits, *, wrote: bool = False) -> None:
        """`wrote` says that the answer is a mutation's, whose changes stay."""
        self._limits = limits
        self._items = limits.nodes
        self._wrote = wrote

    def take(self, items: int) -> None:
        """Count the items of a list before they are completed. Raises RefusedError where they are too many."""
        self._items -= items
        if self._items < 0:
            raise self._too_many()

    def check(self, data: Any, *, may_repeat: bool = True) -> None:
        """Raise RefusedError where an answer holds too many objects, or would have too many bytes.

        Looking at each value costs as much as a tenth of making it, so one that cannot repeat what was read is not looked at.
        """
        if self._items < 0:
            raise self._too_many()
        if may_repeat and exceeds(data, self._limits.answer_bytes):
            limit = f"{self._limits.answer_bytes:,} bytes"
            raise self._refusal(f"the answer is larger than {limit}, the limit; ask for fewer or smaller fields")

    def _too_many(self) -> RefusedError:
        return self._refusal(f"the answer holds more than {self._limits.nodes:,} objects, the limit; page its lists")

    def _refusal(self, message: str) -> RefusedError:
        return RefusedError([unprocessable(f"{message}; the change itself was made" if self._wrote else message)])


def exceeds(data: Any, most: int) -> bool:
    """Whether a result has more bytes as JSON than `most`, by its texts, keys and numbers; escapes may add to them.

    It stops at the bound, so that an answer that repeats a large text costs no more than one that does not.
    """
    waiting = [data]
    while waiting and most >= 0:
        value = waiting.pop()
        kind = type(value)
        if kind is str:
            most -= len(value) if value.isascii() else len(value.encode(errors="surrogatepass"))
        elif kind is dict:
            most -= sum(map(len, value))
            waiting.extend(value.values())
        elif kind is list:
            waiting.extend(value)
        elif kind is orjson.Fragment:
            most -= len(dumps(value))
        else:
            most -= 4
    return most < 0
