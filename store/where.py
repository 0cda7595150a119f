"""`where`: which records a list or a search is narrowed to, read by the columns' types. Every problem is told."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from models import datetimes, identity, values
from models.columns import ColumnDef
from models.errors import Problem
from models.json_text import shown, to_json
from models.kinds import ColumnType
from models.limits import COLUMNS_PER_COLLECTION, WHERE_COLUMNS, WHERE_IN_VALUES
from models.text import printable
from store.parameters import Parameters
from store.terms import Alone, Contains, Item, Missing, Not, Number, Same, Term
from store.where_operators import long_text_fault, operator_faults, operator_terms

_ID = re.compile(r"0|[1-9][0-9]*")
_NAME_SHOWN = 80
_LARGEST_ID = 2**63 - 1
_ID_OPERATORS = {"eq": "=", "in": "=", "ne": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


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


def read(where: Any, columns: Sequence[ColumnDef], problems: list[Problem], collection: str = "") -> Narrowing:
    """Return the terms of a parsed JSON object on a collection of this id, and add what is wrong with it to the problems."""
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
            found += _terms(name, term, declared, collection)
    return Narrowing(tuple(found))


def _faults(name: str, term: Any, declared: Mapping[str, ColumnDef]) -> Iterator[str]:
    if name != "id" and name not in declared:
        yield f"unknown column; where takes id and the declared columns, which are {', '.join(declared)}"
    elif reason := long_text_fault(term):
        yield reason
    elif name == "id":
        yield from _id_faults(term)
    elif isinstance(term, Mapping):
        yield from operator_faults(declared[name], term)
    elif term is not None:
        yield from _value_faults(declared[name], term)


def _id_faults(term: Any) -> Iterator[str]:
    if not isinstance(term, Mapping):
        if term is not None and _id(term) is None:
            yield f"expected a record's id, like 12; got {shown(term)}"
        return
    if not term or (unknown := [operator for operator in term if operator not in _ID_OPERATORS]):
        yield f"expected operators of {', '.join(_ID_OPERATORS)}; got {shown(unknown if term else {})}"
        return
    for operator, value in term.items():
        if operator == "in" and not (isinstance(value, list) and 1 <= len(value) <= WHERE_IN_VALUES):
            yield f"in: expected a list of 1 to {WHERE_IN_VALUES} ids; got {shown(value)}"
            continue
        ids = value if operator == "in" else [value]
        yield from (f"{operator}: expected a record's id, like 12; got {shown(one)}" for one in ids if _id(one) is None)


def _id(term: Any) -> int | None:
    """Return the id that a term names, as far as a number of a record reaches, or None for what is no id."""
    if isinstance(term, str):
        return _reachable(int(term)) if _ID.fullmatch(term) else None
    return _reachable(term) if isinstance(term, int) and not isinstance(term, bool) and term >= 0 else None


def _reachable(number: int) -> int:
    # Still an id, but of no record: the largest number stands for it.
    return min(number, _LARGEST_ID)


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


def _terms(name: str, term: Any, declared: Mapping[str, ColumnDef], collection: str) -> list[Term]:
    if name == "id":
        return _id_terms(term)
    column = declared[name]
    if term is None:
        return [Missing(name)]
    if isinstance(term, Mapping):
        return operator_terms(column, term)
    plain = _TERMS[column.type](column, term)
    digest = identity.digest(identity.identity_of(column, term)) if column.unique and column.type is ColumnType.TEXT else None
    return [plain if digest is None else Alone(name, digest, collection, plain)]


def _id_terms(term: Any) -> list[Term]:
    if not isinstance(term, Mapping):
        return [Number("id", (None if term is None else _id(term),))]
    terms: list[Term] = []
    for operator, value in term.items():
        found = Number("id", tuple(map(_id, value if operator == "in" else [value])), _ID_OPERATORS[operator])
        terms.append(Not("id", found) if operator == "ne" else found)
    return terms


def _text(column: ColumnDef, term: str) -> Term:
    return Contains(column.name, unicodedata.normalize("NFC", term), items=False) if column.values is None else _same(column, term)


def _array(column: ColumnDef, term: str) -> Term:
    return Contains(column.name, unicodedata.normalize("NFC", term), items=True) if column.values is None else Item(column.name, term)


def _same(column: ColumnDef, term: Any) -> Term:
    return Same(column.name, (to_json(term),))


def _datetime(column: ColumnDef, term: str) -> Term:
    return Same(column.name, (to_json(datetimes.normalised(term)),))


_TERMS: dict[ColumnType, Callable[[ColumnDef, Any], Term]] = {
    ColumnType.TEXT: _text,
    ColumnType.ARRAY: _array,
    ColumnType.NUMBER: _same,
    ColumnType.BOOLEAN: _same,
    ColumnType.DATETIME: _datetime,
}
