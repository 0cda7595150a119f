"""Another organisation's ids and paths, at every argument of every field that takes one. Made from the schema: a new field is tried too."""

import json
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

from store.database import Database
from tests.schema.asking import SCHEMA, ask
from tests.schema.roles import Furnished, furnish
from tests.store.trail import everything
from tests.world import World

_FILL = {
    "String": '"x"',
    "ID": '"x"',
    "Int": "1",
    "Float": "1",
    "Boolean": "true",
    "JSON": '{email: "c@x.example"}',
    "DateTime": '"2026-01-01T00:00:00Z"',
}
_ROOTS = {"query": SCHEMA.engine.schema.query_type, "mutation": SCHEMA.engine.schema.mutation_type}


def _takes(name: str, argument: GraphQLArgument) -> bool:
    named = get_named_type(argument.type).name
    return named == "ID" or (named == "String" and ("path" in name.lower() or name == "collection"))


CASES = [
    (kind, field, name)
    for kind, root in _ROOTS.items()
    if root
    for field, definition in root.fields.items()
    for name, argument in definition.args.items()
    if _takes(name, argument) and not field.startswith("vault")
]


def _filled(kind: Any) -> str:
    """A value of a type, as GraphQL writes it."""
    if isinstance(kind, GraphQLNonNull):
        return _filled(kind.of_type)
    if isinstance(kind, GraphQLList):
        return f"[{_filled(kind.of_type)}]"
    if isinstance(kind, GraphQLEnumType):
        return next(iter(kind.values))
    if isinstance(kind, GraphQLInputObjectType):
        needed = {name: field.type for name, field in kind.fields.items() if is_required_input_field(field)}
        return "{" + ", ".join(f"{name}: {_filled(inner)}" for name, inner in needed.items()) + "}"
    return _FILL[kind.name]


def _document(kind: str, field: str, name: str, value: str) -> str:
    root = _ROOTS[kind]
    assert root is not None
    definition = root.fields[field]
    listed = "[" in str(definition.args[name].type)
    given = {other: _filled(argument.type) for other, argument in definition.args.items() if is_required_argument(argument)}
    if "key" in given:
        given["key"] = '"x.md"'  # a note's name is looked at before its owner
    given[name] = f"[{json.dumps(value)}]" if listed else json.dumps(value)
    arguments = ", ".join(f"{key}: {text}" for key, text in given.items())
    selection = "" if is_leaf_type(get_named_type(definition.type)) else " { __typename }"
    return f"{kind} {{ {field}({arguments}){selection} }}"


async def _told(furnished: Furnished, role: str, document: str) -> str:
    """The code of the refusal, or what of theirs the answer gives: nothing."""
    answer = await ask(furnished.db, furnished.callers[role], document)
    if "errors" in answer:
        return str(answer["errors"][0]["extensions"]["code"])
    (found,) = answer["data"].values()
    assert found in (None, []), document
    return "NOTHING"


@pytest.mark.parametrize(("kind", "field", "name"), CASES)
async def test_another_organisations_ids_are_unknown(db: Database, world: World, kind: str, field: str, name: str) -> None:
    furnished = await furnish(db, world)
    theirs = {value for key, value in furnished.variables.items() if key != "body"} | {world.org, world.operator.id, "leads"}
    before = await everything(db)
    for role in ("stranger", "foreign_agent"):
        codes = {await _told(furnished, role, _document(kind, field, name, value)) for value in sorted(theirs)}
        assert codes <= {"NOT_FOUND", "FORBIDDEN", "UNPROCESSABLE", "NOTHING"}, codes
        # A refusal for other reasons would show nothing. Where a note goes is looked at only for a note that is there.
        assert role != "stranger" or field == "noteMove" or codes & {"NOT_FOUND", "NOTHING"}, codes
    assert await everything(db) == before


def test_the_arguments_within_other_types_are_known() -> None:
    inner = [
        f"{type_.name}.{field}.{name}"
        for type_ in SCHEMA.engine.schema.type_map.values()
        if hasattr(type_, "fields") and type_ not in _ROOTS.values() and not type_.name.startswith("__")
        for field, definition in type_.fields.items()
        for name, argument in getattr(definition, "args", {}).items()
        if _takes(name, argument)
    ]
    assert inner == ["Subscription.fileChanges.paths", "Subscription.fileChanges.runId"], (
        "try these with another organisation's ids as well"
    )
