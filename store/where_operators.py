"""The operators of `where`: a term that is an object asks exactly, {"eq": v}, {"gte": v, "lt": w}, {"missing": true} and the like.

All operators of one term must hold. Text compares as the unique column does: NFC, without outer white space, in lower case.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from models import datetimes, identity
from models.columns import ColumnDef
from models.json_text import shown, to_json
from models.kinds import ColumnType
from models.limits import WHERE_IN_VALUES, WHERE_TERM_CHARACTERS
from models.text import fault
from models.values import faults
from store.terms import Beside, Compared, Identity, Missing, Not, OneOf, Same, SameItems, Term

_EXACT = ("eq", "ne", "in")
_PARTS = ("contains", "startsWith")
_ORDER = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

# What a column of each type may be asked.
OPERATORS: dict[ColumnType, tuple[str, ...]] = {
    ColumnType.TEXT: (*_EXACT, *_PARTS, "missing"),
    ColumnType.ARRAY: (*_EXACT, *_PARTS, "missing"),
    ColumnType.NUMBER: (*_EXACT, *_ORDER, "missing"),
    ColumnType.DATETIME: (*_EXACT, *_ORDER, "missing"),
    ColumnType.BOOLEAN: (*_EXACT, "missing"),
}


def operator_faults(column: ColumnDef, term: Mapping[str, Any]) -> Iterator[str]:
    """Yield every reason why the column cannot be asked this."""
    known = OPERATORS[column.type]
    if not term:
        yield f"expected at least one operator of {', '.join(known)}; got {{}}"
    for operator, value in term.items():
        if operator not in known:
            yield f"unknown operator {shown(operator)}; a {column.type.lower()} column takes {', '.join(known)}"
        else:
            yield from (f"{operator}: {reason}" for reason in _operand_faults(column, operator, value))


def operator_terms(column: ColumnDef, term: Mapping[str, Any]) -> list[Term]:
    """Return a condition for each operator of a term without faults."""
    return [_term(column, operator, value) for operator, value in term.items()]


def _operand_faults(column: ColumnDef, operator: str, value: Any) -> Iterator[str]:
    if operator == "missing":
        if not isinstance(value, bool):
            yield f"expected true or false; got {shown(value)}"
    elif operator == "in":
        yield from _list_faults(column, value)
    elif operator in _PARTS:
        yield from _text_faults(value)
    else:
        yield from _value_faults(column, value)


def _list_faults(column: ColumnDef, values: Any) -> Iterator[str]:
    if not isinstance(values, list) or not values:
        yield f"expected a list of 1 to {WHERE_IN_VALUES} values; got {shown(values)}"
    elif len(values) > WHERE_IN_VALUES:
        yield f"expected at most {WHERE_IN_VALUES} values; got {len(values)}"
    else:
        yield from (reason for value in values for reason in _value_faults(column, value))


def _value_faults(column: ColumnDef, value: Any) -> Iterator[str]:
    if value is None:
        yield f'expected {column.type.lower()}; got null (records without a value are {{"missing": true}})'
    elif column.type is ColumnType.ARRAY and isinstance(value, list):
        yield from (reason for item in value for reason in _listed_faults(column, item))
    elif column.type in {ColumnType.TEXT, ColumnType.ARRAY}:
        yield from _listed_faults(column, value)
    elif reason := long_text_fault(value):
        yield reason
    else:
        yield from faults(column, value)


def _text_faults(value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"expected text; got {shown(value)}"
    elif reason := long_text_fault(value):
        yield reason


def _listed_faults(column: ColumnDef, value: Any) -> Iterator[str]:
    if reasons := list(_text_faults(value)):
        yield from reasons
    elif column.values is not None and identity.folded(value) not in map(identity.folded, column.values):
        yield f"expected one of {', '.join(column.values)}; got {shown(value)}"


def long_text_fault(value: Any) -> str | None:
    """Return why a text cannot be a term, or None; values of other types have no such fault."""
    if not isinstance(value, str):
        return None
    if len(value) > WHERE_TERM_CHARACTERS:
        return f"the term has {len(value)} characters; at most {WHERE_TERM_CHARACTERS} are allowed"
    return fault(value)


def _term(column: ColumnDef, operator: str, value: Any) -> Term:
    match operator:
        case "missing":
            return Missing(column.name) if value else Not(column.name, Missing(column.name))
        case "eq":
            return _any_of(column, [value])
        case "in":
            return _any_of(column, value)
        case "ne":
            return Not(column.name, _any_of(column, [value]))
        case "contains" | "startsWith":
            text = unicodedata.normalize("NFC", value).lower()
            return Beside(column.name, text, start=operator == "startsWith", items=column.type is ColumnType.ARRAY)
    bound = to_json(value) if column.type is ColumnType.NUMBER else datetimes.normalised(value).removesuffix("Z")
    return Compared(column.name, column.type, _ORDER[operator], bound)


def _any_of(column: ColumnDef, values: list[Any]) -> Term:
    if column.unique:
        digests = [identity.digest(identity.identity_of(column, value)) for value in values]
        # A blank text has no identity, so that only the values themselves can tell.
        if all(digest is not None for digest in digests):
            return Identity(column.name, tuple(digest for digest in digests if digest is not None))
    match column.type:
        case ColumnType.TEXT:
            return OneOf(column.name, tuple(map(identity.folded, values)), items=False)
        case ColumnType.ARRAY:
            texts = tuple(identity.folded(value) for value in values if isinstance(value, str))
            lists = tuple(to_json(sorted({identity.folded(item) for item in value})) for value in values if isinstance(value, list))
            return SameItems(column.name, lists, texts) if lists else OneOf(column.name, texts, items=True)
        case ColumnType.DATETIME:
            return Same(column.name, tuple(to_json(datetimes.normalised(value)) for value in values))
    return Same(column.name, tuple(map(to_json, values)))
