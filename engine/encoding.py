"""Results as JSON text, and JSON text as values."""

import json
from typing import Any

import orjson


def dumps(result: Any) -> bytes:
    """Return `result` as JSON. Datetimes become RFC 3339 in UTC with a trailing Z; a fraction is printed only where there is one.

    `orjson.Fragment` is copied as it is. Raises TypeError for what JSON cannot hold.
    """
    return orjson.dumps(result, option=orjson.OPT_UTC_Z)


def loads(text: str | bytes) -> Any:
    """Return the value of a JSON text; raises json.JSONDecodeError (a ValueError) where it is none or nests too deeply.

    Integers of any size are kept exactly, and lone surrogates are let through for the argument checks to name.
    """
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise json.JSONDecodeError("not UTF-8", "", error.start) from error
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
