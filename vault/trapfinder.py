"""The living traps of a project, grouped by the paths that they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vault.record import Record
from vault.recurrence import Similar
from vault.scan import RecordKey

Patterns = tuple[str, ...]


def patterns_of(data: dict[str, Any]) -> Patterns:
    """Return the sorted path patterns of a frontmatter."""
    patterns = data.get("pathPatterns")
    return tuple(sorted(str(pattern) for pattern in patterns)) if isinstance(patterns, list) else ()


class TrapFinder:
    """Finds the trap that a new one repeats: the same path patterns, and enough of the same words."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._groups: dict[Patterns, Similar[RecordKey]] = {}
        self._group_of: dict[RecordKey, Patterns] = {}
        for record in records:
            self.update(record.key, record)

    def update(self, key: RecordKey, record: Record | None) -> None:
        """Take a record's change in."""
        old = self._group_of.pop(key, None)
        if old is not None:
            self._groups[old].drop(key)
        # What was archived or replaced is settled: the same trap again is news.
        if record is not None and record.kind == "trap" and record.status not in ("archived", "superseded"):
            patterns = patterns_of(record.frontmatter)
            self._groups.setdefault(patterns, Similar()).put(key, record.body)
            self._group_of[key] = patterns

    def matches(self, patterns: Patterns, body: str) -> list[RecordKey]:
        """Return the traps that a new one repeats, the most similar first."""
        group = self._groups.get(patterns)
        return [key for _, key in group.matches(body)] if group else []
