"""The one source of time and of ids, which tests may set."""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

import uuid_utils

_now: ContextVar[Callable[[], datetime]] = ContextVar("now", default=lambda: datetime.now(UTC))
_new_id: ContextVar[Callable[[], str]] = ContextVar("new_id", default=lambda: uuid_utils.uuid7().hex)


def now() -> datetime:
    """The present moment in UTC."""
    return _now.get()()


def new_id() -> str:
    """A fresh id: 32 hexadecimal digits that sort by time (UUID version 7, RFC 9562)."""
    return _new_id.get()()


def set_clock(source: Callable[[], datetime]) -> None:
    """Take the time from this source in the present context."""
    _now.set(source)


def set_ids(source: Callable[[], str]) -> None:
    """Take new ids from this source in the present context."""
    _new_id.set(source)
