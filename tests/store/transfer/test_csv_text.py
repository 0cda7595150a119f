import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.transfer.csv_text import CsvFault, Splitter, delimiter_of, written


def split(text: str, delimiter: str = ",") -> list[list[str | None]]:
    splitter = Splitter(delimiter)
    rows = [splitter.feed(line) for line in re.findall(r"[^\n]*\n|[^\n]+", text)]
    assert not splitter.within
    return [row for row in rows if row is not None]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a,b,c\n", ["a", "b", "c"]),
        ("a,b\r\n", ["a", "b"]),
        ("a", ["a"]),
        ("\n", [None]),
        (",\n", [None, None]),
        ('"",\n', ["", None]),
        ('"a,b","say ""hi"""\n', ["a,b", 'say "hi"']),
        (' a , "b" \n', [" a ", ' "b" ']),
        ('5" nail,x\n', ['5" nail', "x"]),
        ('"a\nb",c\n', ["a\nb", "c"]),
        ('"a\r\nb"\r\n', ["a\r\nb"]),
        ('"""",""""""\n', ['"', '""']),
    ],
)
def test_a_row(text: str, cells: list[str | None]) -> None:
    assert split(text) == [cells]


def test_text_after_a_closing_quote_is_a_fault_and_the_next_row_is_read() -> None:
    splitter = Splitter(",")
    with pytest.raises(CsvFault, match="text follows the closing quote of value 3"):
        splitter.feed('x,y,"a"b,c\n')
    assert splitter.feed("d,e\n") == ["d", "e"]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b", ","),
        ("a;b;c", ";"),
        ("a\tb", "\t"),
        ("name", ","),
        ('"a;b;c",d', ","),
        ("a;b,c", ","),
        ("a|b", "|"),
        ("a,b;c\n1;2\n3;4", ";"),
    ],
)
def test_the_delimiter_is_what_the_header_uses_most(header: str, delimiter: str) -> None:
    assert delimiter_of(header.splitlines()) == delimiter


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
CELL = st.none() | TEXT | st.sampled_from(["", '"', ","])


@given(st.lists(CELL, min_size=1, max_size=6))
def test_what_is_written_is_read_back(cells: list[str | None]) -> None:
    splitter, lines = Splitter(","), written(cells).encode().split(b"\n")[:-1]
    rows = [splitter.feed(line.decode() + "\n") for line in lines]
    assert rows[-1] == cells
    assert set(map(type, rows[:-1])) <= {type(None)}


def test_for_a_spreadsheet_texts_that_it_would_run_are_marked() -> None:
    cells: list[str | None] = ["=1+1", "+x", "-5", "-x", "@a", "\tb", "a=b", None, ""]
    assert written(cells, for_spreadsheet=True) == "'=1+1,'+x,-5,'-x,'@a,\"'\tb\",a=b,,\"\"\n"
    assert written(cells) == '=1+1,+x,-5,-x,@a,"\tb",a=b,,""\n'
