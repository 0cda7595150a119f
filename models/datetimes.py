"""Datetimes as they are stored: RFC 3339 in UTC, a trailing Z, a fraction of six digits or none."""

import re
from datetime import UTC, datetime

_FORM = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?P<fraction>\.[0-9]+)?"
    r"(?P<zone>[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
)
EXAMPLE = "2026-11-30T08:00:00Z"
_NO_SUCH_TIME = "expected a date and time that exist in the calendar"


def normalised(text: str) -> str:
    """The moment as it is stored. Raises ValueError with what was expected instead."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"expected an ISO 8601 datetime with a timezone, like {EXAMPLE}")
    if found["zone"] is None:
        raise ValueError(f"expected a datetime with a timezone (Z or an offset), like {EXAMPLE}")
    if found["time"][:2] == "24":
        # ISO 8601 has it for the end of a day, RFC 3339 does not, and Python takes it in some of its versions.
        raise ValueError(_NO_SUCH_TIME)
    zone = "+00:00" if found["zone"] in "Zz" else found["zone"]
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{found['time']}{_microseconds(found['fraction'])}{zone}")
        moment = moment.astimezone(UTC)
    except ValueError:
        raise ValueError(_NO_SUCH_TIME) from None
    except OverflowError:
        raise ValueError("expected a datetime within the years 1 to 9999 of UTC") from None
    return stored(moment)


def stored(moment: datetime) -> str:
    """An aware moment as stored text."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _microseconds(fraction: str | None) -> str:
    return f".{fraction[1:7]:0<6}" if fraction else ""
