from typing import Any

import pytest

from models.errors import Unprocessable
from store.transfer import Format, Inference, Reading, infer


def of(text: str, kind: Format = Format.CSV, **reading: Any) -> Inference:
    return infer(text.encode().splitlines(keepends=True), kind, Reading(**reading))


def inferred(text: str, kind: Format = Format.CSV) -> dict[str, tuple[str, bool, bool]]:
    return {column["name"]: (column["type"], column["required"], column["unique"]) for column in of(text, kind).columns}


def test_types_of_csv_cells() -> None:
    text = (
        "n,b,t,a,z,mixed,empty,hex,version,dec\n1,true,2026-01-01T00:00:00Z,[],007,1,,12E4,1.10,12345678901234567.89\n"
        '-2.5,FALSE,2026-01-01T00:00:00+01:00,"[""x""]",008,x,,12E5,1.20,1.5\n'
    )
    assert inferred(text) == {
        "n": ("number", True, False),
        "b": ("boolean", True, False),
        "t": ("datetime", True, False),
        "a": ("array", True, False),
        "z": ("text", True, False),
        "mixed": ("text", True, False),
        "empty": ("text", False, False),
        "hex": ("text", True, False),
        "version": ("text", True, False),
        "dec": ("text", True, False),
    }
    notes = of(text).notes
    assert notes["version"] == 'text, since "1.10" in line 2, "1.20" in line 3 would lose digits or its form as a number'
    assert set(notes) == {"hex", "version", "dec"}


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


def many(header: str, row: str, count: int = 20) -> str:
    return header + "\n" + "".join(row.format(n=n) + "\n" for n in range(count))


@pytest.mark.parametrize(
    ("text", "unique", "proposed"),
    [
        (many("name,email", "N{n},a{n}@x"), "email", None),
        (many("title,customer_id", "A{n},{n}"), "customer_id", None),
        (many("first_name,size", "A{n},1"), None, "first_name"),
        (many("name,email", "N{n},a{n}@x", 19), None, "email"),
        (many("size,city", "1,A{n}"), None, None),
        (many("email,n", "same@x,{n}"), None, None),
        ("email\nA@x\n", None, None),
        ("weight,n\n1.5,1\n2.5,1\n", None, None),
    ],
)
def test_a_unique_column_is_taken_only_if_it_is_sure_and_else_proposed(text: str, unique: str | None, proposed: str | None) -> None:
    found = of(text)
    assert [column["name"] for column in found.columns if column["unique"]] == ([] if unique is None else [unique])
    assert found.proposed == proposed


def test_a_description_keeps_the_header() -> None:
    found = of('Miles per Gallon,Tags\n18,"[""a""]"\n')
    assert found.columns[0] == {
        "name": "miles_per_gallon",
        "type": "number",
        "description": "Miles per Gallon",
        "required": True,
        "unique": False,
        "values": None,
    }
    assert found.rows == 1


def test_headers_of_other_scripts_are_numbered_and_equal_spellings_are_told_apart() -> None:
    found = of("Имя,Возраст,Price ($),Price (€),{long} one,{long} two\n".format(long="question " * 10) + "a,1,2,3,4,5\n")
    names = [column["name"] for column in found.columns]
    assert names[:4] == ["column_1", "column_2", "price", "price_2"]
    assert names[4] == ("question_" * 7)[:64].rstrip("_") + "_q"[: 64 - 62] or len(names[4]) <= 64
    assert names[5] == f"{names[4][:62]}_2"
    assert [column["description"] for column in found.columns[:3]] == ["Имя", "Возраст", "Price ($)"]


def test_values_that_do_not_fit_most_others_are_told_by_their_lines() -> None:
    text = "score,when,what\n1,2026-01-01T00:00:00Z,a\nn/a,2026-01-01T00:00:00Z,b\n3,soon,\n4,NA,d\n"
    found = of(text)
    assert [column["type"] for column in found.columns] == ["text", "text", "text"]
    assert found.notes == {
        "score": 'text, since 1 of 4 values fit no number: "n/a" in line 3',
        "when": 'text, since 1 of 3 values fit no datetime: "soon" in line 4',
    }
    assert [column["type"] for column in of(text, missing=frozenset({"n/a", "soon"})).columns] == ["number", "datetime", "text"]


def test_few_values_become_the_listed_ones() -> None:
    rows = "".join(f"{('new', 'won')[n % 2]},{n}\n" for n in range(20))
    assert [column["values"] for column in of("status,n\n" + rows).columns] == [["new", "won"], None]
    assert [column["values"] for column in of("status,n\nnew,1\nwon,2\n").columns] == [None, None]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", Format.CSV, "the file is empty"),
        ("", Format.JSONL, "holds no rows"),
        ("a,a\n", Format.CSV, "occurs twice in the header"),
        (",".join(f"c{n}" for n in range(65)) + "\n", Format.CSV, "has 65 fields; a collection has at most 64 columns"),
        ('{"a": {"b": 1}}\n', Format.JSONL, "line 1: holds an object, and no column does"),
    ],
)
def test_what_cannot_be_inferred(text: str, kind: Format, message: str) -> None:
    with pytest.raises(Unprocessable, match=message):
        inferred(text, kind)


def test_long_headers_fit_a_description() -> None:
    assert len(of("x" * 5000 + "\nx\n").columns[0]["description"]) == 200
