"""What a model is told of the tools, and what it may send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import Unprocessable
from server.mcp import arguments
from server.mcp.tools import INSTRUCTIONS, TOOLS

TAKES = {
    "note_find": (["query"], ["level", "limit"]),
    "note_get": (["path"], []),
    "note_write": (["level", "key", "content"], []),
    "note_delete": (["path"], []),
    "record_search": (["query"], ["collection", "where", "limit"]),
    "record_list": (["collection"], ["where", "since", "order", "limit", "offset"]),
    "record_add": (["collection", "body"], []),
    "record_update": (["collection", "id", "body"], []),
    "record_remove": (["collection", "id"], []),
    "memory_write": (["content"], []),
    "script_list": ([], []),
    "script_get": (["path"], []),
    "script_write": (["name", "content"], []),
    "script_delete": (["path"], []),
}
READ_ONLY = {"note_find", "note_get", "record_search", "record_list", "script_list", "script_get"}
# A memory that is replaced is archived, and a record that is added replaces nothing unless its table says so.
DESTRUCTIVE = TAKES.keys() - READ_ONLY - {"memory_write", "record_add"}


def test_the_tools_take_the_arguments_of_their_operations_alone() -> None:
    found = {}
    for name, tool in TOOLS.items():
        schema = tool.schema
        assert schema["additionalProperties"] is False
        found[name] = (sorted(schema["required"]), sorted(schema["properties"].keys() - set(schema["required"])))
    assert found == {name: (sorted(required), sorted(optional)) for name, (required, optional) in TAKES.items()}


def test_every_argument_and_tool_is_described() -> None:
    for tool in TOOLS.values():
        assert tool.title
        assert tool.description.endswith(".")
        for argument in tool.schema["properties"].values():
            assert argument["description"].endswith(".")
            assert {"type", "anyOf"} & argument.keys()
    assert INSTRUCTIONS.endswith(".")


def test_hints_say_what_a_call_may_do() -> None:
    assert {name for name, tool in TOOLS.items() if tool.read_only} == READ_ONLY
    assert {name for name, tool in TOOLS.items() if tool.destructive} == DESTRUCTIVE
    assert {name for name, tool in TOOLS.items() if not (tool.idempotent or tool.read_only)} == {"record_add"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("note_write", "256 KB"),
        ("note_write", "10,000 files"),
        ("memory_write", "256 KB"),
        ("script_write", "256 KB"),
        ("record_add", "10,000 records"),
        ("record_add", "32 KB"),
        ("record_add", "FORBIDDEN"),
        ("record_update", "CONFLICT"),
        ("note_find", "not fuzzy"),
        ("record_list", "hint"),
    ],
)
def test_limits_and_refusals_are_told_beforehand(name: str, text: str) -> None:
    assert text in TOOLS[name].description


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_whatever_is_sent_is_read_or_refused(data: st.DataObject) -> None:
    tool = TOOLS[data.draw(st.sampled_from(sorted(TOOLS)))]
    names = st.sampled_from([*tool.arguments, "other"])
    sent: dict[str, Any] = data.draw(st.dictionaries(names, VALUES, max_size=6))
    values: dict[str, Any] | None = None
    problems = []
    try:
        values = arguments.read(tool.name, tool.heading, tool.arguments, sent)
    except Unprocessable as error:
        problems = error.message.split("\n- ")
    if values is None:
        assert problems[0] == tool.heading
        assert len(problems) > 1
        return
    assert "other" not in sent
    assert values.keys() == {name for name, value in sent.items() if value is not None}
    assert {name for name, argument in tool.arguments.items() if argument.required} <= values.keys()
