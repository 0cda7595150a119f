"""The parts of graphql-core and Strawberry that the engine builds on beyond their public API are those that it was written for."""

import hashlib
import importlib
import inspect
import tomllib
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import graphql.execution.collect_fields
import graphql.execution.executor
import graphql.execution.get_variable_signature
import graphql.execution.values
import pytest
import strawberry.execution
import strawberry.schema.schema
import strawberry.schema.schema_converter
import strawberry.subscriptions.protocols.graphql_transport_ws.handlers
import strawberry.types.arguments
import strawberry.types.field
import strawberry.types.info

EXECUTOR = graphql.execution.executor
STRAWBERRY = strawberry.schema.schema
COERCE = importlib.import_module("graphql.utilities.coerce_input_value")
HANDLER = strawberry.subscriptions.protocols.graphql_transport_ws.handlers

# What is used: the module, its name there, the digest of its source, and the module of ours that uses it.
INSIDES: list[tuple[Any, str, str, str]] = [
    (EXECUTOR, "Executor.__init__", "9b630bd4461c", "engine/completion.py"),
    (EXECUTOR, "Executor.build", "faf76cb9d614", "engine/execute.py"),
    (EXECUTOR, "Executor.build_per_event_executor", "e42b7eb17861", "engine/events.py"),
    (EXECUTOR, "Executor.execute_operation", "030f6fe38d23", "engine/events.py"),
    (EXECUTOR, "Executor.execute_fields", "797f54fbd779", "engine/completion.py"),
    (EXECUTOR, "Executor.execute_field", "5281dc836ecc", "engine/completion.py"),
    (EXECUTOR, "Executor.complete_value", "06c34f7681a1", "engine/completion.py"),
    (EXECUTOR, "Executor.complete_leaf_value", "a8c54d5838ad", "engine/leaves.py"),
    (EXECUTOR, "Executor.complete_list_value", "3ee91ce2f0fa", "engine/completion.py"),
    (EXECUTOR, "Executor.complete_object_value", "55e77f58eca1", "engine/completion.py"),
    (EXECUTOR, "Executor.complete_awaitable_value", "9a67e9f91f0a", "engine/shortcut.py"),
    (graphql.execution.values, "get_variable_values", "4c1b2880140b", "engine/arguments.py"),
    (graphql.execution.values, "coerce_variable_values", "9d7e32a42cea", "engine/arguments.py"),
    (graphql.execution.values, "get_argument_values", "9bb6b1486b9f", "engine/arguments.py"),
    (graphql.execution.values, "coerce_argument", "ae378050e608", "engine/arguments.py"),
    (graphql.execution.get_variable_signature, "get_variable_signature", "12756e033317", "engine/arguments.py"),
    (COERCE, "coerce_input_value", "b48fbfc965a8", "engine/arguments.py"),
    (COERCE, "coerce_input_literal", "c0549db45d02", "engine/arguments.py"),
    (COERCE, "coerce_default_value", "b74963507939", "engine/arguments.py"),
    (strawberry.schema.schema_converter, "get_arguments", "622f5399b812", "engine/shortcut.py"),
    (strawberry.types.arguments, "convert_argument", "a11a22f213be", "engine/shortcut.py"),
    (strawberry.types.info, "Info", "edf200d501fa", "engine/shortcut.py"),
    (graphql.execution.collect_fields, "collect_fields", "d41c7aeb4cad", "engine/shortcut.py"),
    (graphql.execution.collect_fields, "collect_subfields", "1657a3c68d28", "engine/plans.py"),
    (STRAWBERRY, "StrawberryGraphQLCoreExecutionContext", "61e417afeaa6", "engine/completion.py"),
    (STRAWBERRY, "Schema.execute", "a4b76c96d614", "engine/schema.py"),
    (STRAWBERRY, "Schema.stream", "e62e57ab6ead", "engine/schema.py"),
    (strawberry.execution, "optimized_is_awaitable", "573992bc92ad", "engine/leaves.py"),
    (strawberry.schema.schema_converter, "GraphQLCoreConverter.from_resolver", "bcac1354fecd", "engine/plans.py"),
    (strawberry.types.field, "StrawberryField.is_basic_field", "2788ae121972", "engine/plans.py"),
    (strawberry.types.field, "StrawberryField.get_result", "1881f471e729", "engine/columns.py"),
    (HANDLER, "BaseGraphQLTransportWSHandler", "c330b8546dab", "server/sockets.py"),
    (HANDLER, "Operation", "76c893f22025", "server/sockets.py"),
]


def digest(module: Any, name: str) -> str:
    found = attrgetter(name)(module)
    source = inspect.getsource(found.fget if isinstance(found, property) else found)
    return hashlib.sha256(source.encode()).hexdigest()[:12]


@pytest.mark.parametrize(("module", "name", "known", "user"), INSIDES, ids=[inside[1] for inside in INSIDES])
def test_an_inside_is_the_one_that_the_engine_was_written_for(module: Any, name: str, known: str, user: str) -> None:
    package = "graphql-core" if module.__name__.startswith("graphql.") else "strawberry-graphql"
    try:
        now = digest(module, name)
    except AttributeError:
        now = "gone"
    assert now == known, (
        f"{package} {version(package)} changed {module.__name__}.{name}, which {user} builds on. "
        "Read what changed, adapt the engine, let tests/engine pass, and write the new digest here."
    )


def test_both_are_pinned_exactly(repository: Path) -> None:
    pins = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["dependencies"]
    for package in ("graphql-core", "strawberry-graphql"):
        assert f"{package}=={version(package)}" in pins
