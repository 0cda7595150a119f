"""Pieces of pages: each record's part of each list is rendered once and kept until the record changes."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from vault.record import Record
from vault.scan import RecordKey

_ESCAPED = re.compile(r"([|\\\[\]<>])")
_REVERSED = str.maketrans("0123456789", "9876543210")


class Piece(NamedTuple):
    """One record's text in one list, and what it is sorted by."""

    shelf: str
    order: tuple[Any, ...]
    text: str = ""


class Shelf:
    """Texts in order; one of five thousand is replaced without sorting the others again."""

    def __init__(self) -> None:
        self._order: list[tuple[Any, ...]] = []
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self._order)

    def put(self, order: tuple[Any, ...], text: str) -> None:
        """Add a text."""
        position = bisect.bisect_left(self._order, order)
        self._order.insert(position, order)
        self._texts.insert(position, text)

    def drop(self, order: tuple[Any, ...]) -> None:
        """Take a text out."""
        position = bisect.bisect_left(self._order, order)
        del self._order[position]
        del self._texts[position]

    def joined(self, limit: int | None = None) -> str:
        """Return the texts in order, at most `limit` of them."""
        return "".join(self._texts if limit is None else self._texts[:limit])


class Shelves:
    """All lists of a project, by name."""

    def __init__(self) -> None:
        self._shelves: dict[str, Shelf] = {}
        self._placed: dict[RecordKey, list[tuple[str, tuple[Any, ...]]]] = {}

    def __getitem__(self, name: str) -> Shelf:
        return self._shelves.get(name) or Shelf()

    def names(self, prefix: str) -> Iterator[str]:
        """The names of the lists that are not empty, without the prefix, sorted."""
        return (name.removeprefix(prefix) for name in sorted(self._shelves) if name.startswith(prefix) and self._shelves[name])

    def place(self, key: RecordKey, pieces: list[Piece]) -> None:
        """Replace a record's pieces by these."""
        for name, order in self._placed.pop(key, ()):
            self._shelves[name].drop(order)
        if not pieces:
            return
        self._placed[key] = placed = []
        for piece in pieces:
            order = (*piece.order, key)
            self._shelves.setdefault(piece.shelf, Shelf()).put(order, piece.text)
            placed.append((piece.shelf, order))


def latest_first(moment: str) -> str:
    """Return a text that sorts the later times first."""
    return moment.translate(_REVERSED)


def cell(value: Any) -> str:
    """Return a value as one table cell; what would end the cell or the row is escaped."""
    if value is None:
        return ""
    return _ESCAPED.sub(r"\\\1", " ".join(str(value).split()))


def row(*cells: str) -> str:
    """Return a table row of finished cells."""
    return f"| {' | '.join(cells)} |\n"


def table(*titles: str) -> str:
    """Return the head of a table."""
    return row(*titles) + row(*("---" for _ in titles))


def link(record: Record, text: str | None = None) -> str:
    """Return a link to the record's file, as a finished cell."""
    return f"[{cell(text or record.title)}]({record.key.subdir}/{record.slug}.md)"


def text_of(record: Record, key: str) -> str:
    """Return a value of the frontmatter as text, empty if it is missing."""
    value = record.frontmatter.get(key)
    return "" if value is None else str(value)
