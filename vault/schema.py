"""What a record's frontmatter must be: required keys, closed sets, defaults, coercions. Unknown keys pass untouched."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from vault.errors import InvalidArguments
from vault.kinds import DEFAULT_SOURCE, DEFAULT_STATUS, DELIVERABLE_TYPES, KINDS, LAYERS, LINK_TYPES, SEVERITIES, SOURCES, STATUSES, one_of
from vault.times import parse_time, to_text
from vault.ttl import INVALID_TTL, expiry_of

REQUIRED = ("id", "kind", "project", "created", "updated")
ENUMS = {"kind": KINDS, "status": STATUSES, "source": SOURCES, "severity": SEVERITIES, "layer": LAYERS}
MINIMUM = {"occurrences": 1, "hits": 0, "helpfulCount": 0, "staleCount": 0, "turn": 1}
TIMES = ("created", "updated", "expires_at", "lastSeen", "lastHit", "lastFeedback", "startTime", "endTime")
TEXTS = ("id", "project", "title", "module", "supersedes", "rationale", "sessionId", "ide", "model", "client", "taskSlug")
TEXT_LISTS = ("tags", "pathPatterns", "linkedPaths")
LINK_LISTS = ("links",)
LAYER_ALIASES = {
    **dict.fromkeys(("front", "frontend"), "web"),
    **dict.fromkeys(("back", "backend"), "application"),
    **dict.fromkeys(("na", "n/a", "none"), "other"),
    "infra": "infrastructure",
}

_INTEGER = re.compile(r"[+-]?\d+(?:\.0*)?\Z", re.ASCII)
_MAX_INTEGER = 2**53
_ANY_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


class Invalid(ValueError):
    """One wrong value; the text goes behind the key's name."""


def problems_of(data: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the values that are there; missing keys are no problem here."""
    problems = []
    for key, value in data.items():
        try:
            if value is not None:
                normalise(key, value)
        except Invalid as error:
            problems.append(f"frontmatter: {key} {error}")
    return problems


def read_leniently(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hand-written frontmatter as far as it can be understood: wrong values of optional keys stay as they are.

    Raises InvalidArguments listing all required keys that are missing or wrong.
    """
    clean = {key: value for key, value in data.items() if value is not None}
    problems = [f"{key} is required" for key in REQUIRED if key not in clean]
    for key, value in list(clean.items()):
        try:
            clean[key] = normalise(key, value)
        except Invalid as error:
            if key in REQUIRED:
                problems.append(f"{key} {error}")
            elif key in ("status", "source"):
                del clean[key]
    if problems:
        raise InvalidArguments(problems)
    clean.setdefault("status", DEFAULT_STATUS)
    clean.setdefault("source", DEFAULT_SOURCE)
    return clean


def normalise(key: str, value: Any) -> Any:
    """Return the value of a known key in its normal form, any other value as it is. Raises Invalid."""
    rule = _RULES.get(key)
    return value if rule is None else rule(value)


def _enum(names: tuple[str, ...]) -> Callable[[Any], str]:
    def rule(value: Any) -> str:
        text = value.strip().lower() if isinstance(value, str) else None
        if text not in names:
            raise Invalid(f"must be {one_of(names)}")
        return str(text)

    return rule


def layer_of(value: Any) -> str:
    """Return the layer that a name or one of its aliases means. Raises Invalid."""
    text = value.strip().lower() if isinstance(value, str) else ""
    text = LAYER_ALIASES.get(text, text)
    if text not in LAYERS:
        raise Invalid(f"must be {one_of(LAYERS)}")
    return text


def _integer(minimum: int) -> Callable[[Any], int]:
    def rule(value: Any) -> int:
        number = _whole(value)
        if number is None or number < minimum or number > _MAX_INTEGER:
            raise Invalid(f"must be a whole number of at least {minimum}")
        return number

    return rule


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, str) and len(value) < 40 and _INTEGER.match(value.strip()):  # noqa: PLR2004  beyond any count
        return int(value.strip().split(".")[0])
    return None


def _time(value: Any, *, end_of_day: bool = False) -> str:
    moment = parse_time(value, end_of_day=end_of_day)
    if moment is None:
        raise Invalid("must be a date (YYYY-MM-DD) or a date and time (RFC 3339)")
    return to_text(moment)


def _expiry(value: Any) -> str:
    return _time(value, end_of_day=True)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid("must be text")
    return str(value)


def _required_text(value: Any) -> str:
    text = _text(value)
    if not text.strip():
        raise Invalid("must not be empty")
    return text.strip()


def _text_list(value: Any) -> list[str]:
    values = [part for part in (piece.strip() for piece in value.split(",")) if part] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise Invalid("must be a list of texts")
    try:
        return list(dict.fromkeys(_required_text(item) for item in values))
    except Invalid:
        raise Invalid("must be a list of texts, none of them empty") from None


def _entries(types: tuple[str, ...], needed: str | None) -> Callable[[Any], list[dict[str, Any]]]:
    def rule(value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise Invalid("must be a list")
        return [_entry(index, item, types, needed) for index, item in enumerate(value, 1)]

    return rule


def _entry(index: int, item: Any, types: tuple[str, ...], needed: str | None) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise Invalid(f"entry {index} must be an object")
    entry = dict(item)
    kind = entry.get("type")
    kind = kind.strip().lower() if isinstance(kind, str) else None
    if kind not in types:
        raise Invalid(f"entry {index} must have a type of {one_of(types)}")
    if needed is not None and not (isinstance(entry.get(needed), str) and entry[needed].strip()):
        raise Invalid(f"entry {index} must have a {needed}")
    return {**entry, "type": kind}


def _ttl(value: Any) -> Any:
    try:
        expiry_of(value, _ANY_MOMENT)
    except ValueError:
        raise Invalid(f"is wrong: {INVALID_TTL}") from None
    return value


_RULES: dict[str, Callable[[Any], Any]] = {
    **{key: _enum(names) for key, names in ENUMS.items()},
    "layer": layer_of,
    **{key: _integer(minimum) for key, minimum in MINIMUM.items()},
    **dict.fromkeys(TIMES, _time),
    "expires_at": _expiry,
    **dict.fromkeys(TEXTS, _text),
    "id": _required_text,
    "project": _required_text,
    **dict.fromkeys(TEXT_LISTS, _text_list),
    "links": _entries(LINK_TYPES, "target"),
    "deliverables": _entries(DELIVERABLE_TYPES, None),
    "ttl": _ttl,
}
