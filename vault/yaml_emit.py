"""Values as YAML text, written so that readers of YAML 1.1 and 1.2 see the same value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

# What some reader of YAML 1.1 or 1.2 takes for a number, a time, a truth value or nothing. PyYAML knows only its own:
# not `08` and `0o17`, which are numbers in 1.2, nor `y`, which is true in 1.1.
_NUMBER_LIKE = re.compile(r"[-+]*[.0-9][0-9a-fA-FoOxXtTzZ_.,:+ -]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "none", "~", "nan", "inf", "infinity"})
_PLAIN_IN_FLOW = re.compile(r"[\w./][\w ./@+=-]*")  # inside brackets more means something, such as `?` at the start
# Line breaks to YAML 1.1 (and to libyaml) that Python's and people's editors do not show as such.
_ODD_BREAKS = frozenset("\x85\u2028\u2029\ufeff")


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper, with lists indented below their key and long texts as readable blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002  the signature is PyYAML's
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  the signature is PyYAML's
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if not _readable_block(text):
        if not text.isprintable():  # line breaks, and what editors do not show
            return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if _is_ambiguous(text) else None)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


def _is_ambiguous(text: str) -> bool:
    return _NUMBER_LIKE.fullmatch(text) is not None or text.lower().lstrip("+-.") in _WORDS


def _readable_block(text: str) -> bool:
    if "\n" not in text.strip("\n") or "\r" in text or "\t" in text or _ODD_BREAKS & set(text):
        return False
    lines = text.split("\n")
    return bool(lines[0]) and all(line == line.rstrip() for line in lines) and not any(line.startswith(" ") for line in lines)


_Dumper.add_representer(str, _represent_text)


def block_entry(key: str, value: Any) -> str:
    """Return `key: value` in block style, ended by a newline."""
    # PyYAML would fold texts that are longer than the width.
    text: str = yaml.dump({key: value}, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10_000_000)
    return text


def inline(value: Any, *, flow: bool) -> str | None:
    """Return the value on one line, to stand behind a key (`flow`: inside brackets); None if it needs a block."""
    if isinstance(value, dict | list):
        return _flow_collection(value)
    if flow and isinstance(value, str):
        return _double_quoted(value)
    text = block_entry("k", value)[3:].removesuffix("\n")
    return None if "\n" in text or text.startswith(("|", ">")) else text


def _flow_collection(value: Mapping[str, Any] | list[Any]) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_flow_item(item) for item in value) + "]"
    return "{" + ", ".join(f"{_flow_item(str(key))}: {_flow_item(item)}" for key, item in value.items()) + "}"


def _flow_item(value: Any) -> str:
    text = inline(value, flow=False)
    if isinstance(value, str) and (text is None or _PLAIN_IN_FLOW.fullmatch(text) is None):
        return _double_quoted(value)
    return text if text is not None else json.dumps(value)


def _double_quoted(text: str) -> str:
    # JSON's escapes are YAML's, but for surrogate pairs, which only ensure_ascii writes, and odd line breaks.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(f"\\u{ord(char):04x}" if char in _ODD_BREAKS or "\x7f" <= char <= "\x9f" else char for char in quoted)
