"""JSON numbers as exact decimals, since 1, 1.0 and 1e0 are one value, and integers beyond 2^53 are kept."""

import math
import sys
from decimal import Decimal

_LARGEST = int(sys.float_info.max)


# What PostgreSQL's integer holds.
_LARGEST_VERSION = 2**31 - 1


def is_number(value: object) -> bool:
    """Whether this is a JSON number as Python reads one; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: float) -> bool:
    """Whether the number lies within what a double can hold, about 1.8e308 either way: other readers make more of it infinite."""
    return -_LARGEST <= value <= _LARGEST if isinstance(value, int) else math.isfinite(value)


def decimal_text(value: float) -> str:
    """The finite number as a plain decimal, without exponent, trailing zeros or a negative zero."""
    if isinstance(value, int):
        return str(value)
    # The shortest decimal that reads back as this double is the one that the sender wrote.
    text = format(Decimal(repr(value)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def version_fault(expected: int | None) -> str | None:
    """Why this cannot be the version that a write expects, or None."""
    if expected is None or 0 <= expected <= _LARGEST_VERSION:
        return None
    return f"must be a version, or 0 for none; got {expected}"
