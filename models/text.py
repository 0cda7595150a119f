"""What may stand in text and JSON that the store takes."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from models.errors import LimitExceeded, Problem, Unprocessable


def fault(text: str) -> str | None:
    """Why this text cannot be stored, or None: PostgreSQL takes no NUL, UTF-8 no lone surrogate."""
    if "\x00" in text:
        return "contains a NUL character"
    if not text.isascii():
        # Encoding is many times faster than a look at each character of a long note.
        try:
            text.encode()
        except UnicodeEncodeError:
            return "contains a lone surrogate, which is not text"
    return None


def storable(texts: Iterable[str]) -> list[str]:
    """Those that can be stored: another can be no id of anything."""
    return [text for text in texts if fault(text) is None]


def faults_in(value: Any, where: str | None = None) -> Iterator[Problem]:
    """The faults of every string in a JSON value, keys included, each with the top-level key it stands under."""
    match value:
        case str():
            if reason := fault(value):
                yield Problem(where, reason)
        # Names too: jsonb holds them as it holds texts.
        case dict():
            for key, item in value.items():
                name = printable(key) if where is None else where
                if reason := fault(key):
                    yield Problem(name, f"name {reason}")
                yield from faults_in(item, name)
        case list():
            for item in value:
                yield from faults_in(item, where)


def printable(text: str) -> str:
    """The text with what cannot be printed or sent replaced."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{SYMBOL FOR NULL}")


def check(**arguments: str | None) -> None:
    """Refuse arguments that are no storable text; raises Unprocessable listing each."""
    problems = [Problem(name, reason) for name, value in arguments.items() if value is not None and (reason := fault(value))]
    if problems:
        raise Unprocessable.listing("request rejected", problems)


def check_size(what: str, text: str, limit: int) -> None:
    """Refuse text over a limit in bytes of UTF-8; raises LimitExceeded naming the cap."""
    if len(text) * 4 > limit and (size := len(text.encode())) > limit:
        raise LimitExceeded(f"{what} is {size:,} bytes; the limit is {limit // 1024} KB ({limit:,} bytes of UTF-8)")


def check_name(what: str, name: str, limit: int) -> None:
    """Refuse a name that is blank, too long or holds control characters; raises Unprocessable."""
    check(name=name)
    if not name.strip():
        raise Unprocessable(f"the name of {what} is empty")
    if len(name) > limit:
        raise Unprocessable(f"the name of {what} has {len(name)} characters; at most {limit} are allowed")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise Unprocessable(f"the name of {what} contains a control character")
