"""An operation of one root field has the same answer by the short way and by graphql-core, whatever its arguments and its outcome."""

import asyncio
import enum
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strawberry.scalars import JSON

from engine import EngineSchema, Limits, run
from engine.completion import RowExecutor
from engine.shortcut import Shortcut


@strawberry.enum
class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.input
class Order:
    column: str
    colour: Colour = Colour.RED
    items: list[int] | None = None


@strawberry.type
class Told:
    text: str
    number: int


@strawberry.type
class Query:
    @strawberry.field
    async def plain(
        self,
        info: strawberry.Info[Any, Any],
        text: str | None = "default",
        count: int | None = 5,
        share: float | None = None,
        ident: strawberry.ID | None = None,
        on: bool | None = None,
        at: datetime | None = None,
        colour: Colour | None = Colour.BLUE,
        any_value: JSON | None = None,
    ) -> Told | None:
        return await told(info, text, count, share, ident, on, at, colour, any_value)

    @strawberry.field
    async def required(self, info: strawberry.Info[Any, Any], text: str, any_value: JSON) -> Told:
        found: Told = await told(info, text, any_value)
        return found

    @strawberry.field
    async def nested(
        self, info: strawberry.Info[Any, Any], order: Order | None = None, numbers: list[int] | None = None
    ) -> list[Told | None] | None:
        return [await told(info, order, numbers), None]


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def write(self, info: strawberry.Info[Any, Any], any_value: JSON, limit: int = 1) -> Told:
        found: Told = await told(info, any_value, limit)
        return found


async def told(info: strawberry.Info[Any, Any], *arguments: Any) -> Any:
    """What a resolver was given, or what the context wants of it."""
    await asyncio.sleep(0)
    info.context.calls.append(arguments)
    if isinstance(info.context.outcome, Exception):
        raise info.context.outcome
    known = (arguments, sorted(info.variable_values.items(), key=str), info.path.key, info.root_value)
    return info.context.outcome or SimpleNamespace(text=repr(known), number=len(arguments))


SCHEMAS = [EngineSchema(Query, Mutation, compiled=compiled, new_id=lambda: "one", limits=Limits(aliases=100)) for compiled in (True, False)]


async def both(query: str, variables: Any = None, outcome: Any = None) -> tuple[bytes, bytes]:
    answers = []
    for schema in SCHEMAS:
        context = SimpleNamespace(calls=[], outcome=outcome)
        answer = await run(schema.engine, query, variables, context=context, root="root")
        # The calls are counted in the answer, so that none is made twice.
        answers.append(answer.body + str(len(context.calls)).encode())
    return answers[0], answers[1]


VALUES = {
    "String": [None, "a", 'é"', 5, True, {}],
    "Int": [None, 0, -1, 2**31, 1.0, 1.5, "1", True],
    "Float": [None, 0.5, 3, "x", float("inf")],
    "ID": [None, "i", 7, 1.5],
    "Boolean": [None, True, 0],
    "DateTime": [None, "2026-11-30T10:00:00+02:00", "yesterday", 5],
    "Colour": [None, "RED", "red", 1],
    "JSON": [None, 1, [1, {"a": None}], {"b": "x"}, "t"],
}
ARGUMENTS = {
    "text": "String",
    "count": "Int",
    "share": "Float",
    "ident": "ID",
    "on": "Boolean",
    "at": "DateTime",
    "colour": "Colour",
    "anyValue": "JSON",
}
LITERALS = {
    "String": ['"a"', "null", '"é"'],
    "Int": ["1", "-2147483648", "null"],
    "Float": ["1", "0.5", "null"],
    "ID": ['"x"', "4", "null"],
    "Boolean": ["true", "null"],
    "DateTime": ['"2026-11-30T08:00:00Z"', "null"],
    "Colour": ["RED", "null"],
    "JSON": ["{a: [1, $v]}", "[]", "1", "null", '{a: {b: "c"}}'],
}


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A document with arguments that are literals, variables, or left out, and values for its variables, right and wrong."""
    declared, given, variables = ["$v: Int"], [], {}
    if draw(st.booleans()):
        variables["v"] = draw(st.sampled_from([1, None, "no"]))
    for name, type_ in ARGUMENTS.items():
        form = draw(st.sampled_from(["none", "none", "literal", "variable", "variable"]))
        if form == "literal":
            given.append(f"{name}: {draw(st.sampled_from(LITERALS[type_]))}")
        elif form == "variable":
            default = draw(st.sampled_from(["", *(f" = {value}" for value in LITERALS[type_] if "$" not in value)]))
            must = draw(st.sampled_from(["", "", "!"])) if "null" not in default else ""
            declared.append(f"${name}: {type_}{must}{default}")
            given.append(f"{name}: ${name}")
            if draw(st.booleans()):
                variables[name] = draw(st.sampled_from(VALUES[type_]))
    arguments = f"({', '.join(given)})" if given else ""
    used = "" if any("$v" in one for one in given) else " unused: __typename @skip(if: true)"
    head = ", ".join(declared if not used else declared[1:])
    return f"query{f' ({head})' if head else ''} {{ plain{arguments} {{ text number }}{used} }}", variables


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_generated_arguments_are_read_alike(request: tuple[str, dict[str, Any]]) -> None:
    short, ordinary = asyncio.run(both(*request))
    assert short == ordinary


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("query ($t: String!, $j: JSON!) { required(text: $t, anyValue: $j) { text } }", {"t": "a", "j": {"a": [1]}}),
        ("query ($t: String!, $j: JSON!) { required(text: $t, anyValue: $j) { text } }", {"t": "a", "j": None}),
        ("query ($t: String!, $j: JSON!) { required(text: $t, anyValue: $j) { text } }", {"t": None}),
        ('query ($t: String = "d") { required(text: $t, anyValue: 1) { text } }', {"t": None}),
        ('query ($t: String = "d") { required(text: $t, anyValue: 1) { text } }', {}),
        ("query ($o: Order, $n: [Int!]) { nested(order: $o, numbers: $n) { text } }", {"o": {"column": "c"}, "n": 5}),
        ("query ($o: Order) { nested(order: $o) { text } }", {"o": {"colour": "RED"}}),
        ("query ($c: String!) { nested(order: {column: $c, items: [1]}, numbers: [1, 2]) { text number __typename } }", {"c": "x"}),
        ("query ($n: [Int!] = [1]) { nested(numbers: $n) { text } }", {}),
        ("mutation ($j: JSON!, $limit: Int = 3) { write(anyValue: $j, limit: $limit) { number text } }", {"j": [1.5]}),
        ("mutation ($limit: Int) { w: write(anyValue: {a: 1}, limit: $limit) { ...F } } fragment F on Told { text }", {}),
        ("mutation { a: write(anyValue: 1) { text } b: write(anyValue: 2) { text } }", {}),
        ('query ($b: Boolean!) { required(text: "t", anyValue: 1) @include(if: $b) { text number @skip(if: $b) } }', {"b": True}),
        ("query ($b: Boolean!) { ...R @skip(if: $b) } fragment R on Query { plain { text } }", {"b": False}),
        ("{ ... { plain(count: 2) { text } } plain(count: 2) { number } }", None),
    ],
)  # fmt: skip
async def test_documents_have_the_same_bytes(query: str, variables: dict[str, Any] | None) -> None:
    short, ordinary = await both(query, variables)
    assert short == ordinary


@pytest.mark.parametrize(
    "outcome",
    [
        ValueError("a secret"),
        SimpleNamespace(text=None, number=1),
        SimpleNamespace(text="t", number="many"),
        SimpleNamespace(number=1),
        SimpleNamespace(text="t", number=ValueError("a value")),
        {"text": "t", "number": 1},
        5,
    ],
)
@pytest.mark.parametrize("root", ["plain", 'required(text: "t", anyValue: 1)', "nested"])
async def test_what_the_short_way_cannot_complete_is_completed_without_a_second_call(outcome: Any, root: str) -> None:
    short, ordinary = await both(f"{{ {root} {{ text number }} }}", None, outcome)
    assert short == ordinary
    assert short.endswith(b"1")


async def test_the_hot_case_makes_no_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "query ($c: Int) { plain(count: $c) { text } }"
    context = SimpleNamespace(calls=[], outcome=SimpleNamespace(text="t", number=1))
    engine = SCHEMAS[0].engine
    await run(engine, query, {"c": 1}, context=context)
    operation = engine.documents.get(query).operations[0]
    assert isinstance(operation.shortcut, Shortcut)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("an executor was made")

    monkeypatch.setattr(RowExecutor, "__init__", refuse)
    assert orjson.loads((await run(engine, query, {"c": 2}, context=context)).body) == {"data": {"plain": {"text": "t"}}}
    assert context.calls[1][1] == 2
