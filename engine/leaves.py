"""How the value of one column becomes a value of the response."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any

from graphql import GraphQLEnumType, GraphQLLeafType, GraphQLScalarType, Undefined
from strawberry.execution import optimized_is_awaitable

from engine.scalars import serialize_datetime

SAME: dict[str, type] = {"String": str, "ID": str, "Boolean": bool}
"""Scalars whose values of this very type enter the response as they are."""


class NotPlainError(Exception):
    """A value that only the ordinary path can complete, or report; it never reaches a client."""


def coercion(leaf: GraphQLLeafType, *, nullable: bool) -> Callable[[Any], Any]:
    """Return a function that completes a value as the ordinary path does; it raises NotPlainError for what that treats otherwise."""
    coerce = leaf.coerce_output_value

    def complete(value: Any) -> Any:
        if value is None and nullable:
            return None
        if value is None or value is Undefined or isinstance(value, Exception) or optimized_is_awaitable(value):
            raise NotPlainError
        try:
            completed = coerce(value)
        except Exception as error:
            raise NotPlainError from error
        if completed is None or completed is Undefined:
            raise NotPlainError
        return completed

    return complete


def list_coercion(leaf: GraphQLLeafType, *, nullable: bool, nullable_items: bool) -> Callable[[Any], Any]:
    """Return the same for a list of leaf values."""
    item = coercion(leaf, nullable=nullable_items)

    def complete(value: Any) -> Any:
        if value is None and nullable:
            return None
        if type(value) is not list and type(value) is not tuple:
            raise NotPlainError
        return [item(one) for one in value]

    return complete


def enum_names(enum: GraphQLEnumType) -> dict[Any, str]:
    """Return the GraphQL name for each value of an enum that a row may hold: its text and its member."""
    names: dict[Any, str] = {}
    members = list(getattr(enum, "wrapped_cls", ()))
    for value in [*members, *(known.value for known in enum.values.values())]:
        if isinstance(value, Enum) or type(value) is str:
            names.setdefault(value, enum.coerce_output_value(value))
    return names


def slow_test(leaf: GraphQLLeafType, variable: str) -> str:
    """Return the source of a test that is true where the value needs the coercion, false where it may stay as it is."""
    # Exact types: a subclass may print otherwise, as True does, which is an int.
    if isinstance(leaf, GraphQLScalarType):
        if (same := SAME.get(leaf.name)) is not None:
            return f"type({variable}) is not {same.__name__}"
        if leaf.name == "Int":
            return f"type({variable}) is not int or not -2147483648 <= {variable} <= 2147483647"
        if leaf.coerce_output_value is serialize_datetime:
            return f"type({variable}) is not datetime or {variable}.tzinfo is not UTC"
    return "True"


NAMES: dict[str, Any] = {"datetime": datetime}
"""Names that the tests above use, beside builtins and UTC."""
