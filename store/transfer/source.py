"""The rows of a file as they stand there: each with its line, its fields by name, or what is wrong with it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from models.errors import Problem
from models.limits import COLUMNS_PER_COLLECTION
from models.text import printable

ROW_CHARACTERS = 1024 * 1024
_SUFFIXES = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_NAMES_TOLD = 20

NOT_TEXT = "is not UTF-8; it may be Windows-1252: convert it with `iconv -f WINDOWS-1252 -t UTF-8`, or save it as UTF-8"
UTF_16 = "is UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`, or save it as UTF-8"
TOO_LONG = f"has more than {ROW_CHARACTERS:,} characters, far more than a record may hold"


class Format(StrEnum):
    """How a file writes its records."""

    JSONL = "jsonl"
    CSV = "csv"


def format_of(name: str) -> Format | None:
    """Return the format that a file's name tells, or None."""
    return next((Format(kind) for suffix, kind in _SUFFIXES.items() if name.lower().endswith(suffix)), None)


class RawRow(NamedTuple):
    """One row. `line` counts from 1 and is where the row begins; a row with problems has no fields."""

    line: int
    fields: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    empty: bool = False


@dataclass(slots=True)
class Source:
    """A file's rows. A CSV has a header, and values that are text or None; JSON has values of JSON and no header."""

    rows: Iterator[RawRow]
    header: list[str] | None = None
    header_problems: list[Problem] = field(default_factory=list)


def refused(line: int, reason: str, column: str | None = None) -> RawRow:
    """Return a row that cannot be read."""
    return RawRow(line, {}, (Problem(column, reason),))


def decoded(raw: bytes, number: int) -> str:
    """Return the text of a line. Raises ValueError, whose text says what is wrong with the file."""
    if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(UTF_16)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise ValueError(NOT_TEXT) from None
    return text.removeprefix("\ufeff") if number == 1 else text


def doubled(names: list[str], reason: str) -> list[Problem]:
    """Return a problem for each name that occurs twice, as far as it is useful to name them."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    told = [Problem(printable(name), reason) for name in repeated[:_NAMES_TOLD]]
    return told + ([Problem(None, f"{len(repeated) - _NAMES_TOLD:,} more names occur twice")] if len(repeated) > _NAMES_TOLD else [])


def too_many(names: int) -> Problem | None:
    """Return the problem of more fields than a collection can have columns, or None."""
    if names <= COLUMNS_PER_COLLECTION:
        return None
    return Problem(None, f"has {names:,} fields; a collection has at most {COLUMNS_PER_COLLECTION} columns")
