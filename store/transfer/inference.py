"""The columns that the rows of a file would fit into."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from models import datetimes, identity
from models.columns import RESERVED, ColumnDef
from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.kinds import ColumnType
from models.limits import DESCRIPTION_CHARACTERS
from models.numbers import decimal_text, is_number
from models.text import printable
from store.transfer import cells
from store.transfer.fields import column_names, has_facts, kept_header
from store.transfer.parsing import PLAIN, Reading, read
from store.transfer.source import Format, Source, too_many

# A column of such a name tells rows apart if all its values differ.
_TELLING = ("email", "e_mail", "id", "uuid", "guid", "code", "key", "slug", "sku", "isbn", "iata")
_ROWS_TO_BE_SURE = 20
_UNIQUE_CHARACTERS = 200
_MOST_VALUES, _VALUE_CHARACTERS, _TIMES_EACH = 12, 64, 4
_EXAMPLES = 3
_ORDER = (ColumnType.BOOLEAN, ColumnType.NUMBER, ColumnType.DATETIME, ColumnType.ARRAY)


@dataclass(slots=True)
class _Field:
    """What was seen of one field."""

    present: int = 0
    fits: dict[ColumnType, int] = field(default_factory=dict)
    misfits: dict[ColumnType, list[tuple[int, str]]] = field(default_factory=lambda: {kind: [] for kind in _ORDER})
    inexact: list[tuple[int, str]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    distinct: bool = True
    fraction: bool = False
    values: dict[str, int] | None = field(default_factory=dict)

    def take(self, line: int, value: Any, *, cell: bool) -> None:
        self.present += 1
        kinds = _kinds(value, cell=cell)
        for kind in kinds:
            self.fits[kind] = self.fits.get(kind, 0) + 1
        for kind, misfits in self.misfits.items():
            if kind not in kinds and len(misfits) < _EXAMPLES:
                misfits.append((line, shown(value)))
        if cell and ColumnType.NUMBER not in kinds and cells.NUMBER.fullmatch(value.strip()) and len(self.inexact) < _EXAMPLES:
            self.inexact.append((line, shown(value)))
        self._compare(value)

    def _compare(self, value: Any) -> None:
        self.fraction = self.fraction or isinstance(value, float) or (isinstance(value, str) and "." in value)
        if self.distinct:
            own = _own(value)
            self.distinct = own is not None and own not in self.seen
            # Once two values agree nothing more is kept, so that a long file does not fill the memory.
            self.seen.add(own or "")
        if self.values is not None:
            if isinstance(value, str) and value.strip() and len(value) <= _VALUE_CHARACTERS:
                self.values[value] = self.values.get(value, 0) + 1
            if not isinstance(value, str) or len(self.values) > _MOST_VALUES:
                self.values = None

    @property
    def type(self) -> ColumnType:
        """The type that every value fits; text for values of several types, or none at all."""
        return next((kind for kind in _ORDER if self.present and self.fits.get(kind) == self.present), ColumnType.TEXT)

    @property
    def listed(self) -> list[str] | None:
        """The values of a text column that has few, each of them often."""
        few = self.values if self.type is ColumnType.TEXT and self.present >= _ROWS_TO_BE_SURE else None
        return list(few) if few and sum(few.values()) == self.present >= _TIMES_EACH * len(few) and len(few) > 1 else None

    @property
    def note(self) -> str | None:
        """What keeps the column from the type that most of its values have."""
        if self.type is not ColumnType.TEXT:
            return None
        if self.inexact and not self.fits.get(ColumnType.NUMBER, 0) < self.present - len(self.inexact):
            return f"text, since {_examples(self.inexact)} would lose digits or its form as a number"
        kind, count = max(((kind, self.fits.get(kind, 0)) for kind in _ORDER), key=lambda found: found[1])
        if not self.present / 2 < count < self.present:
            return None
        misfits = self.present - count
        return f"text, since {misfits:,} of {self.present:,} values fit no {kind.lower()}: {_examples(self.misfits[kind])}"


@dataclass(frozen=True, slots=True)
class Inference:
    """Columns as a request would define them, how many rows were looked at, and what to tell of the columns by their names.

    `proposed` is a column whose values all differ, which may be the unique one. `fields` has the column of each field of the file.
    """

    columns: list[dict[str, Any]]
    rows: int
    notes: dict[str, str] = field(default_factory=dict)
    proposed: str | None = None
    fields: dict[str, str] = field(default_factory=dict)


def infer(lines: Iterable[bytes], kind: Format, reading: Reading = PLAIN) -> Inference:
    """Return the columns that the file's rows fit: type, listed values, required if no row lacks it, and unique if that is sure.

    Each column's description is its header. Rows that cannot be read are passed over.
    Raises Unprocessable if there is nothing to infer from, or more fields than a collection has columns.
    """
    file = read(lines, kind)
    if file.header_problems:
        raise Unprocessable.listing("the header cannot be read", file.header_problems)
    fields, rows = _seen(file, reading)
    if not fields:
        raise Unprocessable("the file holds no rows to infer columns from")
    if problem := too_many(len(fields)):
        raise Unprocessable.listing("columns cannot be inferred", [problem])
    names = {**column_names(fields), **reading.mapped}
    able = _able(fields, names, rows)
    unique = able if able and rows >= _ROWS_TO_BE_SURE and _is_telling(names[able]) else None
    columns = [
        ColumnDef(
            name=names[name],
            type=found.type,
            description=(kept_header(name) or names[name])[:DESCRIPTION_CHARACTERS],
            required=0 < rows == found.present,
            unique=name == unique,
            values=None if name == unique or found.listed is None else tuple(found.listed),
        ).stored()
        for name, found in fields.items()
    ]
    notes = {names[name]: note for name, found in fields.items() if (note := found.note)}
    return Inference(columns, rows, notes, names[able] if able and not unique else None, names)


def _seen(file: Source, reading: Reading) -> tuple[dict[str, _Field], int]:
    cell = file.header is not None
    header = file.header or []
    fields = {name: _Field() for name in header if name not in RESERVED or not has_facts(header)}
    rows = 0
    for row in file.rows:
        if row.problems or row.empty:
            continue
        rows += 1
        with_facts = has_facts(row.fields)
        for name, value in row.fields.items():
            if with_facts and name in RESERVED:
                continue
            if isinstance(value, dict):
                reason = "holds an object, and no column does; give its values fields of their own"
                raise Unprocessable.listing("columns cannot be inferred", [Problem(printable(name), f"line {row.line}: {reason}")])
            found = fields.setdefault(name, _Field())
            if value is not None and not (cell and (value.strip() in reading.missing | cells.NOT_AVAILABLE or value == "")):
                found.take(row.line, value, cell=cell)
            if len(fields) > _MOST_FIELDS:
                return fields, rows
    return fields, rows


# Far more than a collection has: nothing is gained by reading on.
_MOST_FIELDS = 1_000


def _kinds(value: Any, *, cell: bool) -> set[ColumnType]:
    """Return the types that accept the value."""
    if isinstance(value, str):
        found = {ColumnType.TEXT} | _moments(value)
        return found | _looks(value) if cell else found
    if isinstance(value, bool):
        return {ColumnType.BOOLEAN}
    if is_number(value):
        return {ColumnType.NUMBER}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return {ColumnType.ARRAY}
    return set()


def _looks(cell: str) -> set[ColumnType]:
    """Return what a cell looks like. A number counts only if it would be written back as it stands: 007, 1.10 and 12E4 are texts."""
    kinds = {ColumnType.NUMBER} if cells.is_kept_exactly(cell) else set()
    if isinstance(cells.boolean(cell), bool):
        kinds.add(ColumnType.BOOLEAN)
    if isinstance(items := cells.array(cell), list) and all(isinstance(item, str) for item in items):
        kinds.add(ColumnType.ARRAY)
    return kinds


def _moments(text: str) -> set[ColumnType]:
    try:
        datetimes.normalised(text)
    except ValueError:
        return set()
    return {ColumnType.DATETIME}


def _own(value: Any) -> str | None:
    """Return what would tell the row apart, or None if it could not."""
    if isinstance(value, bool):
        return None
    if is_number(value):
        return decimal_text(value) if isinstance(value, int) else None
    if isinstance(value, str) and len(value) <= _UNIQUE_CHARACTERS:
        return identity.folded(value) or None
    return None


def _able(fields: dict[str, _Field], names: dict[str, str], rows: int) -> str | None:
    """Return the field that may tell rows apart: one with a telling name, else the first field of all."""
    kinds = {ColumnType.TEXT, ColumnType.NUMBER}
    able = [name for name, found in fields.items() if found.distinct and 1 < rows == found.present and found.type in kinds]
    able = [name for name in able if not (fields[name].type is ColumnType.NUMBER and fields[name].fraction)]
    telling = next((name for name in able if _is_telling(names[name])), None)
    return telling or (able[0] if able and able[0] == next(iter(fields)) else None)


def _is_telling(name: str) -> bool:
    return any(name == ending or name.endswith(f"_{ending}") for ending in _TELLING)


def _examples(found: list[tuple[int, str]]) -> str:
    return ", ".join(f"{value} in line {line}" for line, value in found)
