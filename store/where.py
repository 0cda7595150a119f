"""`where`: which records a list or a search is narrowed to, read by the columns' types. Every problem is told."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from models import datetimes, values
from models.columns import ColumnDef
from models.errors import Problem
from models.json_text import shown, to_json
from models.kinds import ColumnType
from models.limits import COLUMNS_PER_COLLECTION, WHERE_COLUMNS, WHERE_TERM_CHARACTERS
from models.text import fault, printable
from store.parameters import Parameters
from store.terms import Between, Contains, Item, Missing, Number, Same, Term

_ID = re.compile(r"0|[1-9][0-9]*")
_NAME_SHOWN = 80
_LARGEST_ID = 2**63 - 1
_RANGED = frozenset({ColumnType.NUMBER, ColumnType.DATETIME})
_BOUNDS = frozenset({"gte", "lte"})


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The terms of a `where`, ready to be put into a statement."""

    terms: tuple[Term, ...] = ()

    def conditions(self, parameters: Parameters) -> list[str]:
        """The conditions, all of which must hold."""
        return [term.condition(parameters) for term in self.terms]

    def similarities(self, parameters: Parameters) -> list[str]:
        """What the terms add to a record's rank."""
        return [part for term in self.terms if (part := term.similarity(parameters))]


def read(where: Any, columns: Sequence[ColumnDef], problems: list[Problem]) -> Narrowing:
    """The terms of a parsed JSON object, or None for no narrowing; what is wrong with it is added to the problems."""
    if where is None:
        return Narrowing()
    if not isinstance(where, Mapping):
        problems.append(Problem(None, f"where must be an object of columns and terms; got {shown(where)}"))
        return Narrowing()
    if len(where) > WHERE_COLUMNS:
        problems.append(Problem(None, f"where names {len(where)} columns; at most {WHERE_COLUMNS} are allowed, id included"))
    declared = {column.name: column for column in columns}
    found: list[Term] = []
    # More names than a table has columns would only repeat, each, what the columns are.
    for name, term in islice(where.items(), COLUMNS_PER_COLLECTION + 1):
        faults = list(_faults(name, term, declared))
        if faults:
            problems += [Problem(printable(str(name))[:_NAME_SHOWN], reason) for reason in faults]
        else:
            found.append(_term(name, term, declared))
    return Narrowing(tuple(found))


def _faults(name: str, term: Any, declared: Mapping[str, ColumnDef]) -> Iterator[str]:
    if name != "id" and name not in declared:
        yield f"unknown column; where takes id and the declared columns, which are {', '.join(declared)}"
    elif reason := _text_fault(term):
        yield reason
    elif name == "id":
        if term is not None and _id(term) is None:
            yield f"expected a record's id, like 12; got {shown(term)}"
    # Only numbers and datetimes have ranges; for other types an object is a value of the wrong type.
    elif isinstance(term, Mapping) and declared[name].type in _RANGED:
        yield from _range_faults(declared[name], term)
    elif term is not None:
        yield from _value_faults(declared[name], term)


def _text_fault(term: Any) -> str | None:
    if not isinstance(term, str):
        return None
    if len(term) > WHERE_TERM_CHARACTERS:
        return f"the term has {len(term)} characters; at most {WHERE_TERM_CHARACTERS} are allowed"
    return fault(term)


def _id(term: Any) -> int | None:
    """The id that a term names, -1 for one that is out of every record's reach, None for what is no id."""
    if isinstance(term, str):
        return _reachable(int(term)) if _ID.fullmatch(term) else None
    return _reachable(term) if isinstance(term, int) and not isinstance(term, bool) and term >= 0 else None


def _reachable(number: int) -> int:
    # Still an id, but of no record: an empty answer, as for any other that is unknown.
    return number if number <= _LARGEST_ID else -1


def _range_faults(column: ColumnDef, term: Mapping[str, Any]) -> Iterator[str]:
    if not term or not term.keys() <= _BOUNDS:
        yield f'expected a range of {{"gte": v}}, {{"lte": v}} or both; got {shown(dict(term))}'
        return
    for bound, value in term.items():
        reasons = [_text_fault(value)] if _text_fault(value) else list(_value_faults(column, value))
        yield from (f"{bound}: {reason}" for reason in reasons)


def _value_faults(column: ColumnDef, value: Any) -> Iterator[str]:
    if column.type is ColumnType.ARRAY or (column.type is ColumnType.TEXT and column.values is None):
        if not isinstance(value, str):
            yield f"expected text; got {shown(value)}"
        elif column.values is not None and value not in column.values:
            yield f"expected one of {', '.join(column.values)}; got {shown(value)}"
    elif value is None:
        yield f"expected {column.type.lower()}; got null"
    else:
        yield from values.faults(column, value)


def _term(name: str, term: Any, declared: Mapping[str, ColumnDef]) -> Term:
    if name == "id":
        return Number(name, None if term is None else _id(term))
    column = declared[name]
    if term is None:
        return Missing(name)
    if isinstance(term, Mapping):
        return Between(name, column.type, _bound(column, term.get("gte")), _bound(column, term.get("lte")))
    return _TERMS[column.type](column, term)


def _bound(column: ColumnDef, value: Any) -> str | None:
    if value is None:
        return None
    return to_json(value) if column.type is ColumnType.NUMBER else datetimes.normalised(value).removesuffix("Z")


def _text(column: ColumnDef, term: str) -> Term:
    return Contains(column.name, unicodedata.normalize("NFC", term), items=False) if column.values is None else _same(column, term)


def _array(column: ColumnDef, term: str) -> Term:
    return Contains(column.name, unicodedata.normalize("NFC", term), items=True) if column.values is None else Item(column.name, term)


def _same(column: ColumnDef, term: Any) -> Term:
    return Same(column.name, to_json(term))


def _datetime(column: ColumnDef, term: str) -> Term:
    return Same(column.name, to_json(datetimes.normalised(term)))


_TERMS: dict[ColumnType, Callable[[ColumnDef, Any], Term]] = {
    ColumnType.TEXT: _text,
    ColumnType.ARRAY: _array,
    ColumnType.NUMBER: _same,
    ColumnType.BOOLEAN: _same,
    ColumnType.DATETIME: _datetime,
}
