"""Results as JSON text."""

from typing import Any

import orjson


def dumps(result: Any) -> bytes:
    """Return `result` as JSON. Datetimes become RFC 3339 in UTC with a trailing Z; a fraction is printed only where there is one.

    `orjson.Fragment` is copied as it is. Raises TypeError for what JSON cannot hold.
    """
    return orjson.dumps(result, option=orjson.OPT_UTC_Z)


def loads(text: str | bytes) -> Any:
    """Return the value of a JSON text; raises ValueError where it is none."""
    return orjson.loads(text)
