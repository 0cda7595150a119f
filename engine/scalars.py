"""The scalars that the driver's values pass through unchanged: DateTime and JSON."""

import re
from datetime import UTC, datetime
from typing import Any

import strawberry
from graphql import GraphQLError, Undefined, ValueNode, value_from_ast_untyped
from strawberry.scalars import JSON

RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def serialize_datetime(value: Any) -> datetime:
    """Return an aware datetime in UTC, for orjson to print. Raises ValueError for a naive one, TypeError for anything else."""
    if not isinstance(value, datetime):
        raise TypeError(f"DateTime cannot represent {type(value).__name__}")
    if value.tzinfo is None:
        raise ValueError("DateTime cannot represent a time without an offset")
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def parse_datetime(value: Any) -> datetime:
    """Return an RFC 3339 text as a datetime in UTC, to the microsecond. Raises GraphQLError: no offset, no such day, year out of 1-9999."""
    match = RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise GraphQLError(f"DateTime must be an RFC 3339 text with an offset, such as 2026-11-30T08:00:00Z, not {_quoted(value)}")
    day, time, fraction, offset = match.groups()
    try:
        text = f"{day}T{time}.{(fraction or '0')[:6]:0<6}{'+00:00' if offset in 'Zz' else offset}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise GraphQLError(f"DateTime {_quoted(value)} names no day or time of the years 1 to 9999 in UTC") from None


def serialize_json(value: Any) -> Any:
    """Return `value` as it is: parsed JSON, or an `orjson.Fragment`."""
    return value


def scalar_map() -> dict[object, Any]:
    """Return the entries for StrawberryConfig's `scalar_map`: datetime as DateTime, strawberry.scalars.JSON as JSON."""
    return {
        datetime: strawberry.scalar(
            name="DateTime",
            description="An RFC 3339 time: any offset on input, always UTC with a trailing Z on output; a fraction to the microsecond.",
            serialize=serialize_datetime,
            parse_value=parse_datetime,
        ),
        JSON: strawberry.scalar(
            name="JSON",
            description="Any JSON value.",
            serialize=serialize_json,
            parse_value=lambda value: value,
            parse_literal=_json_literal,
        ),
    }


def _json_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
    return _given(value_from_ast_untyped(node, variables))


def _given(value: Any) -> Any:
    """Return a value without what stands for variables that were left out: as if their keys and items were left out too."""
    if isinstance(value, dict):
        return {key: _given(item) for key, item in value.items() if item is not Undefined}
    if isinstance(value, list):
        return [_given(item) for item in value if item is not Undefined]
    return value


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - what reads well on one line
