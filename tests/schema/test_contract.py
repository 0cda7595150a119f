"""The exported schema holds everything that clients rely on, and is the one that the product serves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_schema,
)

from schema import build, sdl

CONTRACT = build_schema((Path(__file__).parent / "contract.graphql").read_text())
BUILT_IN = {"String", "Int", "Float", "Boolean", "ID"}


@pytest.fixture(scope="module")
def served() -> GraphQLSchema:
    return build_schema(sdl())


def test_the_committed_sdl_is_the_one_that_is_served(repository: Path) -> None:
    assert (repository / "schema.graphql").read_text() == sdl(), "run `muniment schema > schema.graphql`"


def fields_missing(contract: GraphQLObjectType | GraphQLInputObjectType, ours: GraphQLNamedType) -> Iterator[str]:
    assert isinstance(ours, type(contract)), ours
    for name, field in contract.fields.items():
        found = ours.fields.get(name)  # type: ignore[attr-defined]  # checked above
        if found is None or str(found.type) != str(field.type):
            yield f"{contract.name}.{name}: {field.type}"
            continue
        if isinstance(contract, GraphQLInputObjectType):
            if found.default_value != field.default_value:
                yield f"{contract.name}.{name} = {field.default_value}"
            continue
        for argument, wanted in field.args.items():
            given = found.args.get(argument)
            if given is None or str(given.type) != str(wanted.type) or given.default_value != wanted.default_value:
                yield f"{contract.name}.{name}({argument}: {wanted.type})"


@pytest.mark.parametrize("name", [name for name in CONTRACT.type_map if not name.startswith("__") and name not in BUILT_IN])
def test_the_schema_contains_the_contract(name: str, served: GraphQLSchema) -> None:
    contract, ours = CONTRACT.type_map[name], served.type_map.get(name)
    assert ours is not None
    if isinstance(contract, GraphQLEnumType):
        assert isinstance(ours, GraphQLEnumType)
        assert set(contract.values) <= set(ours.values)
    elif isinstance(contract, GraphQLScalarType):
        assert isinstance(ours, GraphQLScalarType)
    elif isinstance(contract, GraphQLObjectType | GraphQLInputObjectType):
        assert list(fields_missing(contract, ours)) == []


def test_every_type_and_field_is_described(served: GraphQLSchema) -> None:
    bare = []
    for name, kind in served.type_map.items():
        if name.startswith("__") or name in BUILT_IN:
            continue
        if not kind.description:
            bare.append(name)
        for field, definition in getattr(kind, "fields", {}).items():
            if not definition.description:
                bare.append(f"{name}.{field}")
    assert bare == []


def test_production_tells_nothing_of_the_schema() -> None:
    assert build(introspection=False).engine.documents.introspection is False
