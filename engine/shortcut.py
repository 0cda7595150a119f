"""The short way for an operation of one root field: arguments, resolver and compiled completion, without an executor.

It does what graphql-core does for the common case. What it cannot read before the resolver is called takes graphql-core's way from
the start; what it cannot complete afterwards is handed over with the resolver's outcome, which is not called again.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from graphql import (
    ExecutionResult,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLObjectType,
    GraphQLResolveInfo,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetailsList, FragmentDetails, collect_fields
from graphql.execution.executor import default_field_resolver, default_type_resolver
from graphql.execution.values import VariableValues
from graphql.pyutils import Path
from strawberry.execution import optimized_is_awaitable
from strawberry.types.field import StrawberryField
from strawberry.types.info import Info

from engine.arguments import Arguments
from engine.completion import RowExecutor
from engine.documents import Document, Operation
from engine.leaves import NotPlainError
from engine.plans import Found, conditions, is_known
from engine.room import Room

Outcome = Callable[[], Awaitable[Any]]
"""Gives once more what the resolver returned, or raises what it raised."""


class ResumedExecutor(RowExecutor):
    """Goes on where the short way could not: it takes the outcome of the root field's resolver instead of calling it."""

    def __init__(self, *args: Any, outcome: Outcome, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._outcome = outcome

    def execute_field(
        self, parent_type: GraphQLObjectType, source: Any, field_details_list: FieldDetailsList, path: Path, position_context: Any
    ) -> Any:
        """Complete the root field from the outcome, fields below it as usual."""
        if path.prev is not None:
            return super().execute_field(parent_type, source, field_details_list, path, position_context)
        field = parent_type.fields[field_details_list[0].node.name.value]
        info = self.build_resolve_info(field, [details.node for details in field_details_list], parent_type, path)
        return self.complete_awaitable_value(field.type, field_details_list, info, path, self._outcome(), position_context)


class Shortcut:
    """The one root field of a kept operation, ready to be called."""

    def __init__(self, document: Document, operation: Operation) -> None:
        """Raises NotPlainError for an operation that only graphql-core can run."""
        executor = _executor(document, operation)
        self._key, details = _only_field(executor)
        parent = executor.schema.get_root_type(operation.node.operation)
        field = parent.fields.get(details[0].node.name.value) if parent is not None else None
        if parent is None or field is None:
            raise NotPlainError
        self._arguments = Arguments(executor.schema, operation.node, field, details[0].node)
        self._call = _caller(field)
        self._nullable = not is_non_null_type(field.type)
        self._is_list = is_list_type(get_nullable_type(field.type))
        self._plan = _plan(executor, field, details).plan
        info = executor.build_resolve_info(field, [one.node for one in details], parent, Path(None, self._key, parent.name))
        self._info_class: Any = type(info)
        self._info: tuple[Any, ...] = info

    async def run(self, variables: Any, context: Any, root: Any, room: Room) -> ExecutionResult | Outcome | None:
        """Return the result; or the outcome of the resolver for graphql-core to complete; or None where nothing was called yet."""
        try:
            coerced, arguments = self._arguments.read(variables)
        except NotPlainError:
            return None
        try:
            value = await self._call(root, self._resolve_info(coerced, context, root), arguments)
        except Exception as error:  # noqa: BLE001  # graphql-core reports it with its place
            return _raising(error)
        try:
            item: Any = self._complete(value)
        except NotPlainError:
            return _returning(value)
        if self._is_list and item is not None:
            room.take(len(item))
        return ExecutionResult({self._key: item}, None)

    def _complete(self, value: Any) -> Any:
        if value is None and self._nullable:
            return None
        return self._plan.many(value) if self._is_list else self._plan.one(value)

    def _resolve_info(self, coerced: dict[str, Any], context: Any, root: Any) -> GraphQLResolveInfo[Any]:
        name, nodes, type_, parent, path, schema, fragments, _root, operation, _variables, _context, *rest = self._info
        made: GraphQLResolveInfo[Any] = self._info_class(
            name, nodes, type_, parent, path, schema, fragments, root, operation, coerced, context, *rest
        )
        return made


def _raising(error: Exception) -> Outcome:
    async def outcome() -> Any:
        raise error

    return outcome


def _returning(value: Any) -> Outcome:
    async def outcome() -> Any:
        return value

    return outcome


def _executor(document: Document, operation: Operation) -> RowExecutor:
    """Return an executor of the document that is never run: what reads selections takes one."""
    definitions = {node.name.value: node for node in document.node.definitions if isinstance(node, FragmentDefinitionNode)}
    fragments = {name: FragmentDetails(node, None) for name, node in definitions.items()}
    return RowExecutor(
        document.schema,
        definitions,
        fragments,
        None,
        None,
        operation.node,
        VariableValues({}, {}),
        default_field_resolver,
        default_type_resolver,
        default_field_resolver,
        is_awaitable=optimized_is_awaitable,
        plans=document.plans,
    )


def _only_field(executor: RowExecutor) -> tuple[str, FieldDetailsList]:
    operation = executor.operation
    parent = executor.schema.get_root_type(operation.operation)
    # What depends on a variable is another selection in each request.
    if parent is None or operation.directives or any(conditions(executor, operation.selection_set, set())):
        raise NotPlainError
    grouped = collect_fields(executor.schema, executor.fragments, executor.variable_values, parent, operation).grouped_field_set
    if len(grouped) != 1 or not all(is_known(details) for details in next(iter(grouped.values()))):
        raise NotPlainError
    return next(iter(grouped.items()))


def _plan(executor: RowExecutor, field: GraphQLField, details: FieldDetailsList) -> Found:
    inner = get_nullable_type(field.type)
    named = get_nullable_type(inner.of_type) if is_list_type(inner) else inner
    found = executor.plan(named, details)
    if found is None or found.rest:
        raise NotPlainError
    return found


def _caller(field: GraphQLField) -> Callable[[Any, GraphQLResolveInfo[Any], dict[str, Any]], Awaitable[Any]]:
    """Return how the field's resolver is called: itself where Strawberry would only hand it the arguments, else through Strawberry."""
    definition: Any = field.extensions.get("strawberry-definition")
    resolve: Any = field.resolve
    if not isinstance(definition, StrawberryField) or not definition.is_async or definition.is_subscription:
        raise NotPlainError
    resolver: Any = definition.base_resolver
    function: Any = resolver and resolver.wrapped_func
    names = _python_names(field, definition)
    if not inspect.iscoroutinefunction(function) or names is None:
        return lambda root, info, arguments: resolve(root, info, **arguments)
    info_name = resolver.info_parameter and resolver.info_parameter.name
    takes_self = resolver.self_parameter is not None

    def call(root: Any, info: GraphQLResolveInfo[Any], arguments: dict[str, Any]) -> Awaitable[Any]:
        given = {names[name]: value for name, value in arguments.items()}
        if info_name is not None:
            given[info_name] = Info(_raw_info=info, _field=definition)
        called: Awaitable[Any] = function(root, **given) if takes_self else function(**given)
        return called

    return call


def _python_names(field: GraphQLField, definition: StrawberryField) -> dict[str, str] | None:
    """Return the parameters of the resolver by the GraphQL names of the arguments; None where values must be converted for it."""
    resolver = definition.base_resolver
    if resolver is None or definition.extensions or resolver.root_parameter or resolver.parent_parameter:
        return None
    # Strawberry copies lists and makes objects of input types.
    if not all(is_leaf_type(get_nullable_type(argument.type)) for argument in field.args.values()):
        return None
    if any(argument.is_maybe for argument in definition.arguments):
        return None
    return dict(zip(field.args, [argument.python_name for argument in definition.arguments], strict=True))
