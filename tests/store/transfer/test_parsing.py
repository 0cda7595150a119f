import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from models import columns as dialect
from models.errors import Unprocessable
from store.transfer import Format, ParsedRow, Reading, format_of, parse
from store.transfer.fields import column_name
from store.transfer.source import NOT_TEXT, ROW_CHARACTERS, UTF_16
from tests.store.tables import column

COLUMNS = dialect.parse(
    [
        column("email", required=True),
        column("score", "number"),
        column("active", "boolean"),
        column("due", "datetime"),
        column("tags", "array"),
    ]
)


def rows(text: str | bytes, kind: Format, columns: Sequence[dialect.ColumnDef] = COLUMNS) -> list[ParsedRow]:
    data = text.encode() if isinstance(text, str) else text
    return list(parse(re.findall(rb"[^\n]*\n|[^\n]+", data), kind, columns))


def problems(text: str | bytes, kind: Format) -> list[tuple[int, str | None, str]]:
    return [(row.line, problem.column, problem.message) for row in rows(text, kind) for problem in row.problems]


def csv(text: str) -> list[tuple[int, dict[str, Any]]]:
    found = rows(text, Format.CSV)
    assert [row.problems for row in found] == [()] * len(found)
    return [(row.line, row.body) for row in found]


def test_csv_cells_become_values_of_their_columns() -> None:
    text = 'email,score,active,due,tags\na@x,42,TRUE,2026-01-01T00:00:00Z,"[""a"", ""b""]"\n'
    body = {"email": "a@x", "score": 42, "active": True, "due": "2026-01-01T00:00:00Z", "tags": ["a", "b"]}
    assert csv(text) == [(2, body)]


def test_an_empty_cell_is_missing_and_a_quoted_one_is_an_empty_text() -> None:
    assert csv('email,score\n"",\nb@x,1\nc,""\n') == [(2, {"email": ""}), (3, {"email": "b@x", "score": 1}), (4, {"email": "c"})]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("9007199254740993", 9007199254740993),
        ("-1.50", -1.5),
        (" 1e3 ", 1000.0),
        ("007", "007"),
        ("1.", "1."),
        ("NaN", "NaN"),
        ("+1", "+1"),
        ('"1,5"', "1,5"),
        ("9" * 5000, "9" * 5000),
        ("12345678901234567.89", "12345678901234567.89"),
        ("9007199254740993.0", 9007199254740993),
    ],
)
def test_what_is_no_number_stays_text_for_the_column_to_refuse(cell: str, value: Any) -> None:
    assert csv(f"email,score\na,{cell}\n") == [(2, {"email": "a", "score": value})]


@pytest.mark.parametrize(("cell", "value"), [("[]", []), ('["a"', '["a"'), ("a; b", "a; b"), ("yes", "yes")])
def test_what_is_no_list_stays_text(cell: str, value: Any) -> None:
    assert csv(f"email,tags\na,{cell}\n") == [(2, {"email": "a", "tags": value})]


def test_headers_match_by_spelling_too_and_the_stores_own_facts_are_passed_over() -> None:
    columns = dialect.parse([column("e_mail"), column("signed_up_at")])
    found = rows("id;E-Mail;Created_At;signedUpAt\n7;a@x;yesterday;2026\n", Format.CSV, columns)
    assert found == [ParsedRow(2, {"e_mail": "a@x", "signed_up_at": "2026"})]


def test_a_mark_at_the_beginning_blank_lines_and_windows_endings() -> None:
    data = b"\xef\xbb\xbfemail,score\r\na,1\r\n\r\nb,2\r\n"
    found = list(parse(data.splitlines(keepends=True), Format.CSV, COLUMNS))
    assert [(row.line, row.body) for row in found if not row.empty] == [(2, {"email": "a", "score": 1}), (4, {"email": "b", "score": 2})]


def test_lines_are_counted_where_rows_begin() -> None:
    assert csv('email\n"a\nb"\nc\n') == [(2, {"email": "a\nb"}), (4, {"email": "c"})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("email,colour\na,red\n", [(1, "colour", "unknown column; declared columns are active, due, email, score, tags")]),
        ("score\n1\n", [(1, "email", "required; missing in the header")]),
        ("email,email\na,b\n", [(1, "email", "occurs twice in the header")]),
        ("email,Email\na,b\n", [(1, "Email", "names the same column as 'email'")]),
        ("email,,score\na,b,1\n", [(1, None, "column 2 has no name")]),
        ("email," + ",".join(f"c{n}" for n in range(1_000)) + "\n", [(1, None, "has 1,001 fields; a collection has at most 64 columns")]),
        ("email,score\na\nb,1\n", [(2, None, "has 1 values, but the header names 2 columns")]),
        ('email\n"a"b\n', [(2, None, "text follows the closing quote of value 1; a quote within quotes is written twice")]),
        ('email\na\n"b\nc\n', [(3, None, "begins a quoted value that does not end; the closing quote is missing")]),
        (b"email\nb\xff\n", [(2, None, NOT_TEXT)]),
        (b"\xff\xfee\x00", [(1, None, UTF_16)]),
    ],
)
def test_what_is_wrong_with_a_csv_is_told_by_line(text: str | bytes, expected: list[Any]) -> None:
    assert problems(text, Format.CSV) == expected


def test_a_quote_that_is_never_closed_does_not_take_in_the_whole_file() -> None:
    lines = (b"email\n", b'"a\n', *[b"b" * 1000 + b"\n"] * (ROW_CHARACTERS // 1000 + 5), b'c"\n')
    [row] = parse(iter(lines), Format.CSV, COLUMNS)
    assert row.line == 2
    assert row.problems[0].message.endswith("is a closing quote missing?")


def test_an_empty_csv_is_refused() -> None:
    with pytest.raises(Unprocessable, match="the file is empty"):
        rows("\n\n", Format.CSV)


def test_json_lines() -> None:
    found = rows('{"email": "a", "score": 1}\n\n  \n{"Email": null, "id": 7}\n{"x": 1}', Format.JSONL)
    assert found == [ParsedRow(1, {"email": "a", "score": 1}), ParsedRow(4, {"email": None}), ParsedRow(5, {"x": 1})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{]", [(1, None, "is not JSON: expecting property name enclosed in double quotes at character 2")]),
        ("1", [(1, None, "must be an object of columns and values; got 1")]),
        ("[1]", [(1, None, "must be an object of columns and values; got 1")]),
        ("[\n{}", [(2, None, "is not JSON: the list is not closed; the import stops there")]),
        ("[\n{},\n{]\n", [(3, None, "is not JSON: expecting property name enclosed in double quotes; the import stops there")]),
        ('{"a": 1, "a": 2}', [(1, "a", "occurs twice in the object")]),
        ('{"score": {"x": 1}}', [(1, "score", "holds an object, and no column does; give its values fields of their own")]),
        (json.dumps(dict.fromkeys(map(str, range(65)))), [(1, None, "has 65 fields; a collection has at most 64 columns")]),
        ('{"email": 1, "Email": 2}', [(1, "Email", "names the column email, which another field of the object names too")]),
        (b'{}\n{"email": "\xff"}', [(2, None, NOT_TEXT)]),
        ('{"score": ' + "9" * 5000 + "}", [(1, None, "holds a number or a nesting too long to read")]),
        ("[" * 200_000, [(1, None, "holds a number or a nesting too long to read")]),
    ],
)
def test_what_is_wrong_with_json_lines_is_told_by_line(text: str | bytes, expected: list[Any]) -> None:
    assert problems(text, Format.JSONL) == expected


@pytest.mark.parametrize(
    ("name", "kind"), [("a.csv", Format.CSV), ("a.TSV", Format.CSV), ("a.jsonl", Format.JSONL), ("a.json", Format.JSONL), ("a.txt", None)]
)
def test_the_format_is_told_by_the_name(name: str, kind: Format | None) -> None:
    assert format_of(name) is kind


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("Miles_per_Gallon", "miles_per_gallon"),
        ("signedUpAt", "signed_up_at"),
        ("Straße (Nr.)", "strasse_nr"),
        ("Größe", "grosse"),
        ("2024", "column_2024"),
        ("日本", None),
        ("Имя 2", None),
        ("id", "source_id"),
        ("Updated At", "source_updated_at"),
        ("x" * 80, "x" * 64),
    ],
)
def test_a_field_spelled_as_a_column(field: str, name: str | None) -> None:
    assert column_name(field) == name


@pytest.mark.parametrize("text", ['[{"email": "a"}, {"email": "b"}]', '\n[\n {\n  "email": "a"\n },\n {"email": "b"}\n]\n', "[]", "[ ]\n"])
def test_a_json_list_is_read_as_rows(text: str) -> None:
    expected = ["a", "b"] if "email" in text else []
    found = rows(text, Format.JSONL)
    assert [row.body.get("email") for row in found] == expected
    assert [row.problems for row in found] == [()] * len(expected)


def test_a_long_json_list_is_read_a_row_at_a_time() -> None:
    data = json.dumps([{"email": f"{n}@x", "score": n} for n in range(40_000)], indent=1).encode()
    assert len(data) > ROW_CHARACTERS
    found = list(parse(data.splitlines(keepends=True), Format.JSONL, COLUMNS))
    assert [row.body["score"] for row in found] == list(range(40_000))
    assert (found[1].line, found[-1].line) == (6, 2 + 4 * 39_999)


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nemail;score\na;1\n",
        "email,score\ra,1\r",
        "email\tscore\na\t1\n",
        "email|score\na|1\n",
        "email,score,,\na,1,,\n,,,\n",
        "email,score\r\na,1\r\n,\r\n",
    ],
)
def test_what_programs_write_is_understood(text: str) -> None:
    found = [row for row in rows(text, Format.CSV) if not row.empty]
    assert [(row.body, row.problems) for row in found] == [({"email": "a", "score": 1}, ())]


def test_na_is_no_number_and_no_time_and_more_can_be_named() -> None:
    text = "email,score,due,active\nNA,NA,N/A,\n-,-,2026-01-01T00:00:00Z,-\n"
    read = list(parse(text.encode().splitlines(keepends=True), Format.CSV, COLUMNS, Reading(missing=frozenset({"-"}))))
    assert [row.body for row in read] == [{"email": "NA"}, {"email": "-", "due": "2026-01-01T00:00:00Z"}]


def test_a_field_goes_to_the_column_that_keeps_it_and_never_by_a_spelling_that_loses_letters() -> None:
    columns = dialect.parse(
        [{**column("price"), "description": "Price ($)"}, {**column("price_2"), "description": "Price (€)"}, column("grosse")]
    )
    [row] = rows("Price (€),Price ($)\n1,2\n", Format.CSV, columns)
    assert row.body == {"price": "2", "price_2": "1"}
    [refused] = rows("Größe\n1\n", Format.CSV, columns)
    assert [(problem.column, problem.message[:14]) for problem in refused.problems] == [("Größe", "unknown column")]
    mapped = Reading({"Größe": "grosse"})
    assert [row.body for row in parse([b"Gr\xc3\xb6\xc3\x9fe\n", b"1\n"], Format.CSV, columns, mapped)] == [{"grosse": "1"}]


@pytest.mark.parametrize("kind", list(Format))
def test_an_export_with_facts_never_fills_a_column_with_them(kind: Format) -> None:
    columns = dialect.parse([{**column("source_id"), "description": "id"}])
    facts = {"id": "7", "created_at": "x", "updated_at": "x", "created_by": "x", "updated_by": "x", "source_id": "mine"}
    exported = ",".join(facts) + "\n" + ",".join(facts.values()) + "\n" if kind is Format.CSV else json.dumps(facts) + "\n"
    assert [row.body for row in rows(exported, kind, columns)] == [{"source_id": "mine"}]
    foreign = "id\n7\n" if kind is Format.CSV else '{"id": "7"}\n'
    assert [row.body for row in rows(foreign, kind, columns)] == [{"source_id": "7"}]
