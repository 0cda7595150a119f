"""Reading git's configuration files without git, so that no program and no other file has a part in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vault.files import read_plain

MAX_FILE = 1024 * 1024  # bytes

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VALUE = re.compile(r'\\(?:\r?\n)|\\.|"|[#;]|[^\\"#;\r\n]+|\r')
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Entry(NamedTuple):
    """One setting: section and key in lower case, the subsection as it is written."""

    section: str
    subsection: str
    key: str
    value: str


def read(path: Path) -> list[Entry]:
    """Return the settings of one file, in order; included files are not read. Raises OSError, and ValueError for another syntax."""
    return list(_entries(read_plain(path, MAX_FILE, follow=True).decode("utf-8-sig", "surrogateescape")))


def _entries(text: str) -> Iterator[Entry]:
    at, section, subsection = 0, "", ""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "#;":
            at = _line_end(text, at)
        elif found := _SECTION.match(text, at):
            at = found.end()
            section, dot, rest = found.group(1).lower().partition(".")
            subsection = re.sub(r"\\(.)", r"\1", found.group(2)) if found.group(2) is not None else rest if dot else ""
        elif section and (found := _KEY.match(text, at)):
            value, at = _value(text, found.end())
            yield Entry(section, subsection, found.group().lower(), value)
        else:
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1} is no setting")


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    """The value behind a key, `true` without one, and where it ends."""
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    if text[at : at + 1] != "=":
        return "true", _line_end(text, at)
    at, parts, quoted = at + 1, [""], False
    while (found := _VALUE.match(text, at)) is not None:
        piece, at = found.group(), found.end()
        if piece == '"':
            quoted = not quoted
        elif piece in "#;" and not quoted:
            return "".join(parts).strip(), _line_end(text, at)
        elif piece.startswith("\\"):
            parts.append(_ESCAPES.get(piece[1:], ""))  # a line that goes on adds nothing
        else:
            parts.append(piece)
    return "".join(parts).strip(), at
