"""What a column accepts: by its type alone, without coercion. Bodies and patches are checked whole, and every problem is told."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from models import datetimes
from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.kinds import ColumnType
from models.limits import ARRAY_ITEM_CHARACTERS, ARRAY_ITEMS, COLUMNS_PER_COLLECTION
from models.numbers import is_finite, is_number
from models.text import fault, printable

HEADING = "record rejected"
_NAME_SHOWN = 80


def checked_body(columns: Sequence[ColumnDef], body: Any) -> tuple[dict[str, Any], list[Problem]]:
    """A whole body as it is stored, with the problems that stand in the way. A null stays null: absent, or cleared by a merge."""
    values, problems = checked_patch(columns, body)
    if isinstance(body, Mapping):
        problems += [Problem(column.name, "required; missing") for column in columns if column.required and column.name not in body]
    return values, problems


def checked_patch(columns: Sequence[ColumnDef], body: Any) -> tuple[dict[str, Any], list[Problem]]:
    """The columns that a patch names as they are stored, null for a cleared one, with the problems that stand in the way."""
    if not isinstance(body, Mapping):
        return {}, [Problem(None, f"body must be an object of columns and values; got {shown(body)}")]
    declared = {column.name: column for column in columns}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    unknown = 0
    for name, value in body.items():
        column = declared.get(name)
        if column is None:
            unknown += 1
            # Each tells all declared columns, so that a body of nothing else would be answered by thousands of times its size.
            if unknown <= COLUMNS_PER_COLLECTION:
                problems.append(Problem(printable(name)[:_NAME_SHOWN], f"unknown column; declared columns are {', '.join(declared)}"))
        elif reasons := list(faults(column, value)):
            problems += [Problem(name, reason) for reason in reasons]
        else:
            values[name] = stored(column, value)
    if unknown > COLUMNS_PER_COLLECTION:
        problems.append(Problem(None, f"{unknown - COLUMNS_PER_COLLECTION:,} more unknown columns"))
    return values, problems


def merged(current: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The body after a checked patch: its nulls clear, what it does not name stays."""
    return {name: value for name, value in {**current, **patch}.items() if value is not None}


def warnings(columns: Sequence[ColumnDef], body: Mapping[str, Any], touched: Mapping[str, Any]) -> list[Problem]:
    """What the present columns would refuse in a stored body, outside the columns that were just written."""
    found = []
    for column in columns:
        if column.name in touched:
            continue
        if column.name in body:
            found += [Problem(column.name, reason) for reason in faults(column, body[column.name])]
        elif column.required:
            found.append(Problem(column.name, "required; missing"))
    return found


def rejected(problems: Sequence[Problem]) -> Unprocessable:
    """The refusal of a record."""
    return Unprocessable.listing(HEADING, problems)


def stored(column: ColumnDef, value: Any) -> Any:
    """An accepted value as it is kept: datetimes in UTC, everything else as it came."""
    if column.type is ColumnType.DATETIME and value is not None:
        return datetimes.normalised(value)
    return list(value) if column.type is ColumnType.ARRAY and value is not None else value


def faults(column: ColumnDef, value: Any) -> Iterator[str]:
    """Why the column does not accept the value; nothing where it does."""
    # A null in an add is an absent value and in a patch clears one; only a required column cannot do without.
    if value is None:
        if column.required:
            yield "required; got null"
        return
    yield from _FAULTS[column.type](column, value)


def _number_faults(_column: ColumnDef, value: Any) -> Iterator[str]:
    if not is_number(value):
        yield f"expected number; got {shown(value)}"
    elif not is_finite(value):
        yield f"expected a finite number (within ±1.8e308); got {shown(value)}"


def _boolean_faults(_column: ColumnDef, value: Any) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"expected boolean (true or false); got {shown(value)}"


def _text_faults(column: ColumnDef, value: Any) -> Iterator[str]:
    # A listed value was found storable when the column was defined.
    if column.values is not None:
        if not isinstance(value, str) or value not in column.values:
            yield f"expected one of {', '.join(column.values)}; got {shown(value)}"
    elif not isinstance(value, str):
        yield f"expected text; got {shown(value)}"
    elif reason := fault(value):
        yield reason


def _datetime_faults(_column: ColumnDef, value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"expected datetime (ISO 8601 text with a timezone, like {datetimes.EXAMPLE}); got {shown(value)}"
        return
    try:
        datetimes.normalised(value)
    except ValueError as error:
        yield f"{error}; got {shown(value)}"


def _array_faults(column: ColumnDef, value: Any) -> Iterator[str]:
    if not isinstance(value, list | tuple):
        yield f"expected array (a list of distinct texts); got {shown(value)}"
        return
    # One problem, however long the list is.
    if len(value) > ARRAY_ITEMS:
        yield f"expected at most {ARRAY_ITEMS} items; got {len(value)}"
        return
    seen = set[str]()
    for number, item in enumerate(value, 1):
        if not isinstance(item, str):
            yield f"expected text items; item {number} is {shown(item)}"
            continue
        if item in seen:
            yield f"expected distinct items; {shown(item)} is repeated"
        elif reason := _item_fault(column, item):
            yield f"{reason}; item {number} is {shown(item)}"
        seen.add(item)


def _item_fault(column: ColumnDef, item: str) -> str | None:
    if column.values is not None:
        return None if item in column.values else f"expected items out of {', '.join(column.values)}"
    if not item:
        return "expected non-empty items"
    if len(item) > ARRAY_ITEM_CHARACTERS:
        return f"expected items of at most {ARRAY_ITEM_CHARACTERS} characters, not {len(item)}"
    return f"an item {reason}" if (reason := fault(item)) else None


_FAULTS: dict[ColumnType, Callable[[ColumnDef, Any], Iterator[str]]] = {
    ColumnType.TEXT: _text_faults,
    ColumnType.NUMBER: _number_faults,
    ColumnType.BOOLEAN: _boolean_faults,
    ColumnType.DATETIME: _datetime_faults,
    ColumnType.ARRAY: _array_faults,
}
