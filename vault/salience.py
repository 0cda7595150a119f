"""What readers' feedback says about a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault.errors import InvalidArguments
from vault.kinds import one_of

VERDICTS = ("helpful", "not_helpful", "stale", "wrong")
_FLAG_AT = 3


def count(data: Mapping[str, Any], key: str) -> int:
    """Return a counter of the frontmatter; what is no whole number counts as 0."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def salience(data: Mapping[str, Any]) -> float:
    """Return the factor of the search rank: 1, or less the more often a record was called stale than helpful."""
    surplus = count(data, "staleCount") - count(data, "helpfulCount")
    return 1.0 if surplus <= 0 else 1 / (1 + surplus)


def is_flagged(data: Mapping[str, Any]) -> bool:
    """Return whether a record counts as stale: three reports at least, and more of them than praise."""
    stale = count(data, "staleCount")
    return stale >= _FLAG_AT and stale > count(data, "helpfulCount")


def check_verdict(verdict: object) -> str:
    """Return the verdict in its normal form. Raises InvalidArguments."""
    text = verdict.strip().lower().replace("-", "_") if isinstance(verdict, str) else ""
    if text not in VERDICTS:
        raise InvalidArguments(f"verdict must be {one_of(VERDICTS)}")
    return text


def feedback_changes(data: Mapping[str, Any], verdict: str, now: str) -> dict[str, Any]:
    """Return what a verdict changes in the frontmatter."""
    changes: dict[str, Any] = {"lastFeedback": now}
    if verdict == "helpful":
        changes |= {"helpfulCount": count(data, "helpfulCount") + 1, "lastHit": now}
    elif verdict in ("stale", "wrong"):
        changes["staleCount"] = count(data, "staleCount") + 1
    return changes
