"""The scalars that the driver's values pass through unchanged: DateTime and JSON."""

from datetime import datetime
from typing import Any

import orjson


def raw(text: str | bytes) -> orjson.Fragment:
    """Return JSON text as a value of the JSON scalar; it must be valid JSON (as what PostgreSQL returns is)."""
    return orjson.Fragment(text)


def serialize_datetime(value: Any) -> datetime:
    """Return an aware datetime in UTC, for orjson to print. Raises ValueError for a naive one, TypeError for anything else."""
    raise NotImplementedError


def parse_datetime(value: Any) -> datetime:
    """Return an RFC 3339 text as a datetime in UTC, to the microsecond. Raises GraphQLError: no offset, no such day, year out of 1-9999."""
    raise NotImplementedError


def scalar_map() -> dict[object, Any]:
    """Return the entries for StrawberryConfig's `scalar_map`: datetime as DateTime, strawberry.scalars.JSON as JSON."""
    raise NotImplementedError
