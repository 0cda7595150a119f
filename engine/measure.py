"""How large a document is, and how many objects an operation asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    Visitor,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    visit,
)

from engine.limits import Limits

LIMIT_ARGUMENT = "limit"


@dataclass(slots=True)
class Size:
    """What stands in one selection set, fragments followed: how deep it goes and how many fields it has at the top."""

    depth: int = 0
    width: int = 0


class Structure:
    """Counts what needs no types: depth, width, aliases and fields. Each fragment is walked once, however often it is used."""

    def __init__(self, document: DocumentNode) -> None:
        self.aliases = 0
        self.fields = 0
        self._definitions = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        self._fragments: dict[str, Size] = {}
        sizes = [self._size(node.selection_set) for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        for name in self._definitions:
            self._fragment(name)
        self.depth = max((size.depth for size in sizes), default=0)
        self.root_fields = max((size.width for size in sizes), default=0)

    def _size(self, selection_set: SelectionSetNode | None) -> Size:
        size = Size()
        for selection in selection_set.selections if selection_set else ():
            if isinstance(selection, FieldNode):
                inner = Size(self._field(selection), 1)
            elif isinstance(selection, FragmentSpreadNode):
                inner = self._fragment(selection.name.value)
            elif isinstance(selection, InlineFragmentNode):
                inner = self._size(selection.selection_set)
            else:
                continue
            size.depth = max(size.depth, inner.depth)
            size.width += inner.width
        return size

    def _field(self, node: FieldNode) -> int:
        self.fields += 1
        self.aliases += node.alias is not None
        below = self._size(node.selection_set).depth
        return 1 if node.name.value.startswith("__") else 1 + below

    def _fragment(self, name: str) -> Size:
        definition = self._definitions.get(name)
        if name not in self._fragments and definition is not None:
            self._fragments[name] = Size()  # a fragment within itself ends here; validation refuses it by name
            self._fragments[name] = self._size(definition.selection_set)
        return self._fragments.get(name) or Size()


def structure_problems(document: DocumentNode, limits: Limits) -> list[str]:
    """Return what of the document's structure is over the limits, one sentence each."""
    try:
        structure = Structure(document)
    except RecursionError:
        return [f"the document nests too deeply; the limit is {limits.depth} levels"]
    counts = (
        (structure.depth, limits.depth, "is {} levels deep"),
        (structure.root_fields, limits.root_fields, "has {} root fields"),
        (structure.aliases, limits.aliases, "has {} aliases"),
        (structure.fields, limits.fields, "has {} fields"),
    )
    return [f"the document {text.format(count)}; the limit is {limit}" for count, limit, text in counts if count > limit]


class _Variables(Visitor):
    """Collects the names of variables."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        """Note the name."""
        self.names.add(node.name.value)


def event_variables(document: DocumentNode, operation: OperationDefinitionNode) -> tuple[str, ...]:
    """Return the names of the variables that the answer to an event depends on: all but those of the root field's arguments."""
    found = _Variables()
    roots = operation.selection_set.selections
    plain = [node for node in roots if isinstance(node, FieldNode) and not node.directives and node.selection_set]
    for node in [*(root.selection_set if root in plain else root for root in roots), *document.definitions]:
        if node is not None and not isinstance(node, OperationDefinitionNode):
            visit(node, found)
    return tuple(sorted(found.names))


class NodeCount:
    """Counts the objects that one operation asks for, with the given values of its variables."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, limits: Limits, variables: Mapping[str, Any]) -> None:
        self._schema = schema
        self._list_size = limits.list_size
        self._variables = variables
        self._definitions = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        self._fragments: dict[tuple[str, int | None], int] = {}

    def of(self, operation: OperationDefinitionNode) -> int:
        """Return the number of objects, an upper bound."""
        return self._below(operation.selection_set, self._schema.get_root_type(operation.operation), None)

    def _below(self, selection_set: SelectionSetNode | None, parent: GraphQLNamedType | None, size: int | None) -> int:
        count = 0
        for selection in selection_set.selections if selection_set else ():
            if isinstance(selection, FieldNode):
                count += self._field(selection, getattr(parent, "fields", {}).get(selection.name.value), size)
            elif isinstance(selection, FragmentSpreadNode):
                count += self._fragment(selection.name.value, size)
            elif isinstance(selection, InlineFragmentNode):
                condition = selection.type_condition
                count += self._below(selection.selection_set, self._schema.get_type(condition.name.value) if condition else parent, size)
        return count

    def _fragment(self, name: str, size: int | None) -> int:
        key = (name, size)
        if key not in self._fragments:
            # Validation has seen to it that the fragment exists and does not hold itself.
            definition = self._definitions[name]
            self._fragments[key] = self._below(definition.selection_set, self._schema.get_type(definition.type_condition.name.value), size)
        return self._fragments[key]

    def _field(self, node: FieldNode, field: GraphQLField | None, size: int | None) -> int:
        """Count a field's objects. `size` is the limit of the field above, where that returned one object that holds the list."""
        if field is None or is_leaf_type(named := get_named_type(field.type)):
            # Under an alias a text may stand in the answer many times.
            return int(node.alias is not None)
        limit = self._limit(node, field)
        if is_list_type(get_nullable_type(field.type)):
            factor = next(known for known in (limit, size, self._list_size) if known is not None)
            return factor * (1 + self._below(node.selection_set, named, None))
        return 1 + self._below(node.selection_set, named, limit)

    def _limit(self, node: FieldNode, field: GraphQLField) -> int | None:
        argument = field.args.get(LIMIT_ARGUMENT)
        if argument is None:
            return None
        value: Any = argument.default_value
        for given in node.arguments or ():
            if given.name.value == LIMIT_ARGUMENT and isinstance(given.value, IntValueNode):
                value = int(given.value.value)
            elif given.name.value == LIMIT_ARGUMENT and isinstance(given.value, VariableNode):
                from_variable = self._variables.get(given.value.name.value)
                value = value if from_variable is None else from_variable
        # Limits below one are refused by the field itself; here they must not make everything below them count nothing.
        return max(value, 1) if isinstance(value, int) else self._list_size


def limit_variables(document: DocumentNode, operation: OperationDefinitionNode) -> dict[str, Any]:
    """Return the operation's variables that stand as a limit somewhere in the document, with their default values."""
    used = {name for node in document.definitions for name in _limits_below(getattr(node, "selection_set", None))}
    found: dict[str, Any] = {}
    for definition in operation.variable_definitions or ():
        if definition.variable.name.value in used:
            default = definition.default_value
            found[definition.variable.name.value] = int(default.value) if isinstance(default, IntValueNode) else None
    return found


def _limits_below(selection_set: SelectionSetNode | None) -> Iterator[str]:
    for selection in selection_set.selections if selection_set else ():
        for argument in getattr(selection, "arguments", None) or ():
            if argument.name.value == LIMIT_ARGUMENT and isinstance(argument.value, VariableNode):
                yield argument.value.name.value
        yield from _limits_below(getattr(selection, "selection_set", None))
