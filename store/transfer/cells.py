"""A CSV cell and the value that it stands for, by the column's type. What is no value stays text, for the column to refuse."""

import json
import re
from collections.abc import Callable
from typing import Any

from models.json_text import to_json
from models.kinds import ColumnType

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
BOOLEANS = {"true": True, "false": False}


def number(cell: str) -> Any:
    """The JSON number that the cell is, or the cell."""
    text = cell.strip()
    # Only what JSON calls a number: 007, 1,5 and 1_000 are texts that the column refuses, rather than numbers guessed.
    return _json(cell) if NUMBER.fullmatch(text) else cell


def boolean(cell: str) -> Any:
    """True or false in any case of letters, or the cell."""
    return BOOLEANS.get(cell.strip().lower(), cell)


def array(cell: str) -> Any:
    """The JSON list that the cell is, or the cell."""
    value = _json(cell) if cell.lstrip().startswith("[") else cell
    return value if isinstance(value, list) else cell


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


_READ: dict[ColumnType, Callable[[str], Any]] = {ColumnType.NUMBER: number, ColumnType.BOOLEAN: boolean, ColumnType.ARRAY: array}


def value(kind: ColumnType | None, cell: str) -> Any:
    """What a cell of a column of this type stands for."""
    read = _READ.get(kind) if kind else None
    return cell if read is None else read(cell)


def cell_of(value: Any) -> str | None:
    """The cell that stands for a stored value."""
    return value if value is None or isinstance(value, str) else to_json(value)
