"""One shape for the answers of all doors: plain values, names in snake_case, closed values in lower case, actors nested."""

import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from models.datetimes import stored
from store.database import Row

_ACTORS = ("created_by", "updated_by", "saved_by", "actor")
_JSON = frozenset({"body", "columns"})
_CLOSED = frozenset({"level", "scope", "access", "mode", "kind", "operation", "base", "grant", "effective", "type"})
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def plain(value: Any) -> Any:
    """What an operation answered, as JSON would carry it."""
    match value:
        case Row():
            return _row(dict(value))
        case Mapping() | list() | tuple():
            return {key: plain(item) for key, item in value.items()} if isinstance(value, Mapping) else [plain(item) for item in value]
        case datetime():
            return stored(value)
        case bytes():
            return value.hex()
        case int() | str() | float() | None:
            return value
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(type(value))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    found = {key: _value(key, item) for key, item in row.items()}
    for actor in _ACTORS:
        if f"{actor}_kind" in found:
            found[actor] = {part: found.pop(f"{actor}_{part}") for part in ("kind", "id", "name")}
            found[actor]["kind"] = found[actor]["kind"].lower()
    return found


def _value(key: str, value: Any) -> Any:
    if key in _JSON and isinstance(value, str):
        return json.loads(value)
    return value.lower() if key in _CLOSED and isinstance(value, str) else plain(value)


def snake(value: Any) -> Any:
    """A GraphQL answer with the names of the others; record bodies stay as they are."""
    match value:
        case dict():
            return {_HUMP.sub(r"_\1", key).lower(): item if key == "body" else _closed(key, snake(item)) for key, item in value.items()}
        case list():
            return [snake(item) for item in value]
    return value


def _closed(key: str, value: Any) -> Any:
    return value.lower() if key in _CLOSED and isinstance(value, str) else value
