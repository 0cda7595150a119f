import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import datetimes, values
from models.columns import ColumnDef
from models.errors import Problem
from models.json_text import canonical, shown, to_json
from models.kinds import ColumnType

EMAIL = ColumnDef("email", ColumnType.TEXT, "d", unique=True)
STATUS = ColumnDef("status", ColumnType.TEXT, "d", values=("new", "contacted", "won", "lost"))
SCORE = ColumnDef("score", ColumnType.NUMBER, "d")
SIGNED = ColumnDef("signed_up_at", ColumnType.DATETIME, "d")
LEADS = (EMAIL, STATUS, SCORE, SIGNED)


def faults(kind: str, value: Any, *, listed: tuple[str, ...] | None = None) -> list[str]:
    return list(values.faults(ColumnDef("c", ColumnType(kind.upper()), "d", values=listed), value))


def test_the_message_of_a_rejected_record() -> None:
    _, problems = values.checked_body(LEADS, {"status": "pending", "score": "42", "notes": "x"})
    assert values.rejected(problems).message == (
        "record rejected\n"
        '- column "status": expected one of new, contacted, won, lost; got "pending"\n'
        '- column "score": expected number; got "42"\n'
        '- column "notes": unknown column; declared columns are email, status, score, signed_up_at'
    )


def test_missing_columns_come_after_what_was_sent() -> None:
    required = (ColumnDef("a", ColumnType.TEXT, "d", required=True), ColumnDef("b", ColumnType.TEXT, "d", required=True), SCORE)
    _, problems = values.checked_body(required, {"x\x00": 1, "score": "1", "b": None})
    assert [(problem.column, problem.message) for problem in problems] == [
        ("x\N{SYMBOL FOR NULL}", "unknown column; declared columns are a, b, score"),
        ("score", 'expected number; got "1"'),
        ("b", "required; got null"),
        ("a", "required; missing"),
    ]


def test_no_more_unknown_columns_are_told_one_by_one_than_a_table_could_have() -> None:
    _, problems = values.checked_patch((SCORE,), {"x" * 100 + str(n): 1 for n in range(1_000)} | {"score": "1"})
    assert [(problem.column, problem.message) for problem in problems] == [
        *[("x" * 80, "unknown column; declared columns are score")] * 64,
        ("score", 'expected number; got "1"'),
        (None, "936 more unknown columns"),
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", ""),
        ("text", "x" * 40_000),
        ("number", 0),
        ("number", -1.5),
        ("number", 2**80),
        ("number", 1.7976931348623157e308),
        ("boolean", True),
        ("boolean", False),
        ("array", []),
        ("array", ["a", "A", " "]),
        ("array", [f"{n}" for n in range(50)]),
        ("array", ["x" * 200]),
    ],
)
def test_accepted_as_it_came(kind: str, value: Any) -> None:
    column = ColumnDef("c", ColumnType(kind.upper()), "d")
    assert values.checked_body((column,), {"c": value}) == ({"c": value}, [])


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("text", 1, "expected text; got 1"),
        ("text", ["a"], 'expected text; got ["a"]'),
        ("text", "a\x00", "contains a NUL character"),
        ("text", "\udc00", "contains a lone surrogate, which is not text"),
        ("number", "42", 'expected number; got "42"'),
        ("number", True, "expected number; got true"),
        ("number", math.nan, "expected a finite number (within ±1.8e308); got NaN"),
        ("number", math.inf, "expected a finite number (within ±1.8e308); got Infinity"),
        ("number", -(10**309), f"expected a finite number (within ±1.8e308); got -1{'0' * 77}…"),
        ("boolean", 1, "expected boolean (true or false); got 1"),
        ("boolean", "true", 'expected boolean (true or false); got "true"'),
        ("datetime", 5, "expected datetime (ISO 8601 text with a timezone, like 2026-11-30T08:00:00Z); got 5"),
        ("array", "a", 'expected array (a list of distinct texts); got "a"'),
        ("array", {"a": 1}, 'expected array (a list of distinct texts); got {"a": 1}'),
        ("array", ["a", "a"], 'expected distinct items; "a" is repeated'),
        ("array", [""], 'expected non-empty items; item 1 is ""'),
        ("array", ["a", 5], "expected text items; item 2 is 5"),
        ("array", [f"{n}" for n in range(51)], "expected at most 50 items; got 51"),
        ("array", ["x" * 201], f'expected items of at most 200 characters, not 201; item 1 is "{"x" * 78}…'),
        ("array", ["\x00"], 'an item contains a NUL character; item 1 is "\\u0000"'),
    ],
)
def test_refused_with_its_reason(kind: str, value: Any, reason: str) -> None:
    assert faults(kind, value) == [reason]


def test_every_fault_of_an_array_is_told() -> None:
    assert faults("array", ["a", "b", 5, "a"], listed=("a",)) == [
        'expected items out of a; item 2 is "b"',
        "expected text items; item 3 is 5",
        'expected distinct items; "a" is repeated',
    ]


@pytest.mark.parametrize("value", ["NEW", "new ", 5, "", ["new"]])
def test_listed_values_are_exact(value: Any) -> None:
    assert faults("text", value, listed=("new", "won")) == [f"expected one of new, won; got {json.dumps(value)}"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00Z"),
        ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00Z"),
        ("2026-11-30t08:00:00z", "2026-11-30T08:00:00Z"),
        ("2026-11-30 08:00:00.5-00:00", "2026-11-30T08:00:00.500000Z"),
        ("2026-11-30T08:00:00.0000Z", "2026-11-30T08:00:00Z"),
        ("2026-11-30T08:00:00.1234567Z", "2026-11-30T08:00:00.123456Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("2024-02-29T23:30:00-01:30", "2024-03-01T01:00:00Z"),
    ],
)
def test_datetimes_are_stored_in_utc(sent: str, stored: str) -> None:
    assert values.checked_body((SIGNED,), {"signed_up_at": sent}) == ({"signed_up_at": stored}, [])
    assert datetimes.normalised(stored) == stored


FORM = "expected an ISO 8601 datetime with a timezone, like 2026-11-30T08:00:00Z"
CALENDAR = "expected a date and time that exist in the calendar"
YEARS = "expected a datetime within the years 1 to 9999 of UTC"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("2026-11-30T10:00:00", "expected a datetime with a timezone (Z or an offset), like 2026-11-30T08:00:00Z"),
        ("2026-02-30T00:00:00Z", CALENDAR),
        ("2026-01-01T24:00:00Z", CALENDAR),
        ("2026-01-01T10:00:60Z", CALENDAR),
        ("0000-01-01T00:00:00Z", CALENDAR),
        ("0001-01-01T00:00:00+01:00", YEARS),
        ("9999-12-31T23:59:59-00:01", YEARS),
        ("2026-11-30", FORM),
        ("2026-11-30T10:00+02:00", FORM),
        ("2026-11-30T10:00:00+24:00", FORM),
        ("2026-11-30T10:00:00Z\n", FORM),
        ("\uff12026-11-30T10:00:00Z", FORM),
        ("tomorrow", FORM),
        ("", FORM),
    ],
)
def test_what_is_no_datetime(sent: str, reason: str) -> None:
    assert faults("datetime", sent) == [f"{reason}; got {json.dumps(sent, ensure_ascii=False)}"]


@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),  # noqa: DTZ001  # the zone is drawn apart
    st.integers(-23 * 60, 23 * 60),
)
def test_any_moment_keeps_its_time(moment: datetime, minutes: int) -> None:
    sent = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    stored = datetimes.normalised(sent.isoformat())
    assert stored.endswith("Z")
    assert datetime.fromisoformat(stored) == sent
    assert stored == datetimes.stored(sent.astimezone(UTC))


def test_a_patch_clears_by_null_and_keeps_the_rest() -> None:
    patch, problems = values.checked_patch(LEADS, {"score": None, "email": "a"})
    assert (patch, problems) == ({"score": None, "email": "a"}, [])
    assert values.merged({"score": 1, "status": "new"}, patch) == {"status": "new", "email": "a"}


def test_warnings_leave_out_what_was_just_written() -> None:
    columns = (ColumnDef("a", ColumnType.TEXT, "d", required=True), SCORE, STATUS, EMAIL)
    body = {"score": "1", "status": "old", "email": 5}
    assert values.warnings(columns, body, {"email": 5}) == [
        Problem("a", "required; missing"),
        Problem("score", 'expected number; got "1"'),
        Problem("status", 'expected one of new, contacted, won, lost; got "old"'),
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from([column.name for column in LEADS]) | st.text(max_size=5), JSON_VALUES) | JSON_VALUES)
def test_any_body_is_stored_exactly_or_refused_printably(body: Any) -> None:
    checked, problems = values.checked_body(LEADS, body)
    assert json.loads(to_json(checked)) == checked
    if not problems:
        assert checked.keys() == body.keys()
        assert values.checked_body(LEADS, checked) == (checked, [])
    values.rejected(problems).message.encode()


def test_what_is_shown_is_short() -> None:
    assert shown("x" * 100) == '"' + "x" * 78 + "…"
    assert len(shown("x" * 100)) == 80
    assert shown(10**5000) == "a value that cannot be shown"
    assert shown("é\udc00") == '"é?"'


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1.0]}, {"b": [1], "a": 1e0}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        (2**53, 2**53 + 1, False),
        (-0.0, 0, True),
    ],
)
def test_json_values_compare_as_values(one: Any, other: Any, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same


@pytest.mark.parametrize("time", ["24:00:00", "24:00:00.000000", "23:59:60", "23:60:00"])
def test_a_time_that_no_day_has_is_refused(time: str) -> None:
    with pytest.raises(ValueError, match=CALENDAR):
        datetimes.normalised(f"2026-12-31T{time}Z")
