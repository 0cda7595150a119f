"""Which selections are plain columns, and the functions for them, kept with the document."""

from collections import Counter
from collections.abc import Iterator
from sys import getsizeof
from typing import Any, NamedTuple, TypeAlias

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetailsList, GroupedFieldSet, collect_subfields
from strawberry.types.field import StrawberryField

from engine.columns import READER, ColumnField, Computed, Embedded, Raw
from engine.kept import Kept
from engine.leaves import NotPlainError
from engine.rowcode import Constant, Inline, Leaf, Nested, Part, Read, RowFunctions, Writer, is_plain_class

# As measured: of a plan, and of each of its parts with the code that reads it, but for the part's key.
BYTES_A_PLAN, BYTES_A_PART = 16_000, 1_200
MOST_CONDITIONS = 16
KNOWN_DIRECTIVES = ("skip", "include")

Shape: TypeAlias = tuple[str, tuple[tuple[str, str, "Shape | None"], ...]]
"""A selection without its place in a document: the type, and key, field and nested selection of each field."""


class Plan:
    """How objects of one type and shape are completed."""

    def __init__(self, parts: tuple[Part, ...], rest: tuple[str, ...]) -> None:
        self.parts = parts
        self.rest = rest  # keys that the ordinary path completes
        self._functions: dict[type, RowFunctions | None] = {}

    def one(self, row: Any) -> dict[str, Any]:
        """Return the item of a row. Raises NotPlainError for what the ordinary path must complete."""
        return self._for(type(row)).one(row)

    def many(self, rows: Any) -> list[dict[str, Any]]:
        """Return the items of a list of rows of one class. Raises NotPlainError for what the ordinary path must complete."""
        if type(rows) is not list and type(rows) is not tuple:
            raise NotPlainError
        classes = set(map(type, rows))
        if len(classes) > 1:
            raise NotPlainError
        return self._for(classes.pop()).many(rows) if classes else []

    def _for(self, row_class: type) -> RowFunctions:
        if row_class not in self._functions:
            self._functions[row_class] = Writer(row_class).functions(self.parts) if is_plain_class(row_class) else None
        functions = self._functions[row_class]
        if functions is None:
            raise NotPlainError
        return functions


class PlanStore:
    """Keeps plans by shape, so that documents with the same selection share them."""

    def __init__(self, schema: GraphQLSchema, most: int) -> None:
        """`most` is in bytes."""
        self.schema = schema
        self.fallbacks: Counter[str] = Counter()
        """How many values the ordinary path completed although a plan was there for them, by type."""
        self._plans: Kept[Shape, Plan] = Kept(most)

    def plan(self, shape: Shape) -> Plan:
        """Return the plan of a shape."""
        if (plan := self._plans.get(shape)) is None:
            plan = self._make(shape)
            self._plans.keep(shape, plan, _weight(shape))
        return plan

    def _make(self, shape: Shape) -> Plan:
        type_name, fields = shape
        parent = self.schema.type_map[type_name]
        parts: list[Part] = []
        rest: list[str] = []
        for key, field_name, below in fields:
            part = self._part(parent, key, field_name, below)
            if part is None:
                rest.append(key)
            parts.append(part or Constant(key, None))
        return Plan(tuple(parts), tuple(rest))

    def _part(self, parent: Any, key: str, field_name: str, below: Shape | None) -> Part | None:
        if field_name == "__typename":
            return Constant(key, parent.name)
        field = parent.fields.get(field_name)
        reader = reader_of(field) if field is not None else None
        if reader is None:
            return None
        wrapped = Wrapped.of(field.type)
        if wrapped is None:
            return None
        if below is None:
            return self._leaf(key, reader, wrapped)
        return self._object(key, reader, wrapped, self.plan(below))

    def _leaf(self, key: str, reader: Any, wrapped: "Wrapped") -> Leaf | None:
        if not is_leaf_type(wrapped.named) or isinstance(reader, Embedded):
            return None
        return Leaf(key, read_of(reader), wrapped.named, wrapped.nullable, wrapped.items_nullable, isinstance(reader, Raw))

    def _object(self, key: str, reader: Any, wrapped: "Wrapped", plan: Plan) -> Part | None:
        if plan.rest or wrapped.named.is_type_of is not None:
            return None
        if isinstance(reader, Embedded):
            return Inline(key, reader, wrapped.nullable, plan.parts) if wrapped.items_nullable is None else None
        complete = plan.one if wrapped.items_nullable is None else plan.many
        return Nested(key, read_of(reader), complete, wrapped.nullable)


def _weight(shape: Shape) -> int:
    """Return about how many bytes a plan and its shape take; a key stands in the code as well."""
    return BYTES_A_PLAN + sum(BYTES_A_PART + 4 * getsizeof(key) for key, _, _ in shape[1])


class Wrapped(NamedTuple):
    """An output type taken apart: a named type, alone or in one list."""

    named: Any
    nullable: bool
    items_nullable: bool | None

    @classmethod
    def of(cls, type_: GraphQLOutputType) -> "Wrapped | None":
        """Return the parts of a type; None for a list of lists."""
        inner = get_nullable_type(type_)
        items_nullable = None
        if is_list_type(inner):
            items_nullable = not is_non_null_type(inner.of_type)
            inner = get_nullable_type(inner.of_type)
        return None if is_list_type(inner) else cls(inner, not is_non_null_type(type_), items_nullable)


def reader_of(field: GraphQLField) -> Any:
    """Return how a field reads a row: a reader or an attribute's name; None where it does anything more than that."""
    definition = field.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryField) or field.args or not getattr(field.resolve, "_is_default", False):
        return None
    if not definition.is_basic_field or definition.is_subscription:
        return None
    if type(definition) is ColumnField:
        return definition.metadata[READER]
    if type(definition) is not StrawberryField or definition.default_resolver is not getattr:
        return None
    return definition.python_name


def read_of(reader: Any) -> Read:
    """Return an attribute's name or a function of the row."""
    if isinstance(reader, Raw):
        return reader.source
    return reader.read if isinstance(reader, Computed) else str(reader)


class Found(NamedTuple):
    """A plan, and the fields of this document that the ordinary path completes beside it."""

    plan: Plan
    rest: GroupedFieldSet


class DocumentPlans:
    """The plans of one document, by the place of the selection and the values of the conditions in it."""

    __slots__ = ("_families", "_store", "fallbacks")

    def __init__(self, store: PlanStore) -> None:
        self.fallbacks = store.fallbacks
        self._store = store
        self._families: dict[Any, tuple[tuple[str, ...], dict[tuple[Any, ...], Found | None]]] = {}

    def find(self, executor: Executor[Any], type_: GraphQLObjectType, details: FieldDetailsList) -> Found | None:
        """Return the plan for objects of a type under these field nodes; None where the ordinary path has them."""
        # The nodes live as long as this does, with the document, so that their ids name places in it.
        key: Any = (type_.name, id(details[0].node))
        if len(details) > 1:
            key = (*key, *[id(detail.node) for detail in details[1:]])
        family = self._families.get(key)
        if family is None:
            seen: set[str] = set()
            names = {name for detail in details for name in conditions(executor, detail.node.selection_set, seen)}
            family = self._families[key] = (tuple(sorted(names)), {})
        variables, found = family
        given = executor.variable_values.coerced
        values = tuple([given.get(name) for name in variables]) if variables else ()
        if values not in found:
            if len(found) >= MOST_CONDITIONS:
                return None
            found[values] = self._make(executor, type_, details)
        return found[values]

    def _make(self, executor: Executor[Any], type_: GraphQLObjectType, details: FieldDetailsList) -> Found | None:
        grouped = _collect(executor, type_, details)
        shape = _shape(executor, type_, grouped)
        if shape is None:
            return None
        plan = self._store.plan(shape)
        if len(plan.rest) == len(plan.parts):
            return None
        return Found(plan, {key: grouped[key] for key in plan.rest})


def _collect(executor: Executor[Any], type_: GraphQLObjectType, details: FieldDetailsList) -> GroupedFieldSet:
    return collect_subfields(
        executor.schema, executor.fragments, executor.variable_values, executor.operation, type_, details
    ).grouped_field_set


def _shape(executor: Executor[Any], type_: GraphQLObjectType, grouped: GroupedFieldSet) -> Shape | None:
    """Return the shape of a selection; None where it has anything that is not known here."""
    fields: list[tuple[str, str, Shape | None]] = []
    for key, details in grouped.items():
        if not all(is_known(detail) for detail in details):
            return None
        name = details[0].node.name.value
        below: Shape | None = None
        field = type_.fields.get(name)
        named = get_named_type(field.type) if field is not None else None
        if field is not None and isinstance(named, GraphQLObjectType) and reader_of(field) is not None:
            below = _shape(executor, named, _collect(executor, named, details))
            if below is None:
                return None
        fields.append((key, name, below))
    return type_.name, tuple(fields)


def is_known(detail: Any) -> bool:
    """Return whether a selected field has no directives but those of conditions."""
    directives = detail.node.directives or ()
    known = all(directive.name.value in KNOWN_DIRECTIVES for directive in directives)
    return known and detail.defer_usage is None and detail.fragment_variable_values is None


def conditions(executor: Executor[Any], selection_set: SelectionSetNode | None, seen: set[str]) -> Iterator[str]:
    """Yield the variables that decide what of a selection is included. `seen` names the fragments that need no second visit."""
    for selection in selection_set.selections if selection_set else ():
        for directive in selection.directives or ():
            for argument in directive.arguments or ():
                if isinstance(argument.value, VariableNode):
                    yield argument.value.name.value
        if isinstance(selection, FragmentSpreadNode):
            name = selection.name.value
            if name not in seen:
                seen.add(name)
                yield from conditions(executor, executor.fragments[name].definition.selection_set, seen)
        elif isinstance(selection, FieldNode | InlineFragmentNode):
            yield from conditions(executor, selection.selection_set, seen)
