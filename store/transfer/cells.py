"""A CSV cell and the value that it stands for, by the column's type. What is no value stays text, for the column to refuse."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from models.json_text import exact_float, to_json
from models.kinds import ColumnType

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
BOOLEANS = {"true": True, "false": False}
# What stands for no number or time without being asked.
NOT_AVAILABLE = frozenset({"NA", "N/A"})


def number(cell: str) -> Any:
    """Return the JSON number that the cell is, or the cell."""
    text = cell.strip()
    # Only what JSON calls a number: 007, 1,5 and 1_000 are texts that the column refuses, rather than numbers guessed.
    value = _json(cell) if NUMBER.fullmatch(text) else cell
    # A number that loses digits is no value of the cell.
    return cell if isinstance(value, float) and Decimal(text) != Decimal(repr(value)) else value


def is_kept_exactly(cell: str) -> bool:
    """Return whether the number that the cell is would be written back as the cell."""
    value = number(cell)
    return not isinstance(value, str) and to_json(value) == cell.strip()


def boolean(cell: str) -> Any:
    """Return true or false in any case of letters, or the cell."""
    return BOOLEANS.get(cell.strip().lower(), cell)


def array(cell: str) -> Any:
    """Return the JSON list that the cell is, or the cell."""
    value = _json(cell) if cell.lstrip().startswith("[") else cell
    return value if isinstance(value, list) else cell


def _json(cell: str) -> Any:
    try:
        return json.loads(cell, parse_float=exact_float)
    except (ValueError, RecursionError):
        return cell


_READ: dict[ColumnType, Callable[[str], Any]] = {ColumnType.NUMBER: number, ColumnType.BOOLEAN: boolean, ColumnType.ARRAY: array}


def value(kind: ColumnType | None, cell: str) -> Any:
    """Return what a cell of a column of this type stands for."""
    read = _READ.get(kind) if kind else None
    return cell if read is None else read(cell)


def is_missing(kind: ColumnType | None, cell: str | None, missing: frozenset[str]) -> bool:
    """Return whether a cell of a column of this type stands for no value; `missing` has texts that do, in columns that hold no text."""
    if cell is None:
        return True
    if kind is None or kind is ColumnType.TEXT:
        return False
    text = cell.strip()
    return not text or text in missing or (kind in {ColumnType.NUMBER, ColumnType.DATETIME} and text in NOT_AVAILABLE)


def cell_of(value: Any) -> str | None:
    """Return the cell that stands for a stored value."""
    return value if value is None or isinstance(value, str) else to_json(value)
