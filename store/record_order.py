"""The order of a list of records. Every order is total: what is equal is ordered by id; missing values come last in either direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.kinds import ColumnType, SortDirection
from models.text import printable
from store.parameters import Parameters

_STORED = {"id": "a.number", "created_at": "a.created_at", "updated_at": "a.updated_at"}
_FORMS = 'order must be {"column": name, "direction": "asc" or "desc"}, or the text "name" or "name desc"'


@dataclass(frozen=True, slots=True)
class Order:
    """By which column, and which end first."""

    column: str
    direction: SortDirection = SortDirection.ASC


BY_ID = Order("id")
BY_UPDATE = Order("updated_at")


def parse(order: Any) -> Order | None:
    """The order that a text, an object, or a pair of column and direction asks for; None for none. Raises Unprocessable."""
    match order:
        case None | Order():
            return order
        case str():
            return _of(order, *order.split())
        case Mapping() if {"column"} <= order.keys() <= {"column", "direction"}:
            return _of(order, order["column"], order.get("direction") or SortDirection.ASC)
        case (column, direction):
            return _of(order, column, direction)
    raise _refused(order)


def _of(order: Any, *parts: Any) -> Order:
    match parts:
        case (str() as column,):
            return Order(column)
        case (str() as column, str() as direction) if direction.upper() in SortDirection.__members__:
            return Order(column, SortDirection(direction.upper()))
    raise _refused(order)


def _refused(order: Any) -> Unprocessable:
    reason = f"{_FORMS}; got {shown(order)}"
    return Unprocessable.listing("request rejected", [Problem(None, reason)])


def problem(order: Order, columns: Sequence[ColumnDef]) -> Problem | None:
    """Why these columns cannot be ordered so, or None."""
    if order.column in _STORED:
        return None
    column = next((column for column in columns if column.name == order.column), None)
    if column is not None and column.type is not ColumnType.ARRAY:
        return None
    why = "unknown column" if column is None else "an array has no order"
    possible = [*_STORED, *(column.name for column in columns if column.type is not ColumnType.ARRAY)]
    return Problem(printable(order.column)[:80], f"{why}; order takes {', '.join(possible)}")


class Key(NamedTuple):
    """One of the values that rows are ordered by, as SQL over `artifacts a`, and how."""

    sql: str
    direction: str


LAST_KEY = Key("a.number", "ASC")


def keys(order: Order, columns: Sequence[ColumnDef], parameters: Parameters) -> list[Key]:
    """The keys of an order that has no problem with the columns."""
    direction = order.direction.value
    if order.column == "id":
        return [Key(_STORED["id"], direction)]
    if order.column in _STORED:
        return [Key(_STORED[order.column], direction), LAST_KEY]
    column = next(column for column in columns if column.name == order.column)
    values = _values(column.type, parameters.add(column.name, "text"))
    return [*(Key(value, f"{direction} NULLS LAST") for value in values), LAST_KEY]


def expressions(keys: Sequence[Key]) -> str:
    """What follows ORDER BY, over `artifacts a` itself."""
    return ", ".join(f"{key.sql} {key.direction}" for key in keys)


def selected(keys: Sequence[Key]) -> str:
    """The keys as columns of the innermost SELECT."""
    return ", ".join(f"{key.sql} AS key_{index}" for index, key in enumerate(keys))


def by(keys: Sequence[Key], alias: str = "") -> str:
    """What follows ORDER BY, in the SELECT that has `selected` (no alias) or around it (the alias it has there)."""
    return ", ".join(f"{alias}key_{index} {key.direction}" for index, key in enumerate(keys))


def _values(kind: ColumnType, column: str) -> list[str]:
    """A value left from before the column was retyped counts as missing."""
    value, text = f"a.content_json->{column}", f"a.content_json->>{column}"
    if kind is ColumnType.TEXT:
        # Without case first: people expect adam before Zed.
        return [f"lower({text})", f"({text})"]
    if kind is ColumnType.DATETIME:
        return [f"(CASE jsonb_typeof({value}) WHEN 'string' THEN rtrim({text}, 'Z') END COLLATE \"C\")"]
    return [f"CASE jsonb_typeof({value}) WHEN '{kind.lower()}' THEN {value} END"]
