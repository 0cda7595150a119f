"""JSON Lines, one object a line, and a JSON list of objects, on one line or many."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from models.json_text import exact_float, exact_int, shown
from store.transfer.source import ROW_CHARACTERS, TOO_LONG, RawRow, Source, decoded, doubled, refused, too_many

_BETWEEN, _OPENING = re.compile(r"[\s,]*"), re.compile(r"\s*\[?[\s,]*")


def read_json(lines: Iterable[bytes]) -> Source:
    """Return the rows of a file that is given line by line. One row at a time is held."""
    numbered = enumerate(lines, 1)
    first = next(((number, raw) for number, raw in numbered if raw.strip(b" \t\r\n\xef\xbb\xbf")), None)
    if first is None:
        return Source(iter(()))
    rows = chain([first], numbered)
    is_list = first[1].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return Source(_list_rows(rows) if is_list else _line_rows(rows))


def _line_rows(lines: Iterable[tuple[int, bytes]]) -> Iterator[RawRow]:
    for number, raw in lines:
        try:
            text = decoded(raw, number)
        except ValueError as error:
            yield refused(number, str(error))
            continue
        if len(text) > ROW_CHARACTERS:
            yield refused(number, TOO_LONG)
        elif text.strip():
            yield _line_row(number, text)


def _line_row(number: int, text: str) -> RawRow:
    reader = _Reader()
    try:
        value = reader.decoder.decode(text)
    except json.JSONDecodeError as error:
        return refused(number, f"is not JSON: {_reason(error)} at character {error.pos + 1}")
    except (ValueError, RecursionError):
        return refused(number, _UNREADABLE)
    return reader.row(number, value)


def _list_rows(lines: Iterable[tuple[int, bytes]]) -> Iterator[RawRow]:
    """Yield the objects of a list. What cannot be read ends the list, since nothing tells where the next object begins."""
    text, at, line = "", 0, 1
    is_open = False
    source = iter(lines)
    while True:
        start = _next(text, at, is_open=is_open)
        is_open = is_open or "[" in text[at:start]
        line += text.count("\n", at, start)
        at = start
        if text.startswith("]", at):
            return
        reader = _Reader()
        try:
            value, end = reader.decoder.raw_decode(text, at)
        except RecursionError:
            yield refused(line, _UNREADABLE)
            return
        except ValueError as error:
            number, raw = next(source, (0, b"")) if len(text) - at <= ROW_CHARACTERS else (0, b"")
            if not raw:
                yield refused(line, _end(text, at, error))
                return
            try:
                # Only what is not read yet is kept, so that a long list is never copied again and again.
                text, at = text[at:] + decoded(raw, number), 0
            except ValueError as fault:
                yield refused(number, str(fault))
                return
            continue
        yield reader.row(line, value)
        line += text.count("\n", at, end)
        at = end


def _next(text: str, at: int, *, is_open: bool) -> int:
    """Return where the next object begins, after the opening bracket of the list."""
    found = (_BETWEEN if is_open else _OPENING).match(text, at)
    return found.end() if found else at


def _end(text: str, at: int, error: ValueError) -> str:
    if len(text) - at > ROW_CHARACTERS:
        return TOO_LONG
    reason = _reason(error) if text[at:].strip() else "the list is not closed"
    return f"is not JSON: {reason}; the import stops there"


_UNREADABLE = "holds a number or a nesting too long to read"


def _reason(error: ValueError) -> str:
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return message[:1].lower() + message[1:]


class _Reader:
    """Reads one value, and notes the names that an object has twice."""

    def __init__(self) -> None:
        self.decoder = json.JSONDecoder(object_pairs_hook=self._gather, parse_float=exact_float, parse_int=exact_int)
        self._names: list[str] = []

    def _gather(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self._names += [name for name, _ in pairs]
        return found

    def row(self, line: int, value: Any) -> RawRow:
        """Return the row of a value, or what is wrong with it."""
        if not isinstance(value, dict):
            return refused(line, f"must be an object of columns and values; got {shown(value)}")
        if problem := too_many(len(value)):
            return RawRow(line, {}, (problem,))
        problems = doubled(self._names, "occurs twice in the object")
        return RawRow(line, {} if problems else value, tuple(problems))
