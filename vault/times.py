"""Times as the vault writes them: UTC, milliseconds, `Z`, so that they sort as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

Clock = Callable[[], datetime]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_DATETIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)([.,]\d+)?[ ]?(Z|z|[+-]\d{2}(?::?\d{2})?)?\Z",
    re.ASCII,
)


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    """Return the moment as `YYYY-MM-DDTHH:MM:SS.mmmZ`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def is_date(text: str) -> bool:
    """Return whether the text is a calendar date without a time."""
    return _DATE.match(text.strip()) is not None


def parse_time(value: object, *, end_of_day: bool = False) -> datetime | None:
    """Return the moment in UTC, None if it is no date or date-time. Without an offset it is UTC.

    A date without a time is the day's first millisecond, or its last with `end_of_day`.
    """
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        value = value.isoformat()
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if is_date(text):
            day = datetime.fromisoformat(text).replace(tzinfo=UTC)
            return day + timedelta(days=1, milliseconds=-1) if end_of_day else day
        return _parse_datetime(text)
    except (ValueError, OverflowError):
        return None


def _parse_datetime(text: str) -> datetime | None:
    found = _DATETIME.match(text)
    if found is None:
        return None
    day, clock, fraction, offset = found.groups()
    micro = f".{fraction[1:7]:0<6}" if fraction else ""
    clock = clock if clock.count(":") == 2 else f"{clock}:00"  # noqa: PLR2004  hours, minutes and seconds
    zone = "+00:00" if offset is None or offset in "Zz" else offset
    zone = f"{zone}:00" if len(zone) == len("+00") else zone
    return datetime.fromisoformat(f"{day}T{clock}{micro}{zone}").astimezone(UTC)
