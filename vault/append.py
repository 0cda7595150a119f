"""Events: written once, each in a file of its own, and never rewritten."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from vault import paths
from vault.arguments import body_problems, check_project, plain_mapping
from vault.engine import Engine
from vault.errors import InvalidArguments
from vault.paths import check_kind
from vault.record import Record
from vault.schema import Invalid, normalise
from vault.secrets import assert_no_secrets
from vault.times import parse_time, to_text
from vault.ttl import expiry_of
from vault.upsert import new_text

# What names a record and says when it was made is the vault's to say; a title or tags are the caller's.
_RESERVED = ("id", "slug", "created", "expired")


def append(engine: Engine, project: str, event: str, kind: str = "log", details: Mapping[str, Any] | None = None) -> Record:
    """Write one event as a new record and return it. Raises InvalidArguments listing every problem."""
    check_project(project)
    assert_no_secrets("kind", kind)
    kind = check_kind(kind)
    problems = list(body_problems(event, "event"))
    given = plain_mapping(details, "details", problems)
    assert_no_secrets("event", event)
    assert_no_secrets("details", given)
    given = {key: value for key, value in given.items() if value is not None}
    problems += _reserved(given, {"kind": kind, "project": project})
    for key, value in given.items():
        try:
            given[key] = normalise(key, value)
        except Invalid as error:
            problems.append(f"details: {key} {error}")
    if problems:
        raise InvalidArguments(problems)
    with engine.mutation(project):
        record = _write(engine, project, event, kind, given)
        engine.request_commit(f"append {kind}:{record.id}")
    return record


def _reserved(given: dict[str, Any], fixed: Mapping[str, str]) -> Iterator[str]:
    """Take out the kind and project that the event has anyway; yield what the details cannot set."""
    for key, own in fixed.items():
        if key in given and str(given.pop(key)).strip().lower() != own.lower():
            yield f"details: {key} is {own} by argument"
    for key in _RESERVED:
        if key in given:
            yield f"details: {key} is set by the vault; use another key"


def _write(engine: Engine, project: str, event: str, kind: str, given: dict[str, Any]) -> Record:
    now = engine.now_text()
    name = _new_name(engine, project, kind, now)
    target = {"updated": now, "status": "active", "source": "agent", **given}
    target |= {"id": name, "kind": kind, "project": project, "created": now}
    if target.get("ttl") is not None and target.get("expires_at") is None:
        target["expires_at"] = _expiry(target["ttl"], now)
    key = paths.key_of(project, kind, name)
    return engine.save(key, new_text(key, target, event))


def _expiry(ttl: Any, now: str) -> str:
    try:
        return to_text(expiry_of(ttl, parse_time(now) or parse_time("1970-01-01T00:00Z")))  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        raise InvalidArguments("details: ttl leads beyond the calendar") from None


def _new_name(engine: Engine, project: str, kind: str, now: str) -> str:
    stamp = now.replace(":", "-").replace(".", "-")
    while True:
        name = f"{kind}-{stamp}-{os.getpid()}-{engine.random_hex(4)}"
        if not paths.key_of(project, kind, name).path(engine.root).exists():
            return name
