"""The arguments of one field, read from the variables of a request by functions that are made once for the document."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLLeafType,
    GraphQLScalarType,
    GraphQLSchema,
    OperationDefinitionNode,
    Undefined,
    VariableNode,
    get_nullable_type,
    is_non_null_type,
)
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource, get_argument_values
from graphql.type import is_required_argument
from graphql.utilities.coerce_input_value import coerce_default_value

from engine.leaves import NotPlainError

# Values that no resolver can change, so that all requests can be given the same one.
_CONSTANT = (str, int, float, bool, type(None), Enum, datetime)


class Variable(NamedTuple):
    """A variable of an operation, and what it is where the request leaves it out."""

    name: str
    signature: GraphQLVariableSignature
    leaf: GraphQLLeafType
    is_required: bool
    default: Any  # Undefined: none

    def read(self, given: Mapping[str, Any]) -> Any:
        """Return the coerced value; Undefined where there is none. Raises NotPlainError for what graphql-core must report."""
        value = given.get(self.name, Undefined)
        if value is Undefined:
            if self.default is Undefined and self.is_required:
                raise NotPlainError
            return self.default
        if value is None:
            if self.is_required:
                raise NotPlainError
            return None
        try:
            coerced = self.leaf.coerce_input_value(value)
        except Exception as error:
            raise NotPlainError from error
        if coerced is Undefined:
            raise NotPlainError
        return coerced


class Arguments:
    """What a root field of a kept operation is called with."""

    __slots__ = ("_constants", "_field", "_node", "_variables", "_wanted")

    def __init__(self, schema: GraphQLSchema, operation: OperationDefinitionNode, field: GraphQLField, node: FieldNode) -> None:
        """Raises NotPlainError for an operation whose variables or arguments only graphql-core can read."""
        self._field = field
        self._node = node
        self._variables = tuple(_variable(schema, definition) for definition in operation.variable_definitions or ())
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        from_variables = {name: value.name.value for name, value in given.items() if isinstance(value, VariableNode)}
        self._constants = _constants(field, node, from_variables)
        self._wanted = tuple((name, variable, field.args[name]) for name, variable in from_variables.items())

    def read(self, given: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the coerced variables, and the arguments by their GraphQL names. Raises NotPlainError for what must be reported."""
        inputs = given or {}
        coerced = {}
        for variable in self._variables:
            if (value := variable.read(inputs)) is not Undefined:
                coerced[variable.name] = value
        # A value with variables within it, or one that a resolver could change, is made anew for each request.
        if self._constants is None:
            return coerced, self._by_graphql(inputs, coerced)
        arguments = dict(self._constants)
        for name, source, argument in self._wanted:
            if source in coerced:
                value = coerced[source]
                if value is None and is_non_null_type(argument.type):
                    raise NotPlainError
                arguments[name] = value
            elif is_required_argument(argument):
                raise NotPlainError
            elif (default := coerce_default_value(argument)) is not Undefined:
                arguments[name] = default
        return coerced, arguments

    def _by_graphql(self, inputs: Mapping[str, Any], coerced: dict[str, Any]) -> dict[str, Any]:
        sources = {one.name: VariableValueSource(one.signature, inputs.get(one.name, Undefined)) for one in self._variables}
        try:
            return get_argument_values(self._field, self._node, VariableValues(sources, coerced))
        except Exception as error:
            raise NotPlainError from error


def _variable(schema: GraphQLSchema, definition: Any) -> Variable:
    signature = get_variable_signature(schema, definition)
    # How deep an object nests is for graphql-core to bound.
    if not isinstance(signature, GraphQLVariableSignature):
        raise NotPlainError
    leaf = get_nullable_type(signature.type)
    if not isinstance(leaf, GraphQLScalarType | GraphQLEnumType):
        raise NotPlainError
    default = coerce_default_value(signature)
    if default is not Undefined and not isinstance(default, _CONSTANT):
        raise NotPlainError
    return Variable(signature.name, signature, leaf, is_non_null_type(signature.type), default)


def _constants(field: GraphQLField, node: FieldNode, from_variables: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the arguments that are the same in each request; None where they cannot be kept."""
    fixed = [argument for argument in node.arguments or () if argument.name.value not in from_variables]
    try:
        # Without the arguments that are variables, whose own defaults are left out below.
        found = get_argument_values(
            GraphQLField(field.type, {name: arg for name, arg in field.args.items() if name not in from_variables}),
            FieldNode(name=node.name, arguments=tuple(fixed)),
        )
    except Exception:  # noqa: BLE001  # whatever it is, graphql-core reports it when it runs
        return None
    return found if all(isinstance(value, _CONSTANT) for value in found.values()) else None
