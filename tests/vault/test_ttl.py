from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.config import VaultConfig
from vault.times import parse_time, to_text
from vault.ttl import effective_expiry, expiry_of, is_expired, parse_duration

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = VaultConfig()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7d", 604_800),
        ("48h", 172_800),
        ("30m", 1_800),
        ("5s", 5),
        ("1.5 Days", 129_600),
        (".5h", 1_800),
        ("2 HOURS", 7_200),
        ("10min", 600),
        ("10 mins", 600),
        ("3 minutes", 180),
        ("1 sec", 1),
        ("1 hour", 3_600),
        ("1 second", 1),
        ("7", 604_800),
        (7, 604_800),
        (0.5, 43_200),
    ],
)
def test_durations(text: Any, seconds: Any) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "d", "7w", "-1d", "1d2h", "7 d x", "1,5d", "soon", True, None, [7], "1e3d", "٣d"])
def test_no_durations(text: Any) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["soon", "", "2026-13-01", "9999999999d", True])
def test_a_ttl_that_means_nothing_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="Invalid ttl duration or date"):
        expiry_of(text, CREATED)


def test_a_date_lasts_to_its_end() -> None:
    assert to_text(expiry_of("2026-03-01", CREATED)) == "2026-03-01T23:59:59.999Z"
    assert to_text(expiry_of("2026-03-01T10:00:00Z", CREATED)) == "2026-03-01T10:00:00.000Z"


@given(st.decimals(min_value=0, max_value=10_000, places=2), st.sampled_from("dhms"), st.sampled_from(["", " "]), st.booleans())
def test_a_number_and_a_unit_are_that_many_of_it(number: Any, unit: Any, space: Any, upper: Any) -> None:
    seconds = float(number) * {"d": 86_400, "h": 3_600, "m": 60, "s": 1}[unit]
    text = f"{number}{space}{unit.upper() if upper else unit}"
    assert expiry_of(text, CREATED) == CREATED + timedelta(seconds=seconds)


@given(st.text(max_size=20))
def test_no_text_breaks_the_parser(text: Any) -> None:
    outcome = None
    try:
        outcome = expiry_of(text, CREATED).tzinfo
    except ValueError as error:
        outcome = str(error)
    assert outcome in (UTC, "Invalid ttl duration or date")


def test_what_counts_for_expiry_in_order() -> None:
    base = {"created": "2026-01-01T00:00:00.000Z"}
    assert effective_expiry(base, "trap", CONFIG) is None
    assert effective_expiry(base, "scratch", CONFIG) == CREATED + timedelta(days=7)
    assert effective_expiry(base, "review", CONFIG) == CREATED + timedelta(days=14)
    assert effective_expiry(base, "review", VaultConfig(review_days=1.5)) == CREATED + timedelta(days=1.5)
    assert effective_expiry(base | {"ttl": "1h"}, "scratch", CONFIG) == CREATED + timedelta(hours=1)
    assert effective_expiry(base | {"ttl": "1h", "expires_at": "2026-05-01"}, "scratch", CONFIG) == parse_time("2026-05-01T23:59:59.999Z")
    assert effective_expiry(base | {"ttl": "rubbish"}, "scratch", CONFIG) == CREATED + timedelta(days=7)


def test_a_record_is_over_at_the_moment_of_expiry() -> None:
    data = {"created": "2026-01-01T00:00:00.000Z", "ttl": "1d"}
    end = CREATED + timedelta(days=1)
    assert is_expired(data, "trap", CONFIG, end - timedelta(milliseconds=1)) is False
    assert is_expired(data, "trap", CONFIG, end) is True


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))  # noqa: DTZ001  hypothesis adds the zone itself
def test_times_round_trip_to_the_millisecond(moment: Any) -> None:
    assert parse_time(to_text(moment)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00.000Z"),
        ("2026-01-02t03:04:05+0230", "2026-01-02T00:34:05.000Z"),
        ("2026-01-02T03:04:05-01", "2026-01-02T04:04:05.000Z"),
        ("2026-1-2", None),
        ("2026-01-02T25:00:00Z", None),
        ("20260102", None),
    ],
)
def test_times(text: Any, result: Any) -> None:
    moment = parse_time(text)
    assert (None if moment is None else to_text(moment)) == result
