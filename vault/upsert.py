"""Writing a record: the arguments, the name, what it merges with, and what it does to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from vault import frontmatter as matter
from vault import lookup, paths
from vault.arguments import body_problems, check_project, plain_mapping, text_problem
from vault.drafts import Draft, prepare
from vault.engine import Engine
from vault.errors import InvalidArguments, SlugTaken, UnreadableRecord
from vault.naming import Naming, choose
from vault.paths import check_kind
from vault.record import Record, Stored
from vault.recurrence import classify
from vault.salience import count
from vault.scan import RecordKey
from vault.schema import Invalid, normalise
from vault.secrets import assert_no_secrets
from vault.times import parse_time, to_text
from vault.trapfinder import patterns_of
from vault.ttl import expiry_of

_FIRST_KEYS = ("id", "kind", "project", "title", "status", "source", "created", "updated")


@dataclass(frozen=True, slots=True)
class UpsertResult:
    """What an upsert did. `recurrence`: nothing new was written, an old trap was counted once more."""

    record: Record
    created: bool
    recurrence: bool = False
    superseded: bool = False
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values; `warnings` is there only if there are any."""
        answer: dict[str, Any] = {
            "record": self.record.to_dict(),
            "created": self.created,
            "recurrence": self.recurrence,
            "superseded": self.superseded,
        }
        return {**answer, "warnings": list(self.warnings)} if self.warnings else answer


def upsert(
    engine: Engine,
    project: str,
    kind: str,
    body: str,
    *,
    slug: str | None = None,
    frontmatter: Mapping[str, Any] | None = None,
    path: str | None = None,
    allow_duplicate: bool = False,
    repo: Path | None = None,
) -> UpsertResult:
    """Create or update a record. Raises InvalidArguments and its kin before anything is written."""
    problems: list[str] = []
    given = plain_mapping(frontmatter, "frontmatter", problems)
    sent = Draft(check_project(project), _kind(kind, problems), body, slug, given, path, allow_duplicate)
    draft = prepare(engine, sent, repo, _check(engine, sent, problems))
    with engine.mutation(draft.project) as warnings:
        result = _Upsert(engine, draft, engine.now()).run()
    return replace(result, warnings=tuple(warnings.texts))


def _kind(kind: str, problems: list[str]) -> str:
    assert_no_secrets("kind", kind)
    try:
        return check_kind(kind)
    except InvalidArguments as error:
        problems += error.problems
        return ""


def _check(engine: Engine, sent: Draft, problems: list[str]) -> list[str]:
    """Return all problems so far. A secret is refused at once, before any text is made of the arguments."""
    for field, value in (("body", sent.body), ("frontmatter", sent.given), ("slug", sent.slug), ("path", sent.path)):
        assert_no_secrets(field, value)
    problems += body_problems(sent.body, "body")
    for field, name in (("slug", sent.slug), ("id", sent.given.get("id"))):
        problem = None if name is None else paths.name_problem(name)
        if problem is not None and not lookup.is_known(engine, sent.project, name):
            problems.append(f"{field} {problem}")
    if sent.path is not None and not (isinstance(sent.path, str) and sent.path.strip()):
        problems.append("path must be a text that is not empty")
    elif sent.path is not None and (problem := text_problem(sent.path)):
        problems.append(f"path {problem}")
    return problems


class _Upsert:
    """One upsert under the vault's lock."""

    def __init__(self, engine: Engine, draft: Draft, now: datetime) -> None:
        self.engine, self.draft, self.now = engine, draft, now
        self.now_text = to_text(now)

    def run(self) -> UpsertResult:
        naming = choose(self.engine, self.draft, self.now)
        existing = self._existing(naming)
        older = self._older(naming)
        if existing is None and older is None and self._may_recur():
            again = self._recurring()
            if again is not None:
                return self._bump(again)
        target = self._target(naming, existing, older)
        if existing is not None:  # what a person wrote into the file is written again, too
            assert_no_secrets(f"{paths.local_path(naming.key)}: frontmatter", target)
        record = self.engine.save(naming.key, self._text(naming, existing, target))
        # After its successor: a kill between the two leaves both in force, never neither.
        if older is not None and older.record.status != "superseded":
            self.engine.edit(older, {"status": "superseded", "updated": self.now_text})
        self.engine.request_commit(f"upsert {record.kind}:{record.id}")
        return UpsertResult(record, existing is None, superseded=older is not None)

    def _existing(self, naming: Naming) -> Stored | None:
        existing = self.engine.load(naming.key)
        if existing is not None and existing.record.kind != self.draft.kind:
            place, kind = paths.local_path(naming.key), existing.record.kind
            raise SlugTaken(f"{place} is a {kind}; a {self.draft.kind} of that name needs another slug")
        return existing

    def _older(self, naming: Naming) -> Stored | None:
        wanted = self.draft.given.get("supersedes")
        if not isinstance(wanted, str) or not wanted.strip():
            return None
        lookup.check_name(self.engine, self.draft.project, wanted, "supersedes")
        older = lookup.find(self.engine, self.draft.project, wanted, None, None)
        if older is not None and older.record.key == naming.key:
            raise InvalidArguments("supersedes must name another record than the one that is written")
        return older

    # ------------------------------------------------------------------ traps that come back

    def _may_recur(self) -> bool:
        draft = self.draft
        return draft.kind == "trap" and not draft.allow_duplicate and not draft.given.get("supersedes")

    def _recurring(self) -> Stored | None:
        finder = self.engine.traps_of(self.draft.project)
        for key in finder.matches(patterns_of(self.draft.given), self.draft.body):
            found = self.engine.load(key)
            if found is not None and not self.engine.present(found.record).expired:
                return found
        return None

    def _bump(self, old: Stored) -> UpsertResult:
        changes = {"occurrences": max(1, count(old.record.frontmatter, "occurrences")) + 1, "lastSeen": self.now_text}
        record = self.engine.edit(old, changes)
        self.engine.request_commit(f"recurrence {record.kind}:{record.id}")
        return UpsertResult(record, created=False, recurrence=True)

    # ------------------------------------------------------------------ what is written

    def _target(self, naming: Naming, existing: Stored | None, older: Stored | None) -> dict[str, Any]:
        """The whole frontmatter as it shall be; None removes a key."""
        old = existing.record.frontmatter if existing else {}
        given = dict(self.draft.given)
        if self.draft.path_patterns and "pathPatterns" not in self.draft.sent:
            for key in ("pathPatterns", "linkedPaths"):  # `path` alone adds to what the record already names
                given[key] = list(dict.fromkeys([*_list(old.get(key)), *_list(given.get(key))]))
        created = old.get("created") or given.get("created") or self.now_text
        fixed = {"id": naming.record_id, "kind": self.draft.kind, "project": self.draft.project, "created": created}
        target = {**old, **given, **fixed, "updated": given.get("updated") or self.now_text}
        if self.draft.kind == "trap":
            target |= self._classified(target)
            self._count_trap(target, existing, older)
        self._set_expiry(target, created)
        if existing is None:
            target["status"] = target.get("status") or "active"
            target["source"] = target.get("source") or "agent"
        return target

    def _classified(self, target: dict[str, Any]) -> dict[str, Any]:
        try:
            return classify({key: value for key, value in target.items() if value is not None}, self.draft.body)
        except Invalid as error:
            raise InvalidArguments(f"layer {error}") from None

    def _count_trap(self, target: dict[str, Any], existing: Stored | None, older: Stored | None) -> None:
        if existing is not None:
            return
        before = max(1, count(older.record.frontmatter, "occurrences")) if older and older.record.kind == "trap" else 0
        if target.get("occurrences") is None:
            target["occurrences"] = before + 1
        if target.get("lastSeen") is None:
            target["lastSeen"] = self.now_text

    def _set_expiry(self, target: dict[str, Any], created: str) -> None:
        given = self.draft.given
        if given.get("expires_at") is not None:
            if "ttl" not in given:
                target["ttl"] = None  # it said something else
        elif given.get("ttl") is not None:
            try:
                target["expires_at"] = to_text(expiry_of(given["ttl"], parse_time(created) or self.now))
            except (ValueError, OverflowError):
                raise InvalidArguments("frontmatter: ttl leads beyond the calendar") from None
        elif "ttl" in given and "expires_at" not in given:
            target["expires_at"] = None

    def _text(self, naming: Naming, existing: Stored | None, target: dict[str, Any]) -> str:
        where = paths.local_path(naming.key)
        if existing is not None:
            return matter.edit(existing.document, _changes(existing, target, self.draft.given), self.draft.body, where)
        return new_text(naming.key, target, self.draft.body)


def new_text(key: RecordKey, target: Mapping[str, Any], body: str) -> str:
    """Return the text of a new file. Raises InvalidArguments if it could not be read again."""
    ordered = {name: target[name] for name in (*_FIRST_KEYS, *target) if target.get(name) is not None}
    text = matter.create(ordered, body)
    try:
        document = matter.parse(text, paths.local_path(key))
    except UnreadableRecord as error:
        raise InvalidArguments(error.message) from None
    if not matter.same(document.data, ordered):
        raise InvalidArguments("frontmatter holds a value that cannot be written as YAML")
    return text


def _changes(existing: Stored, target: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the file; a value written in another form that means the same stays as it is written."""
    written, read = existing.document.data, existing.record.frontmatter
    # What nobody sent stays, also where the reader put a default in the place of what a person wrote.
    meant = {key: value for key, value in target.items() if key in sent or not matter.same(read.get(key), value)}
    return {key: value for key, value in meant.items() if not _means(key, written.get(key), value) and _known(key, written, value)}


def _known(key: str, written: Mapping[str, Any], value: Any) -> bool:
    # Defaults that the reader filled in are not put into a file that does without them.
    return key in written or value is not None


def _means(key: str, written: Any, value: Any) -> bool:
    if written is None:
        return value is None or (key, value) in (("status", "active"), ("source", "agent"))
    try:
        return matter.same(normalise(key, written), value)
    except Invalid:
        return matter.same(written, value)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []
