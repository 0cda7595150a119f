"""YAML text as a tree of nodes that know where they stand, so that an edit can touch one value and nothing else.

Built from libyaml's events rather than with a YAML loader: the loaders recurse, let a later duplicate key win,
expand aliases without bound and read `012` as 10 and `10:00` as 600.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from vault.errors import UnreadableRecord
from vault.schema import LINK_LISTS, TEXT_LISTS, TEXTS
from vault.secrets import shown

MAX_DEPTH = 60
MAX_NODES = 50_000

_TRUE_FALSE = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
# Longer ones stay text: reading them takes quadratic time, and Python refuses 4,300 digits.
MAX_DIGITS = 400

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Node:
    """One YAML value: its Python value, its span in the text (characters) and, for collections, its parts.

    `literal`: the value with each scalar as the text that is written, so that `1.10` and `0.7e1` are not lost as numbers.
    """

    start: int
    end: int
    value: Any = None
    literal: Any = None
    style: str | None = None
    flow: bool = False
    items: list[Node] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)
    is_mapping: bool = False
    is_list: bool = False
    decorated: bool = False
    line: int = 0
    column: int = 0


def plain_value(text: str) -> Any:
    """Return what an unquoted scalar means. Leading zeros, clock times, dates and what JSON has no number for stay text."""
    if text in _NULLS:
        return None
    if text in _TRUE_FALSE:
        return _TRUE_FALSE[text]
    if len(text) <= MAX_DIGITS and _INTEGER.match(text):
        return int(text)
    if len(text) <= MAX_DIGITS and _FLOAT.match(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def parse_yaml(text: str, where: str) -> Node | None:
    """Return the root node of one YAML document, None for an empty one. Raises UnreadableRecord naming `where` and the line."""
    try:
        root = _Builder(yaml.parse(text, Loader=_Loader), where).document()
    except yaml.MarkedYAMLError as error:
        raise UnreadableRecord(f"{where}: the frontmatter is not valid YAML: {_explain(error)}") from None
    except yaml.YAMLError:
        raise UnreadableRecord(f"{where}: the frontmatter holds a character that YAML does not allow") from None
    if root is not None and root.is_mapping:
        _read_texts(root)
    return root


def _read_texts(root: Node) -> None:
    """Read the keys that hold text by the schema as the text that is written: `title: 1.10` is no number."""
    for key, node in zip(root.keys, root.items, strict=True):
        if key.value in TEXTS and node.value is not None and not isinstance(node.value, dict | list):
            node.value = node.literal
        elif key.value in TEXT_LISTS and node.value is not None and not isinstance(node.value, dict):
            _read_text_list(node)
        elif key.value in LINK_LISTS and isinstance(node.value, list):
            node.value = [_read_link(*pair) for pair in zip(node.value, node.literal, strict=True)]
        root.value[key.value] = node.value


def _read_text_list(node: Node) -> None:
    if not isinstance(node.value, list):
        node.value = node.literal
        return
    pairs = zip(node.value, node.literal, strict=True)
    node.value = [value if isinstance(literal, dict | list) else literal for value, literal in pairs]
    for item, value in zip(node.items, node.value, strict=False):  # an alias has no items of its own
        item.value = value


def _read_link(value: Any, literal: Any) -> Any:
    target = literal.get("target") if isinstance(literal, dict) else None
    return {**value, "target": target} if isinstance(target, str) and value["target"] is not None else value


def _explain(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark
    # The frontmatter starts on the file's second line, and marks count from zero.
    place = f" (line {mark.line + 2}, column {mark.column + 1})" if mark else ""
    problem = error.problem or error.context or "it cannot be parsed"
    if "cannot start any token" in problem and mark is not None:
        problem += "; tabs cannot indent YAML"
    return f"{problem}{place}"


class _Builder:
    """Turns the event stream into nodes with an explicit stack: input cannot exhaust the interpreter's."""

    def __init__(self, events: Iterator[Any], where: str) -> None:
        self._events = events
        self._where = where
        self._anchors: dict[str, Node] = {}
        self._stack: list[Node] = []
        self._pending: list[Node | None] = []
        self._seen: list[set[str]] = []
        self._sizes: dict[int, int] = {}
        self._count = 0
        self._root: Node | None = None

    def document(self) -> Node | None:
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._fail("the frontmatter holds more than one YAML document", event)
            elif isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event), event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._open(event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                self._close(event)
            elif isinstance(event, yaml.AliasEvent):
                self._add(self._alias(event), event)
        return self._root

    def _fail(self, what: str, event: Any) -> NoReturn:
        raise UnreadableRecord(f"{self._where}: {what} (line {event.start_mark.line + 2})")

    def _node(self, event: Any, **extra: Any) -> Node:
        start, end = event.start_mark, event.end_mark
        decorated = bool(event.anchor) or bool(getattr(event, "tag", None))
        node = Node(start.index, end.index, line=start.line, column=start.column, decorated=decorated, **extra)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _scalar(self, event: yaml.ScalarEvent) -> Node:
        plain = event.implicit[0] and event.tag is None
        return self._node(event, value=plain_value(event.value) if plain else event.value, literal=event.value, style=event.style)

    def _alias(self, event: Any) -> Node:
        target = self._anchors.get(event.anchor)
        if target is None or any(target is node for node in self._stack):
            self._fail("an alias (*) names no finished anchor (&)", event)
        self._count += self._sizes.get(id(target), 1)
        start, end = event.start_mark, event.end_mark
        return Node(start.index, end.index, value=target.value, literal=target.literal, decorated=True, line=start.line)

    def _open(self, event: Any) -> None:
        mapping = isinstance(event, yaml.MappingStartEvent)
        kind = dict if mapping else list
        node = self._node(event, value=kind(), literal=kind(), is_mapping=mapping, is_list=not mapping, flow=bool(event.flow_style))
        if len(self._stack) >= MAX_DEPTH:
            self._fail(f"the frontmatter is nested more than {MAX_DEPTH} levels deep", event)
        self._stack.append(node)
        self._pending.append(None)
        self._seen.append(set())
        # With what `_close` adds, the number of values inside, which every alias costs again.
        self._sizes[id(node)] = -self._count

    def _close(self, event: Any) -> None:
        node = self._stack.pop()
        self._pending.pop()
        self._seen.pop()
        node.end = event.end_mark.index
        self._sizes[id(node)] += self._count + 1
        self._add(node, event)

    def _add(self, node: Node, event: Any) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            self._fail(f"the frontmatter holds more than {MAX_NODES:,} values once its aliases are followed", event)
        if not self._stack:
            self._root = node
        elif self._stack[-1].is_mapping:
            self._add_to_mapping(self._stack[-1], node, event)
        else:
            self._stack[-1].items.append(node)
            self._stack[-1].value.append(node.value)
            self._stack[-1].literal.append(node.literal)

    def _add_to_mapping(self, parent: Node, node: Node, event: Any) -> None:
        key = self._pending[-1]
        if key is not None:
            parent.keys.append(key)
            parent.items.append(node)
            parent.value[key.value] = node.value
            parent.literal[key.value] = node.literal
            self._pending[-1] = None
            return
        self._pending[-1] = self._key(node, event)

    def _key(self, node: Node, event: Any) -> Node:
        if isinstance(node.value, dict | list):
            self._fail("a key is a list or a mapping", event)
        # JSON and the rest of the product know text keys only.
        text: str = node.literal
        if text in self._seen[-1]:
            self._fail(f"the key {shown(text[:80])} appears twice", event)
        self._seen[-1].add(text)
        node.value = text
        return node
