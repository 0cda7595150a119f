from typing import Any

import pytest

from models.errors import Unprocessable
from store.transfer import Format, infer


def inferred(text: str, kind: Format = Format.CSV) -> dict[str, tuple[str, bool, bool]]:
    found = infer(text.encode().splitlines(keepends=True), kind, source="x.csv")
    return {column["name"]: (column["type"], column["required"], column["unique"]) for column in found.columns}


def test_types_of_csv_cells() -> None:
    text = 'n,b,t,a,z,mixed,empty\n1,true,2026-01-01T00:00:00Z,[],007,1,\n-2.5e3,FALSE,2026-01-01T00:00:00+01:00,"[""x""]",008,x,\n'
    assert inferred(text) == {
        "n": ("number", True, True),
        "b": ("boolean", True, False),
        "t": ("datetime", True, False),
        "a": ("array", True, False),
        "z": ("text", True, False),
        "mixed": ("text", True, False),
        "empty": ("text", False, False),
    }


def test_types_of_json_values() -> None:
    text = '{"n": 1, "b": true, "t": "2026-01-01T00:00:00Z", "a": ["x"], "s": "1"}\n{"n": 1, "b": null, "s": "", "late": 2}\n'
    assert inferred(text, Format.JSONL) == {
        "n": ("number", True, False),
        "b": ("boolean", False, False),
        "t": ("datetime", False, False),
        "a": ("array", False, False),
        "s": ("text", True, False),
        "late": ("number", False, False),
    }


@pytest.mark.parametrize(
    ("text", "unique"),
    [
        ("name,email\nA,a@x\nB,b@x\n", "email"),
        ("title,customer_id\nA,1\nB,2\n", "customer_id"),
        ("city,size\nA,1\nB,2\n", "city"),
        ("size,city\n1,A\n1,B\n", None),
        ("email\nA@x\n a@X\n", None),
        ("email\nA@x\n", None),
        ("email,n\nA@x,1\n,2\nB@x,2\n", None),
        ("weight,n\n1.5,1\n2.5,1\n", None),
    ],
)
def test_the_unique_candidate(text: str, unique: str | None) -> None:
    assert [name for name, (_, _, own) in inferred(text).items() if own] == ([] if unique is None else [unique])


def test_descriptions_are_to_be_edited_and_say_where_the_column_came_from() -> None:
    found = infer([b"Miles per Gallon,Tags\n", b'18,"[""a""]"\n'], Format.CSV, source="cars.csv")
    assert found.columns[0] == {
        "name": "miles_per_gallon",
        "type": "number",
        "description": 'From "Miles per Gallon" of cars.csv, for example 18',
        "required": True,
        "unique": False,
        "values": None,
    }
    assert found.rows == 1


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", Format.CSV, "the file is empty"),
        ("", Format.JSONL, "holds no rows"),
        ("a,a\n", Format.CSV, "stands twice in the header"),
        ("A b,a_b\n1,2\n", Format.CSV, "would be named a_b, as 'A b' would"),
    ],
)
def test_what_cannot_be_inferred(text: str, kind: Format, message: str) -> None:
    with pytest.raises(Unprocessable, match=message):
        inferred(text, kind)


def test_long_values_fit_a_description() -> None:
    found: list[dict[str, Any]] = infer([b"a\n", b"x" * 5000 + b"\n"], Format.CSV, source="y" * 300).columns
    assert len(found[0]["description"]) == 200
