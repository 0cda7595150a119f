"""What one request may take of what all share: whose it is, how many bytes it may still read, and until when it may run."""

import asyncio
from contextlib import suppress
from contextvars import ContextVar

from models.errors import Unprocessable

Party = tuple[str, str]
"""An organisation's id and a caller's id."""


class AnswerTooLarge(Unprocessable):
    """A request that would read more from the database than an answer may hold."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer is larger than {most:,} bytes, the limit; page its lists, or ask for fewer or smaller fields")


class Usage:
    """What one request has taken so far."""

    __slots__ = ("_deadline", "_seconds", "has_written", "left", "most", "party")

    def __init__(self, org_id: str, caller_id: str, most: int) -> None:
        """`most` is the number of bytes that it may read."""
        self.party: Party = (org_id, caller_id)
        self.most = self.left = most
        self.has_written = False
        self._deadline: asyncio.Timeout | None = None
        self._seconds = 0.0

    def end_by(self, deadline: asyncio.Timeout) -> None:
        """Let the deadline wait for commits: one that is under way could be applied though its request is told that it was cancelled."""
        if (when := deadline.when()) is not None:
            self._deadline, self._seconds = deadline, when - asyncio.get_running_loop().time()

    def commit(self) -> None:
        """Lift the deadline, since what comes now commits. The database's own time for a statement still counts."""
        self._move(None)

    def committed(self, *, written: bool) -> None:
        """Set the deadline anew, for what follows the commit; `written` says whether that changed anything."""
        self.has_written = self.has_written or written
        self._move(asyncio.get_running_loop().time() + self._seconds)

    def _move(self, when: float | None) -> None:
        if self._deadline is not None:
            with suppress(RuntimeError):  # it has passed, or the request has ended
                self._deadline.reschedule(when)


current: ContextVar[Usage | None] = ContextVar("usage", default=None)
"""The request that the running task serves; None for the server's own work, which has no bounds."""


def end_by(deadline: asyncio.Timeout) -> None:
    """Let a deadline wait for the commits of the current request."""
    if (usage := current.get()) is not None:
        usage.end_by(deadline)
