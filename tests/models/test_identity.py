import json
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.columns import ColumnDef
from models.identity import digest, identity, indexed_fault, search_blob
from models.kinds import ColumnType
from models.numbers import decimal_text

TEXT = (ColumnDef("key", ColumnType.TEXT, "d", unique=True),)
NUMBER = (ColumnDef("key", ColumnType.NUMBER, "d", unique=True),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("  CAFE\u0301@X.org ", "caf\u00e9@x.org"),
        ("\u2003A\u00a0", "a"),
        ("STRASSE", "strasse"),
        ("Straße", "straße"),
        (" \t\n", None),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_text_is_composed_trimmed_and_lower_case(value: Any, expected: str | None) -> None:
    assert identity(TEXT, {"key": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1000000000000000000000"),
        (1e-7, "0.0000001"),
        (-2.50, "-2.5"),
        (2**53 + 1, "9007199254740993"),
        ("1", None),
        (True, None),
    ],
)
def test_a_number_is_its_decimal_value(value: Any, expected: str | None) -> None:
    assert identity(NUMBER, {"key": value}) == expected


def test_without_a_unique_column_or_value_there_is_none() -> None:
    assert identity((ColumnDef("key", ColumnType.TEXT, "d"),), {"key": "a"}) is None
    assert identity(TEXT, {}) is None
    assert digest(None) is None


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**40), 10**40))
def test_decimal_texts_are_exact_and_survive_storing(value: float) -> None:
    text = decimal_text(value)
    assert Decimal(text) == Decimal(repr(value))
    assert decimal_text(json.loads(text)) == text


@given(st.text())
def test_forms_of_one_text_share_an_identity(value: str) -> None:
    forms = [f" {value}\u2003", unicodedata.normalize("NFD", value), unicodedata.normalize("NFC", value)]
    assert len({identity(TEXT, {"key": form}) for form in forms}) == 1


def test_the_searched_text_is_every_value_in_the_order_of_the_columns() -> None:
    columns = [ColumnDef(name, ColumnType.TEXT, "d") for name in ("b", "a", "c", "d", "e")]
    body = {"a": "cafe\u0301", "b": True, "c": [" x", "y"], "d": 1.50, "key": "left out"}
    assert search_blob(columns, body) == "true\x1fcaf\u00e9\x1f x\x1fy\x1f1.5"


def test_the_cap_counts_bytes_of_utf_8() -> None:
    assert indexed_fault("é" * 16 * 1024) is None
    assert indexed_fault("é" * 16 * 1024 + "x") == (
        "the values of the record are 32,769 bytes of text; the limit is 32 KB (32,768 bytes of UTF-8)"
    )
