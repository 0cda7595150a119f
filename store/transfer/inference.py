"""The columns that the rows of a file would fit into."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from models import datetimes
from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.kinds import ColumnType
from models.limits import DESCRIPTION_CHARACTERS
from models.numbers import decimal_text, is_number
from models.text import printable
from store.transfer import cells
from store.transfer.fields import column_name
from store.transfer.source import Format, Source, read

# A column whose name ends so tells its rows apart more likely than another whose values differ as well.
_TELLING = ("email", "id", "uuid", "code", "key", "slug", "sku", "isbn", "iata", "url", "number", "name", "title")
_UNIQUE_CHARACTERS = 200


@dataclass(slots=True)
class _Field:
    """What was seen of one field."""

    present: int = 0
    kinds: set[ColumnType] = field(default_factory=lambda: set(ColumnType))
    example: Any = None
    seen: set[str] = field(default_factory=set)
    distinct: bool = True

    def take(self, value: Any) -> None:
        self.present += 1
        self.kinds &= _kinds(value)
        self.example = value if self.example is None else self.example
        if self.distinct:
            own = _own(value)
            self.distinct = own is not None and own not in self.seen
            # Once two values agree nothing more is kept, so that a long file does not fill the memory.
            self.seen.add(own or "")

    @property
    def type(self) -> ColumnType:
        """Texts that are all moments are datetimes; values of several types, or none at all, leave text."""
        order = (ColumnType.BOOLEAN, ColumnType.NUMBER, ColumnType.DATETIME, ColumnType.ARRAY)
        return next((kind for kind in order if kind in self.kinds), ColumnType.TEXT) if self.present else ColumnType.TEXT


@dataclass(frozen=True, slots=True)
class Inference:
    """Columns as a request would define them, and how many rows were looked at."""

    columns: list[dict[str, Any]]
    rows: int


def infer(lines: Iterable[bytes], kind: Format, *, source: str = "the file") -> Inference:
    """The columns that the file's rows fit: type, required where no row lacks it, and the best candidate for the unique one.

    `source` is the file's name for the descriptions, which are to be edited. Rows that cannot be read are passed over.
    Raises Unprocessable where there is nothing to infer from, or two fields would have one name.
    """
    file = read(lines, kind)
    if file.header_problems:
        raise Unprocessable.listing("the header cannot be read", file.header_problems)
    fields, rows = _seen(file)
    names = {name: column_name(name) for name in fields}
    _require(names)
    unique = _unique(fields, names, rows)
    columns = [
        ColumnDef(
            name=names[name],
            type=found.type,
            description=_description(name, found, source),
            required=0 < rows == found.present,
            unique=name == unique,
        ).stored()
        for name, found in fields.items()
    ]
    return Inference(columns, rows)


def _seen(file: Source) -> tuple[dict[str, _Field], int]:
    fields = {name: _Field() for name in file.header or ()}
    rows = 0
    for row in file.rows:
        if row.problems:
            continue
        rows += 1
        for name, value in row.fields.items():
            if value is not None:
                fields.setdefault(name, _Field()).take(value if file.header is None else _Cell(value))
            else:
                fields.setdefault(name, _Field())
    return fields, rows


class _Cell(str):
    """A text that stands for whatever it looks like."""

    __slots__ = ()


def _kinds(value: Any) -> set[ColumnType]:
    """The types that accept the value."""
    if isinstance(value, _Cell):
        read = {kind: cells.value(kind, str(value)) for kind in (ColumnType.BOOLEAN, ColumnType.NUMBER, ColumnType.ARRAY)}
        kinds = {kind for kind, found in read.items() if not isinstance(found, str) and kind in _kinds(found)}
        return kinds | {ColumnType.TEXT} | _moments(value)
    if isinstance(value, bool):
        return {ColumnType.BOOLEAN}
    if is_number(value):
        return {ColumnType.NUMBER}
    if isinstance(value, str):
        return {ColumnType.TEXT} | _moments(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return {ColumnType.ARRAY}
    return set()


def _moments(text: str) -> set[ColumnType]:
    try:
        datetimes.normalised(text)
    except ValueError:
        return set()
    return {ColumnType.DATETIME}


def _own(value: Any) -> str | None:
    """What would tell the row apart, or None where it could not."""
    if isinstance(value, bool):
        return None
    if is_number(value):
        return decimal_text(value) if isinstance(value, int) else None
    if isinstance(value, str) and len(value) <= _UNIQUE_CHARACTERS:
        return unicodedata.normalize("NFC", value).strip().lower() or None
    return None


def _unique(fields: dict[str, _Field], names: dict[str, str], rows: int) -> str | None:
    """The field that tells rows apart: one with a telling name, else the first field of all."""
    kinds = {ColumnType.TEXT, ColumnType.NUMBER}
    able = [name for name, found in fields.items() if found.distinct and 1 < rows == found.present and found.type in kinds]
    able = [name for name in able if not (fields[name].type is ColumnType.NUMBER and "." in str(fields[name].example))]
    for ending in _TELLING:
        for name in able:
            if names[name] == ending or names[name].endswith(f"_{ending}"):
                return name
    return able[0] if able and able[0] == next(iter(fields)) else None


def _description(name: str, found: _Field, source: str) -> str:
    text = " ".join(found.example.split()) if isinstance(found.example, str) else shown(found.example)
    example = f", for example {text}" if found.present and text else ""
    return printable(f'From "{name[:60]}" of {source[:40]}{example}')[:DESCRIPTION_CHARACTERS]


def _require(names: dict[str, str]) -> None:
    if not names:
        raise Unprocessable("the file holds no rows to infer columns from")
    problems, taken = [], dict[str, str]()
    for name, spelled in names.items():
        if spelled in taken:
            problems.append(Problem(printable(name), f"would be named {spelled}, as {printable(taken[spelled])!r} would"))
        taken.setdefault(spelled, name)
    if problems:
        raise Unprocessable.listing("columns cannot be inferred", problems)
