"""How long a record lives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from vault.config import VaultConfig
from vault.times import parse_time, to_text

INVALID_TTL = "Invalid ttl duration or date"

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\Z", re.ASCII)
_SECONDS = {
    **dict.fromkeys(("", "d", "day", "days"), 86_400),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
}


def parse_duration(value: object) -> timedelta | None:
    """Return the duration (a number and a unit, days without one), None if it is none. Raises OverflowError beyond all calendars."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = _DURATION.match(str(value).strip().lower())
    if found is None or found.group(2) not in _SECONDS:
        return None
    return timedelta(seconds=float(found.group(1)) * _SECONDS[found.group(2)])


def expiry_of(ttl: object, created: datetime) -> datetime:
    """Return when a record of this ttl expires: created plus a duration, or a date (the end of that day). Raises ValueError."""
    try:
        duration = parse_duration(ttl)
        moment = created + duration if duration is not None else parse_time(ttl, end_of_day=True)
    except OverflowError:
        moment = None
    if moment is None:
        raise ValueError(INVALID_TTL)
    return moment


def default_ttl(kind: str, config: VaultConfig) -> timedelta | None:
    """Return the lifetime that a kind has by itself, None for kinds that stay."""
    days = {"scratch": config.scratch_days, "review": config.review_days}.get(kind)
    return None if days is None else timedelta(days=days)


def effective_expiry(frontmatter: Mapping[str, Any], kind: str, config: VaultConfig) -> datetime | None:
    """Return when the record expires: expires_at, else created + ttl, else created + the kind's default; None for never."""
    explicit = parse_time(frontmatter.get("expires_at"), end_of_day=True)
    if explicit is not None:
        return explicit
    created = parse_time(frontmatter.get("created"))
    if created is None:
        return None
    if frontmatter.get("ttl") is not None:
        try:
            return expiry_of(frontmatter["ttl"], created)
        except ValueError:
            pass  # a hand-written ttl that means nothing: the kind's default holds, and `doctor` names it
    lifetime = default_ttl(kind, config)
    try:
        return None if lifetime is None else created + lifetime
    except OverflowError:  # beyond the calendar: never
        return None


def is_expired(frontmatter: Mapping[str, Any], kind: str, config: VaultConfig, now: datetime) -> bool:
    """Return whether the record's time is over; it is over at the very moment of expiry."""
    expiry = effective_expiry(frontmatter, kind, config)
    return expiry is not None and now >= expiry


def expiry_text(frontmatter: Mapping[str, Any], kind: str, config: VaultConfig) -> str | None:
    """Return the effective expiry as text, None for never."""
    expiry = effective_expiry(frontmatter, kind, config)
    return None if expiry is None else to_text(expiry)
