"""JSON values as text: exact for storing, short for messages, canonical for comparing."""

import json
from collections import Counter
from typing import Any

from models.numbers import decimal_text, is_number
from models.text import printable

_SHOWN_CHARACTERS = 80
# Characters; Python reads no more digits: https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
_LONGEST_INTEGER = 4_300


def shown(value: Any) -> str:
    """A JSON value as a message shows it: short, and printable."""
    # What is shown was refused, so it may be anything: NaN, nested without end, or no JSON value at all.
    try:
        text = printable(json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__))
    except (ValueError, TypeError, RecursionError):
        text = "a value that cannot be shown"
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def exact_float(text: str) -> int | float:
    """Return the value of a JSON number with a fraction or an exponent; a whole one beyond 2^53, such as 9007199254740993.0, exactly."""
    value = float(text)
    whole, _, fraction = text.partition(".")
    is_whole = fraction != "" and not fraction.strip("0")
    return int(whole) if is_whole and abs(value) >= 2**53 and len(whole) <= _LONGEST_INTEGER else value


def exact_int(text: str) -> int:
    """Return the value of a JSON integer. Raises ValueError for one of more digits than Python reads."""
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(f"a number has {len(text):,} digits; at most {_LONGEST_INTEGER:,} are read")
    return int(text)


def strict(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError for what is no JSON, and for an object with a key twice."""
    return json.loads(text, object_pairs_hook=_object, parse_float=exact_float, parse_int=exact_int)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"duplicate key {shown(name)} in an object")
    return found


def to_json(value: Any) -> str:
    """The value as JSON text, integers of any size exact."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical(value: Any) -> str:
    """A text that two JSON values share exactly when they are the same value: order of keys and form of numbers do not count."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    # Numbers by value: a client may send 1.0 the second time where it sent 1 before.
    return decimal_text(value) if is_number(value) else json.dumps(value)
