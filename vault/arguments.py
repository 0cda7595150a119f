"""What callers send, checked before anything is locked or read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from vault.errors import InvalidArguments, PathRefused
from vault.frontmatter import MAX_FRONTMATTER
from vault.paths import project_problem
from vault.secrets import assert_no_secrets, shown
from vault.times import to_text
from vault.yaml_tree import MAX_DIGITS

MAX_DEPTH = 40
MAX_BODY = 12 * 1024 * 1024  # bytes
_BEYOND_DIGITS = 10**MAX_DIGITS


def check_project(project: object) -> str:
    """Return the project id. Raises PathRefused, or SecretFound for one that looks like a credential."""
    problem = project_problem(project)
    if problem is not None:
        raise PathRefused(f"project {problem}")
    assert_no_secrets("project", project)
    return str(project)


def text_problem(value: str) -> str | None:
    """Return what no text may hold: NUL, or half of a surrogate pair."""
    if "\0" in value:
        return "must not hold the NUL character"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "must be valid Unicode: it holds half of a surrogate pair"
    return None


def check_texts(**texts: object) -> None:
    """Check texts that are searched for or remembered. Raises InvalidArguments naming each that no text can be."""
    problems = [(name, text_problem(text)) for name, text in texts.items() if isinstance(text, str)]
    if wrong := [f"{name} {problem}" for name, problem in problems if problem]:
        raise InvalidArguments(wrong)


def body_problems(body: object, field: str) -> Iterator[str]:
    """Yield what is wrong with a body or an event."""
    if not isinstance(body, str) or not body.strip():
        yield f"{field} must be a text that is not empty"
        return
    problem = text_problem(body)
    if problem:
        yield f"{field} {problem}"
    elif len(body.encode()) > MAX_BODY:
        yield f"{field} must have at most {MAX_BODY // 1024 // 1024} MiB"


def plain_mapping(value: object, field: str, problems: list[str]) -> dict[str, Any]:
    """Return an object as JSON values (times as text); what is wrong with it is added to the problems."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.append(f"{field} must be an object")
        return {}
    try:
        plain = {_key(key): _plain(item, 1) for key, item in value.items()}
    except ValueError as error:
        problems.append(f"{field} {error}")
        return {}
    # As YAML it may be a little shorter; whatever passes here is measured again once it is written so.
    if len(json.dumps(plain, ensure_ascii=False)) > 2 * MAX_FRONTMATTER:
        problems.append(f"{field} must have at most {MAX_FRONTMATTER // 1024} KiB")
        return {}
    return plain


def _key(key: object) -> str:
    if not isinstance(key, str) or not key.strip():
        raise ValueError("must have keys that are texts and not empty")
    problem = text_problem(key)
    if problem:
        raise ValueError(f"keys {problem}")
    return key


def _plain(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"must not be nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        return _whole_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, date):
        return to_text(value) if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    raise ValueError("must hold JSON values only")


def _whole_text(value: str) -> str:
    problem = text_problem(value)
    if problem:
        raise ValueError(problem)
    return value


def _number(value: float) -> float:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must hold finite numbers only")
    if abs(value) >= _BEYOND_DIGITS:
        raise ValueError(f"must hold numbers of at most {MAX_DIGITS} digits")
    return value


def check_which(record_id: object, kind: object, slug: object) -> None:
    """Raise InvalidArguments unless there is an id, or both kind and slug."""
    if record_id is None and (kind is None or slug is None):
        raise InvalidArguments("give an id, or both kind and slug")


def check_limit(limit: object, most: int = 1_000) -> int:
    """Return the limit. Raises InvalidArguments."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidArguments(f"limit must be a whole number from 1 to {most}")
    return limit


def describe(record_id: str | None, kind: str | None, slug: str | None) -> str:
    """Return how the caller named a record, for messages."""
    return shown(record_id) if record_id is not None else f"{kind} {shown(slug or '')}"
