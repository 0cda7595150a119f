"""An upsert's arguments made ready: paths folded and sanitised, every value checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vault.engine import Engine
from vault.errors import InvalidArguments, PathRefused
from vault.recurrence import classify
from vault.schema import Invalid, normalise

_FIXED = ("kind", "project")
_ARGUMENTS = ("path", "slug", "allowDuplicate")  # of an upsert; they may also stand in the frontmatter
_DERIVED = "expired"  # what callers read of a record and may send back; it is never written


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be written. `given` holds normalised values; `sent` names the keys that the caller sent."""

    project: str
    kind: str
    body: str
    slug: str | None
    given: dict[str, Any]
    path: str | None = None
    allow_duplicate: bool = False
    path_patterns: tuple[str, ...] = ()
    sent: frozenset[str] = field(default_factory=frozenset)


def prepare(engine: Engine, draft: Draft, repo: Path | None, problems: list[str]) -> Draft:
    """Return the draft with normalised values. Raises InvalidArguments listing these problems and all further ones."""
    given = dict(draft.given)
    problems += _misplaced(draft)
    path = draft.path if draft.path is not None else given.get("path")
    allow = draft.allow_duplicate or given.get("allowDuplicate") is True
    slug = draft.slug if draft.slug is not None else given.get("slug")
    given = {key: value for key, value in given.items() if key not in (*_ARGUMENTS, *_FIXED, _DERIVED)}
    _normalise(given, draft.kind, problems)
    if problems:
        raise PathRefused(problems) if _only_names(problems) else InvalidArguments(problems)
    folded = _fold_paths(engine, draft.project, given, path, repo)
    return replace(draft, slug=slug, given=given, path=path, allow_duplicate=allow, path_patterns=folded, sent=frozenset(draft.given))


def _only_names(problems: list[str]) -> bool:
    return all(problem.startswith(("slug ", "id ")) for problem in problems)


def _misplaced(draft: Draft) -> Iterator[str]:
    """Yield what is wrong with keys that the frontmatter cannot hold as they are; none of them is dropped without a word."""
    given = draft.given
    for key, own in (("kind", draft.kind), ("project", draft.project)):
        if given.get(key) is not None and str(given[key]).strip().lower() != own.lower():
            yield f"frontmatter: {key} is {own} by argument"
    for key, argument in (("path", draft.path), ("slug", draft.slug)):
        if given.get(key) is not None and not isinstance(given[key], str):
            yield f"frontmatter: {key} must be text"
        elif None not in (argument, given.get(key)) and argument != given[key]:
            yield f"frontmatter: {key} differs from the argument of that name"
    for key in ("allowDuplicate", _DERIVED):
        if given.get(key) is not None and not isinstance(given[key], bool):
            yield f"frontmatter: {key} must be true or false"


def _normalise(given: dict[str, Any], kind: str, problems: list[str]) -> None:
    for key, value in list(given.items()):
        if value is None or (kind == "trap" and key == "layer"):  # classification reads more names of layers
            continue
        try:
            given[key] = normalise(key, value)
        except Invalid as error:
            problems.append(f"frontmatter: {key} {error}")
    if kind == "trap":
        try:
            classify(given, "")
        except Invalid as error:
            problems.append(f"frontmatter: layer {error}")


def _fold_paths(engine: Engine, project: str, given: dict[str, Any], path: str | None, repo: Path | None) -> tuple[str, ...]:
    """Fold `path` into both lists and drop what is excluded. Raises PathRefused naming the field if nothing is left."""
    if path is None and not given.get("pathPatterns") and not given.get("linkedPaths"):
        return ()
    from vault.exclusions import Exclusions

    exclusions = Exclusions.load(repo, engine.config.ignore_paths.get(project, ()))
    folded: tuple[str, ...] = ()
    for key in ("pathPatterns", "linkedPaths"):
        sent = given.get(key) or []
        values = [*sent, path] if path is not None else sent
        if values:
            given[key] = exclusions.sanitise(values, key if sent else "path")
            folded = tuple(given[key]) if key == "pathPatterns" and path is not None else folded
    return folded
