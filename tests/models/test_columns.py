import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import columns
from models.columns import ColumnDef
from models.errors import LimitExceeded, Problem, Unprocessable
from models.kinds import ColumnType
from models.limits import COLUMNS_PER_COLLECTION


def column(**parts: Any) -> dict[str, Any]:
    return {"name": "a", "type": "text", "description": "An a.", **parts}


def problems(*definitions: Any) -> list[tuple[str | None, str]]:
    with pytest.raises(Unprocessable) as refused:
        columns.parse(list(definitions))
    return [(problem.column, problem.message) for problem in refused.value.problems]


@pytest.mark.parametrize("kind", ["text", "TEXT", "Text", ColumnType.TEXT])
def test_a_definition_with_its_defaults(kind: str) -> None:
    assert columns.parse([column(type=kind)]) == (ColumnDef("a", ColumnType.TEXT, "An a."),)


def test_what_is_stored_says_everything_in_lower_case_and_comes_back_equal() -> None:
    parsed = columns.parse([column(type="ARRAY", values=["x", "y"], required=True), column(name="b", unique=True, rename_from="c")])
    text = columns.dump(parsed)
    assert json.loads(text) == [
        {"name": "a", "type": "array", "description": "An a.", "required": True, "unique": False, "values": ["x", "y"]},
        {"name": "b", "type": "text", "description": "An a.", "required": False, "unique": True, "values": None},
    ]
    assert columns.load(text) == (parsed[0], ColumnDef("b", ColumnType.TEXT, "An a.", unique=True))


@pytest.mark.parametrize("name", ["", "A", "1a", "_a", "a-b", "a b", "a\n", "é", "a" * 65, None, 5, "a\x00"])
def test_a_name_that_is_none(name: Any) -> None:
    [(_, message)] = problems(column(name=name))
    assert message.startswith("name must match ^[a-z][a-z0-9_]{0,63}$; got ")


@pytest.mark.parametrize("name", ["a", "a" * 64, "a_1", "version", "collection"])
def test_a_name_that_is_one(name: str) -> None:
    assert columns.parse([column(name=name)])[0].name == name


@pytest.mark.parametrize("name", ["id", "created_at", "updated_at", "created_by", "updated_by"])
def test_reserved_names(name: str) -> None:
    assert problems(column(name=name)) == [
        (name, "name is reserved; reserved are created_at, created_by, id, updated_at, updated_by"),
    ]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"type": "json"}, 'type must be one of text, number, boolean, datetime, array; got "json"'),
        ({"type": None}, "type must be one of text, number, boolean, datetime, array; got null"),
        ({"description": " "}, "description is required, since agents read it"),
        ({"description": None}, "description is required, since agents read it"),
        ({"description": "x" * 201}, "description has 201 characters; at most 200 are allowed"),
        ({"description": "a\x00"}, "description contains a NUL character"),
        ({"required": 1}, "required must be true or false; got 1"),
        ({"unique": None}, "unique must be true or false; got null"),
        ({"type": "boolean", "unique": True}, "only a text or number column can be unique; this one is boolean"),
        ({"type": "array", "unique": True}, "only a text or number column can be unique; this one is array"),
        ({"type": "datetime", "unique": True}, "only a text or number column can be unique; this one is datetime"),
        ({"type": "number", "values": ["1"]}, "only a text or array column can list values; this one is number"),
        ({"values": []}, "values must list 1 to 50 texts; got 0"),
        ({"values": [str(n) for n in range(51)]}, "values must list 1 to 50 texts; got 51"),
        ({"values": "new"}, 'values must be a list of texts; got "new"'),
        ({"values": ["a", ""]}, 'values must be non-empty texts; got ""'),
        ({"values": [1]}, "values must be non-empty texts; got 1"),
        ({"values": ["a", "a"]}, 'values must be distinct; "a" is repeated'),
        ({"values": ["x" * 65]}, f'values have at most 64 characters; "{"x" * 65}" has 65'),
        ({"values": ["\ud800"]}, "values contains a lone surrogate, which is not text"),
        ({"rename_from": 5}, "rename_from must be the name of a column; got 5"),
        ({"renamed": "b"}, 'unknown field "renamed"; fields are name, type, description, required, unique, values, rename_from'),
    ],
)
def test_what_a_definition_must_be(parts: dict[str, Any], message: str) -> None:
    assert problems(column(**parts)) == [("a", message)]


@pytest.mark.parametrize("kind", ["text", "number"])
def test_what_can_be_unique(kind: str) -> None:
    assert columns.unique_column(columns.parse([column(name="b"), column(type=kind, unique=True)])) == ColumnDef(
        "a", ColumnType(kind.upper()), "An a.", unique=True
    )


def test_every_problem_is_told_at_once() -> None:
    told = problems(column(type="x", description=""), 5, column(name="b", unique=True), column(name="b", unique=True))
    assert told == [
        ("a", 'type must be one of text, number, boolean, datetime, array; got "x"'),
        ("a", "description is required, since agents read it"),
        (None, "column 2 must be an object; got 5"),
        ("b", "name is used by more than one column"),
        (None, 'at most one column can be unique; got "b", "b"'),
    ]


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ([], "a collection needs at least one column"),
        (None, "columns must be a list of column definitions"),
        ("a", "columns must be a list of column definitions"),
        ({"a": 1}, "columns must be a list of column definitions"),
    ],
)
def test_what_is_no_list_of_columns(definitions: Any, message: str) -> None:
    assert columns.faults(definitions) == [Problem(None, message)]


def test_64_columns_and_no_more() -> None:
    many = [column(name=f"c{n}") for n in range(COLUMNS_PER_COLLECTION)]
    assert len(columns.parse(many)) == 64
    with pytest.raises(LimitExceeded, match="a collection has at most 64 columns; got 65"):
        columns.parse([*many, column(name="one_more")])


ANY = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3))


@given(st.lists(st.dictionaries(st.sampled_from(columns.FIELDS) | st.text(), ANY) | ANY, max_size=4))
def test_anything_is_parsed_or_refused(definitions: list[Any]) -> None:
    found = columns.faults(definitions)
    if not found:
        assert columns.load(columns.dump(columns.parse(definitions)))
    else:
        assert all(problem.message.isprintable() or problem.message for problem in found)
