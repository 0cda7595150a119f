"""Edits of top-level keys in the text of a YAML mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vault.errors import UnreadableRecord
from vault.secrets import shown
from vault.yaml_emit import block_entry, inline
from vault.yaml_tree import Node, parse_yaml

_COMMENT_OR_BLANK = re.compile(r"(?:#.*|[ \t]*)\r?\Z")


class Edit(NamedTuple):
    """One replacement in the text, by characters."""

    start: int
    end: int
    text: str


def set_keys(source: str, changes: Mapping[str, Any], newline: str, where: str) -> str:
    """Return the YAML with these keys set in their places, new ones behind the last; None removes a key, comments stay."""
    root = _root(source, where)
    if root is not None and root.flow:
        for key, value in changes.items():
            source = _set_in_flow(source, key, value, where)
        return source
    positions = {} if root is None else {node.value: index for index, node in enumerate(root.keys)}
    edits, added = [], ""
    for key, value in changes.items():
        if root is not None and key in positions:
            edits.append(_drop(source, root, positions[key]) if value is None else _put(source, root, positions[key], value, newline))
        elif value is not None:
            added += _indent(_block(key, value, newline), root.column if root else 0)
    # All spans were found in one look at the text, so that many keys cost no more than one; from behind, they stay right.
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source + (newline if added and source and not source.endswith("\n") else "") + added


def _put(source: str, root: Node, position: int, value: Any, newline: str) -> Edit:
    node = root.items[position]
    if not node.flow and node.is_list and isinstance(value, list):
        edited = _edit_list(source, root, position, value, newline)
        if edited is not None:
            return edited
    text = inline(value, flow=False)
    if _on_one_line(source, node) and text is not None:
        return _replace(source, node, text)
    return Edit(*_entry_span(source, root, position), _indent(_block(root.keys[position].value, value, newline), root.column))


def _replace(source: str, node: Node, text: str) -> Edit:
    # The node of a missing value lies directly behind the colon.
    lead = " " if source[node.start - 1 : node.start] == ":" else ""
    return Edit(node.start, node.end, lead + text)


def _drop(source: str, root: Node, position: int) -> Edit:
    return Edit(*_entry_span(source, root, position), "")


def _set_in_flow(source: str, key: str, value: Any, where: str) -> str:
    """The mapping is written in braces: one key at a time, as removing one moves the commas of others."""
    root = _root(source, where)
    if root is None:
        return source
    position = next((index for index, node in enumerate(root.keys) if node.value == key), None)
    if value is None:
        return source if position is None else _drop_from_flow(source, root, position)
    text = inline(value, flow=True)
    if position is not None:
        node = root.items[position]
        if text is None or not _on_one_line(source, node):
            raise UnreadableRecord(f"{where}: the value of {shown(key)} is written in a way that cannot be edited safely")
        edit = _replace(source, node, text)
        return source[: edit.start] + edit.text + source[edit.end :]
    last = root.items[-1].end if root.items else root.end - 1
    lead = ", " if root.items else ""
    return f"{source[:last]}{lead}{inline(key, flow=True)}: {text}{source[last:]}"


def _root(source: str, where: str) -> Node | None:
    root = parse_yaml(source, where)
    return root if root is not None and root.is_mapping else None


def _block(key: str, value: Any, newline: str) -> str:
    return block_entry(key, value).replace("\n", newline)


def _indent(text: str, column: int) -> str:
    return "".join(" " * column + line if line.strip() else line for line in text.splitlines(keepends=True)) if column else text


def _on_one_line(source: str, node: Node) -> bool:
    """Whether the value can be replaced where it stands: one line, no anchor, no tag and no block."""
    if node.decorated or node.style in ("|", ">") or ((node.is_list or node.is_mapping) and not node.flow):
        return False
    return "\n" not in source[node.start : node.end]


def _line_start(source: str, index: int) -> int:
    return source.rfind("\n", 0, index) + 1


def _entry_span(source: str, root: Node, position: int) -> tuple[int, int]:
    """The lines of one entry, without the comments and blank lines that follow it."""
    start = _line_start(source, root.keys[position].start)
    end = _line_start(source, root.keys[position + 1].start) if position + 1 < len(root.keys) else len(source)
    return start, _without_trailing_comments(source, start, end)


def _without_trailing_comments(source: str, start: int, end: int) -> int:
    lines = source[start:end].split("\n")
    if lines[-1] == "":
        lines.pop()
    while len(lines) > 1 and _COMMENT_OR_BLANK.match(lines[-1]):
        end -= len(lines.pop()) + 1
    return end


def _drop_from_flow(source: str, root: Node, position: int) -> str:
    if position + 1 < len(root.keys):
        return source[: root.keys[position].start] + source[root.keys[position + 1].start :]
    start = root.items[position - 1].end if position else root.keys[position].start
    return source[:start] + source[root.items[position].end :]


def _edit_list(source: str, root: Node, position: int, wanted: list[Any], newline: str) -> Edit | None:
    """Keep the lines of the items that stay; None if the new list is no sub-sequence of the old one plus additions at the end."""
    node = root.items[position]
    if node.decorated or not node.items or not wanted or any(isinstance(item, dict | list) for item in [*node.value, *wanted]):
        return None
    kept = _kept(node.value, wanted)
    added = wanted[len(kept) :]
    if not kept or any(item.decorated or "\n" in source[item.start : item.end] for item in node.items):
        return None
    texts = [inline(item, flow=False) for item in added]
    if any(text is None for text in texts):
        return None
    added_lines = "".join(f"{source[_line_start(source, node.items[0].start) : node.items[0].start]}{text}{newline}" for text in texts)
    return _splice_list(source, root, position, set(kept), added_lines)


def _kept(old: list[Any], wanted: list[Any]) -> list[int]:
    """Positions of the old items that are, in order, the beginning of the wanted list."""
    kept: list[int] = []
    for index, item in enumerate(old):
        if len(kept) < len(wanted) and type(item) is type(wanted[len(kept)]) and item == wanted[len(kept)]:
            kept.append(index)
    return kept


def _splice_list(source: str, root: Node, position: int, kept: set[int], added: str) -> Edit:
    node = root.items[position]
    _, end = _entry_span(source, root, position)
    starts = [_line_start(source, item.start) for item in node.items]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    lines = "".join(source[begin:stop] for index, (begin, stop) in enumerate(spans) if index in kept)
    if lines and not lines.endswith("\n"):
        lines += "\r\n" if "\r\n" in source else "\n"
    return Edit(starts[0], end, lines + added)
