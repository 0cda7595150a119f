"""Embeds: `![[display-path]]` in a task stands for a note's text, or for a table's name.

A note that is inlined may embed others, which are inlined as well; theirs are not. All inlined text together has a budget.
What cannot be shown leaves a readable mark in its place, so that a task never fails for what it embeds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from models.limits import EMBED_BYTES, KB
from models.text import printable

# Read by Python and by PostgreSQL alike. A target is one line, holds neither [[ nor ]], and may have blanks around it.
PATTERN = r"!\[\[((?:[^\[\]\r\n]|\[(?!\[)|\](?!\]))+)\]\]"
BLANKS = " \t"
_MARKUP = re.compile(PATTERN)
_SHOWN = 400
_BUDGET = f"embeds inline at most {EMBED_BYTES // KB} KB together"


@dataclass(frozen=True, slots=True)
class Embed:
    """One embed: what it names."""

    target: str


@dataclass(frozen=True, slots=True)
class Note:
    """The note at a target. `text` is None where so much is embedded before it that it was not read.

    `writer` is the agent that saved it last, or None for anybody else: what the note embeds is shown only as far as that agent reads it,
    since otherwise an agent could read any note by embedding it.
    """

    text: str | None
    writer: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """The table at a target."""

    name: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something that is neither a note nor a table, or no display path at all."""


Found: TypeAlias = Note | Table | Foreign | None
"""What stands at a target; None: nothing, or nothing that may be shown."""

Key: TypeAlias = tuple[str | None, str]
"""Whose right to read counts, None for an operator's, and the target."""


def markup(path: str) -> str:
    """What embeds the file at this path."""
    return f"![[{path}]]"


def can_be_embedded(path: str) -> bool:
    """Whether there is markup for this path at all."""
    found = _MARKUP.fullmatch(markup(path))
    return found is not None and found[1].strip(BLANKS) == path


def pieces(text: str) -> Iterator[str | Embed]:
    """The text taken apart into what stands as it is and what it embeds, in order."""
    end = 0
    for found in _MARKUP.finditer(text):
        if found.start() > end:
            yield text[end : found.start()]
        yield Embed(found[1].strip(BLANKS))
        end = found.end()
    if end < len(text):
        yield text[end:]


def targets(text: str) -> list[str]:
    """What the text embeds, once each, in order."""
    return list(dict.fromkeys(piece.target for piece in pieces(text) if isinstance(piece, Embed)))


def inlined(task: str, found: Mapping[Key, Found]) -> str:
    """The task with its embeds inlined, given what stands at the targets of the task and of the notes that it embeds."""
    inliner = _Inliner(found)
    return "".join(piece if isinstance(piece, str) else inliner.shown(piece.target, None, ()) for piece in pieces(task))


class _Inliner:
    """One rendering, and what is left of its budget in bytes of UTF-8."""

    def __init__(self, found: Mapping[Key, Found]) -> None:
        self._found = found
        self._left = EMBED_BYTES

    def shown(self, target: str, reader: str | None, around: tuple[str, ...]) -> str:
        """What takes an embed's place; `around` are the notes that it stands in, the outermost first."""
        # Before the depth is looked at, since a cycle is the clearer reason.
        if target in around:
            return _mark("not inlined", target, "it embeds itself")
        if len(around) > 1:
            return _mark("not inlined", target, "embeds are followed one level deep")
        found = self._found.get((reader, target))
        if isinstance(found, Note):
            return self._cut(target) if found.text is None else self._body(target, found.text, found.writer, around)
        if isinstance(found, Table):
            return found.name
        return _mark("missing", target) if found is None else _mark("cannot be embedded", target, "only notes and collections can")

    def _body(self, target: str, text: str, writer: str | None, around: tuple[str, ...]) -> str:
        if not self._left and text:
            return self._cut(target)
        parts: list[str] = []
        for piece in pieces(text):
            if isinstance(piece, Embed):
                part, fits = self._embedded(piece.target, writer, (*around, target))
            else:
                part, fits = self._take(piece)
            parts.append(part)
            if not fits:
                return "".join([*parts, "\n", self._cut(target)])
        return "".join(parts)

    def _embedded(self, target: str, writer: str | None, around: tuple[str, ...]) -> tuple[str, bool]:
        """What an embed within a note becomes. A note's text takes its share of the budget itself; names and marks do so here."""
        if not self._left:
            return "", False
        is_note = len(around) == 1 and target not in around and isinstance(self._found.get((writer, target)), Note)
        shown = self.shown(target, writer, around)
        return (shown, True) if is_note else self._take(shown)

    def _take(self, text: str) -> tuple[str, bool]:
        """As much of the text as the budget has room for, never a part of a character, and whether that is all of it."""
        data = text.encode()
        if len(data) <= self._left:
            self._left -= len(data)
            return text, True
        # A cut within a character leaves out its beginning.
        part = data[: self._left].decode(errors="ignore")
        self._left = 0
        return part, False

    @staticmethod
    def _cut(target: str) -> str:
        return _mark("cut", target, _BUDGET)


def _mark(what: str, target: str, why: str = "") -> str:
    return f"[{what}: {printable(target)[:_SHOWN]}{'; ' if why else ''}{why}]"
