"""The rows of a file as they stand there: each with its line, its fields by name, or what is wrong with it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.text import printable
from store.transfer import csv_text
from store.transfer.csv_text import CsvFault, Splitter

ROW_CHARACTERS = 1024 * 1024
_SUFFIXES = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}


class Format(StrEnum):
    """How a file writes its records."""

    JSONL = "jsonl"
    CSV = "csv"


def format_of(name: str) -> Format | None:
    """The format that a file's name tells, or None."""
    return next((Format(kind) for suffix, kind in _SUFFIXES.items() if name.lower().endswith(suffix)), None)


class RawRow(NamedTuple):
    """One row. `line` counts from 1 and is where the row begins; a row with problems has no fields."""

    line: int
    fields: dict[str, Any]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Source:
    """A file's rows. A CSV has a header, and values that are text or None; JSON Lines have values of JSON and no header."""

    rows: Iterator[RawRow]
    header: list[str] | None = None
    header_problems: list[Problem] = field(default_factory=list)


def read(lines: Iterable[bytes], kind: Format) -> Source:
    """The rows of a file that is given line by line, each line with its ending. One row at a time is held.

    Raises Unprocessable for a CSV without a header.
    """
    return _csv(lines) if kind is Format.CSV else Source(_json_rows(lines))


def _decoded(raw: bytes, number: int) -> str:
    text = raw.decode()
    return text.removeprefix("\ufeff") if number == 1 else text


def _refused(line: int, reason: str, column: str | None = None) -> RawRow:
    return RawRow(line, {}, (Problem(column, reason),))


_NOT_TEXT = "is not UTF-8; save the file as UTF-8"
_TOO_LONG = f"has more than {ROW_CHARACTERS:,} characters, far more than a record may hold; is a closing quote missing?"


def _json_rows(lines: Iterable[bytes]) -> Iterator[RawRow]:
    for number, raw in enumerate(lines, 1):
        try:
            text = _decoded(raw, number)
        except UnicodeDecodeError:
            yield _refused(number, _NOT_TEXT)
            continue
        if len(text) > ROW_CHARACTERS:
            yield _refused(number, _TOO_LONG.partition(";")[0])
        elif text.strip():
            yield _json_row(number, text)


def _json_row(number: int, text: str) -> RawRow:
    repeated: list[str] = []

    def gathered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.extend(name for name in found if names.count(name) > 1)
        return found

    try:
        value = json.loads(text, object_pairs_hook=gathered)
    except json.JSONDecodeError as error:
        if number == 1 and text.strip() in {"[", "[{"}:
            return _refused(number, "begins a JSON list; give JSON Lines, which is one object a line without commas between them")
        return _refused(number, f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}")
    except (ValueError, RecursionError):
        return _refused(number, "holds a number or a nesting too long to read")
    if repeated:
        return RawRow(number, {}, tuple(Problem(printable(name), "stands twice in the object") for name in repeated))
    return (
        RawRow(number, value)
        if isinstance(value, dict)
        else _refused(number, f"must be an object of columns and values; got {shown(value)}")
    )


def _csv(lines: Iterable[bytes]) -> Source:
    numbered = enumerate(lines, 1)
    first = next(((number, raw) for number, raw in numbered if raw.strip()), None)
    if first is None:
        raise Unprocessable("the file is empty; a CSV begins with a line that names its columns")
    try:
        text = first[1].decode()
    except UnicodeDecodeError:
        return Source(iter(()), [], [Problem(None, _NOT_TEXT)])
    rows = _cells(chain([first], numbered), csv_text.delimiter_of(text))
    _, cells, reason = next(rows)
    names = [(cell or "").strip() for cell in cells]
    problems = [Problem(None, reason)] if reason else _header_faults(names)
    return Source(_named(rows, names), names, problems)


def _header_faults(names: list[str]) -> list[Problem]:
    problems = [Problem(None, f"column {place} has no name") for place, name in enumerate(names, 1) if not name]
    doubled = dict.fromkeys(name for name in names if name and names.count(name) > 1)
    return problems + [Problem(printable(name), "stands twice in the header") for name in doubled]


def _cells(lines: Iterable[tuple[int, bytes]], delimiter: str) -> Iterator[tuple[int, list[csv_text.Cell], str | None]]:
    """Each row's first line, its cells, and what is wrong with it."""
    splitter, begun, size, number = Splitter(delimiter), 0, 0, 0
    for number, raw in lines:
        begun, size = (begun, size) if splitter.within else (number, 0)
        try:
            cells = splitter.feed(_decoded(raw, number))
        except UnicodeDecodeError:
            yield number, [], _NOT_TEXT
            return  # whether a quote is open is unknown from here on
        except CsvFault as fault:
            yield begun, [], str(fault)
            continue
        size += len(raw)
        if size > ROW_CHARACTERS:
            yield begun, [], _TOO_LONG
            return
        if cells is not None:
            yield begun, cells, None
    if splitter.within:
        yield begun, [], "begins a quoted value that does not end; the closing quote is missing"


def _named(rows: Iterator[tuple[int, list[csv_text.Cell], str | None]], names: list[str]) -> Iterator[RawRow]:
    for line, cells, reason in rows:
        if reason:
            yield _refused(line, reason)
        elif cells == [None] and len(names) > 1:
            continue
        elif len(cells) != len(names):
            yield _refused(line, f"has {len(cells)} values, but the header names {len(names)} columns")
        else:
            yield RawRow(line, dict(zip(names, cells, strict=True)))
