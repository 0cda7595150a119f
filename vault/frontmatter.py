"""A record file as frontmatter and body; edits leave every line that they do not mean byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault.errors import InvalidArguments, UnreadableRecord
from vault.yaml_emit import block_entry
from vault.yaml_patch import set_keys
from vault.yaml_tree import Node, parse_yaml

BOM = "\ufeff"
MAX_FRONTMATTER = 256 * 1024  # characters; a larger one is a mistake or an attack
MAX_FILE = 16 * 1024 * 1024  # bytes

_OPENING = re.compile(r"---[ \t]*(\r\n|\n)")
# Not the line of equals signs between them, which also underlines a Markdown heading.
_OURS, _THEIRS = (re.compile(rf"^{mark}{{7}}(?: |$)", re.MULTILINE) for mark in "<>")
_CLOSING = re.compile(r"^---[ \t]*(\r\n|\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file. `head` + `yaml` + `tail` + `body` is the text; `data` is what the YAML means."""

    head: str
    yaml: str
    tail: str
    body: str
    data: dict[str, Any]
    newline: str

    @property
    def text(self) -> str:
        """The file's text, character for character."""
        return f"{self.head}{self.yaml}{self.tail}{self.body}"


def decode(data: bytes, where: str) -> str:
    """Return the text of a file. Raises UnreadableRecord, naming `where`, for one that is too large or not UTF-8."""
    if len(data) > MAX_FILE:
        raise UnreadableRecord(f"{where}: the file is larger than {MAX_FILE // 1024 // 1024} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableRecord(f"{where}: the file is not UTF-8 (byte {error.start + 1})") from None


def parse(text: str, where: str) -> Document:
    """Return the file's parts. Raises UnreadableRecord, naming `where`, if there is no frontmatter or it is no YAML mapping."""
    start = len(BOM) if text.startswith(BOM) else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        raise UnreadableRecord(f"{where}: the file does not start with a frontmatter block (a line of three dashes)")
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise UnreadableRecord(f"{where}: the frontmatter block is not closed (a second line of three dashes)")
    source = text[opening.end() : closing.start()]
    if len(source) > MAX_FRONTMATTER:
        raise UnreadableRecord(f"{where}: the frontmatter is larger than {MAX_FRONTMATTER // 1024} KiB")
    if has_conflict_marks(source):
        raise UnreadableRecord(f"{where}: the frontmatter holds the marks of an unfinished merge (<<<<<<<)")
    data = _mapping(parse_yaml(source, where), where)
    return Document(text[: opening.end()], source, text[closing.start() : closing.end()], text[closing.end() :], data, opening.group(1))


def has_conflict_marks(text: str) -> bool:
    """Return whether git left both sides of a merge in the text."""
    return _OURS.search(text) is not None and _THEIRS.search(text) is not None


def _mapping(root: Node | None, where: str) -> dict[str, Any]:
    if root is None or root.value is None:
        return {}
    if not isinstance(root.value, dict):
        raise UnreadableRecord(f"{where}: the frontmatter is not a mapping of keys to values")
    return root.value


def create(data: Mapping[str, Any], body: str) -> str:
    """Return the text of a new file. None values are left out."""
    lines = "".join(block_entry(key, value) for key, value in data.items() if value is not None)
    return f"---\n{lines}---\n{body}" + ("" if body.endswith("\n") else "\n")


def edit(document: Document, changes: Mapping[str, Any], body: str | None = None, where: str = "record") -> str:
    """Return the text with the changed keys set (None removes one) and, if given, a new body.

    Keys whose value already is the given one are left as they are written. Raises UnreadableRecord if the edited
    text would not be read as exactly what was asked for; nothing of the file is lost then.
    """
    old, missing = document.data, object()
    needed = {key: value for key, value in changes.items() if (key in old if value is None else not same(old.get(key, missing), value))}
    wanted = {key: value for key, value in {**old, **needed}.items() if value is not None or key not in needed}
    source = set_keys(document.yaml, needed, document.newline, where)
    if len(source) > max(MAX_FRONTMATTER, len(document.yaml)):
        raise InvalidArguments(f"{where}: the frontmatter would be larger than {MAX_FRONTMATTER // 1024} KiB")
    text = _new_body(document, body)
    # The closing line may be the file's last and lack its line break.
    tail = document.tail if document.tail.endswith("\n") or not text else f"{document.tail}{document.newline}"
    edited = f"{document.head}{source}{tail}{text}"
    _verify(edited, wanted, text, where)
    return edited


def _verify(edited: str, wanted: Mapping[str, Any], body: str, where: str) -> None:
    """Read the edited text as the next reader will; a line of three dashes inside a value, for instance, ends the frontmatter."""
    try:
        document = parse(edited, where)
        whole = document.body == body and same(document.data, wanted)
    except UnreadableRecord:
        whole = False
    if not whole:
        raise UnreadableRecord(f"{where}: the frontmatter is written in a way that cannot be edited safely; simplify it by hand")


def _new_body(document: Document, body: str | None) -> str:
    if body is None or trim_body(body) == readable_body(document):
        return document.body
    blank = re.match(r"(?:[ \t]*\r?\n)*", document.body)
    lead = blank.group() if blank else ""
    text = body if body.endswith("\n") else f"{body}\n"
    lead = lead if lead.strip(" \t") else ""
    return lead + (text.replace("\r\n", "\n").replace("\n", "\r\n") if document.newline == "\r\n" else text)


def readable_body(document: Document) -> str:
    """Return the body as callers see it: without the blank lines around it."""
    return trim_body(document.body)


def trim_body(body: str) -> str:
    """Return the text without blank lines before it and white space behind it; the first line keeps its indentation."""
    return re.sub(r"\A(?:[ \t]*\r?\n)+", "", body).rstrip()


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same in YAML and JSON: 1, 1.0 and true differ, not-a-number equals itself."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)
