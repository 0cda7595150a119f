"""Edits of one top-level key in the text of a YAML mapping."""

from __future__ import annotations

import re
from typing import Any

from vault.errors import UnreadableRecord
from vault.yaml_emit import block_entry, inline
from vault.yaml_tree import Node, parse_yaml

_COMMENT_OR_BLANK = re.compile(r"(?:#.*|[ \t]*)\r?\Z")


def put_key(source: str, key: str, value: Any, newline: str, where: str) -> str:
    """Return the YAML with the key set: in its place if it is there, else as the last key."""
    root = _root(source, where)
    if root is None:
        return source + _block(key, value, newline)
    position = _position(root, key)
    if position is None:
        return _insert(source, root, key, value, newline)
    node = root.items[position]
    if not node.flow and node.is_list and isinstance(value, list) and not root.flow:
        edited = _edit_list(source, root, position, value, newline)
        if edited is not None:
            return edited
    text = inline(value, flow=root.flow)
    if _on_one_line(source, node) and text is not None:
        lead = " " if source[node.start - 1 : node.start] == ":" else ""
        return source[: node.start] + lead + text + source[node.end :]
    if root.flow:
        raise UnreadableRecord(f"{where}: the value of {key!r} is written in a way that cannot be edited safely")
    start, end = _entry_span(source, root, position)
    return source[:start] + _block(key, value, newline) + source[end:]


def drop_key(source: str, key: str, where: str) -> str:
    """Return the YAML without the key and its value; comments before and behind it stay."""
    root = _root(source, where)
    position = None if root is None else _position(root, key)
    if root is None or position is None:
        return source
    if root.flow:
        return _drop_from_flow(source, root, position)
    start, end = _entry_span(source, root, position)
    return source[:start] + source[end:]


def _root(source: str, where: str) -> Node | None:
    root = parse_yaml(source, where)
    return root if root is not None and root.is_mapping else None


def _position(root: Node, key: str) -> int | None:
    return next((index for index, node in enumerate(root.keys) if node.value == key), None)


def _block(key: str, value: Any, newline: str) -> str:
    return block_entry(key, value).replace("\n", newline)


def _insert(source: str, root: Node, key: str, value: Any, newline: str) -> str:
    if root.flow:
        close = root.end - 1
        lead = ", " if root.items else ""
        text = f"{lead}{inline(key, flow=True)}: {inline(value, flow=True)}"
        last = root.items[-1].end if root.items else close
        return source[:last] + text + source[last:]
    if not source.endswith("\n"):
        source += newline
    return source + _indent(_block(key, value, newline), root.column)


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


def _edit_list(source: str, root: Node, position: int, wanted: list[Any], newline: str) -> str | None:
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


def _splice_list(source: str, root: Node, position: int, kept: set[int], added: str) -> str:
    node = root.items[position]
    _, end = _entry_span(source, root, position)
    starts = [_line_start(source, item.start) for item in node.items]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    lines = "".join(source[begin:stop] for index, (begin, stop) in enumerate(spans) if index in kept)
    if lines and not lines.endswith("\n"):
        lines += "\r\n" if "\r\n" in source else "\n"
    return source[: starts[0]] + lines + added + source[end:]
