"""Reading: one record, lists, and searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vault import lookup, paths
from vault.arguments import check_limit, check_project, check_texts, check_which
from vault.engine import Engine
from vault.errors import InvalidArguments, VaultError
from vault.kinds import HIT_KINDS, LOCAL_KINDS, STATUSES, one_of
from vault.paths import check_kind
from vault.record import Record, Stored
from vault.salience import check_verdict, count, feedback_changes
from vault.secrets import assert_no_secrets
from vault.times import parse_time, to_text

_PATIENCE = 2.0  # seconds that a reader waits to count the hit


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One record found: a snippet of plain text around the match, and a rank (the greater the better)."""

    record: Record
    snippet: str
    rank: float

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON values."""
        return {"record": self.record.to_dict(), "snippet": self.snippet, "rank": self.rank}


def get(
    engine: Engine,
    project: str,
    record_id: str | None,
    kind: str | None,
    slug: str | None,
    *,
    session_id: str | None,
    siblings: bool,
    count_hit: bool,
) -> Record | None:
    """Return the record, or None. With `siblings`, the only match in other projects counts too."""
    check_project(project)
    check_texts(sessionId=session_id)
    assert_no_secrets("sessionId", session_id)
    found = lookup.find(engine, project, record_id, kind, slug)
    if found is None and siblings:
        found = lookup.find_in_siblings(engine, project, record_id, kind, slug)
    engine.tell()
    if found is None:
        return None
    record = found.record
    if count_hit and record.kind in HIT_KINDS and _first_hit(engine, record, session_id):
        try:
            return _edit(engine, found, lambda stored: _hit(engine, stored), _PATIENCE)
        except VaultError:  # a busy, full or read-only vault: who reads must not suffer from the counting
            engine.tell()
    return engine.present(record)


def get_anywhere(engine: Engine, record_id: str | None, kind: str | None, slug: str | None) -> Record | None:
    """Return the only match in all projects, or None."""
    check_which(record_id, kind, slug)
    found = lookup.find_in_siblings(engine, None, record_id, kind, slug)
    engine.tell()
    if found is None:
        for field, name in (("id", record_id), ("slug", slug)):
            if name is not None:
                paths.check_name(name, field)
        return None
    return engine.present(found.record)


def _first_hit(engine: Engine, record: Record, session_id: str | None) -> bool:
    return session_id is None or engine.catalog.cache.first_hit(record.project, record.id, session_id)


def _hit(engine: Engine, stored: Stored) -> dict[str, Any]:
    return {"hits": count(stored.record.frontmatter, "hits") + 1, "lastHit": engine.now_text()}


def _edit(engine: Engine, found: Stored, changes: Any, timeout: float | None = None) -> Record:
    """Count something in a record that was just read; it may have changed or gone until the lock is held."""
    key = found.record.key
    with engine.mutation(key.project, timeout):
        stored = engine.load(key)
        if stored is None:
            return engine.present(found.record)
        return engine.edit(stored, changes(stored))


def feedback(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None, *, verdict: str) -> Record:
    """Count a reader's verdict. Raises RecordNotFound."""
    check_project(project)
    verdict = check_verdict(verdict)
    found = lookup.require(engine, project, record_id, kind, slug)
    return _edit(engine, found, lambda stored: feedback_changes(stored.record.frontmatter, verdict, engine.now_text()))


def list_records(
    engine: Engine,
    project: str,
    *,
    kind: str | None,
    status: str | None,
    tags: Sequence[str],
    include_expired: bool,
    limit: int | None,
) -> list[Record]:
    """Return a project's records, the last updated first; files that do not parse are left out."""
    check_project(project)
    wanted = None if kind is None else check_kind(kind)
    state = None if status is None else _check_status(status)
    records = [engine.present(record) for record in engine.all_records(project)]
    engine.settle(project)
    engine.tell()
    chosen = [
        record
        for record in records
        if wanted in (None, record.kind)
        and state in (None, record.status)
        and (include_expired or not record.expired)
        and set(tags) <= set(record.texts("tags"))
    ]
    chosen.sort(key=lambda record: record.key)
    chosen.sort(key=lambda record: record.updated, reverse=True)
    return chosen if limit is None else chosen[: check_limit(limit, 100_000)]


def _check_status(status: object) -> str:
    text = status.strip().lower() if isinstance(status, str) else ""
    if text not in STATUSES:
        raise InvalidArguments(f"status must be {one_of(STATUSES)}")
    return text


def search(
    engine: Engine,
    query: str,
    project: str,
    *,
    kinds: Sequence[str],
    statuses: Sequence[str],
    tags: Sequence[str],
    path: str | None,
    include_scratch: bool,
    include_expired: bool,
    as_of: str | None,
    cross_project: bool,
    limit: int,
) -> list[SearchHit]:
    """Return the best hits, best first. Raises QueryInvalid for a query that cannot be read."""
    from vault.index import SearchFilters, parse_query

    check_project(project)
    if not isinstance(query, str):
        raise InvalidArguments("query must be text")
    check_texts(path=path, tags="".join(tags))
    wanted = tuple(check_kind(kind) for kind in kinds)
    filters = SearchFilters(
        projects=() if cross_project else (project,),
        kinds=wanted,
        exclude_kinds=_excluded(wanted, include_scratch=include_scratch, cross_project=cross_project),
        statuses=tuple(_check_status(status) for status in statuses),
        tags=tuple(tags),
        path=path,
        as_of=None if as_of is None else _moment(as_of),
        include_expired=include_expired,
        now=engine.now_text(),
    )
    most = check_limit(limit)
    if not engine.is_vault():
        parse_query(query)
        return []
    hits = engine.index.search(query, filters, most)
    for name in {hit.key.project for hit in hits}:
        engine.settle(name)
    engine.tell()
    found = ((hit, _loaded(engine, hit.key)) for hit in hits)
    return [SearchHit(record, hit.snippet, hit.rank) for hit, record in found if record is not None]


def _excluded(wanted: tuple[str, ...], *, include_scratch: bool, cross_project: bool) -> tuple[str, ...]:
    if cross_project:
        return LOCAL_KINDS
    return () if include_scratch or "scratch" in wanted else ("scratch",)


def _moment(text: str) -> str:
    moment = parse_time(text, end_of_day=True)
    if moment is None:
        raise InvalidArguments("asOf must be a date (YYYY-MM-DD) or a date and time (RFC 3339)")
    return to_text(moment)


def _loaded(engine: Engine, key: Any) -> Record | None:
    try:
        stored = engine.load(key)
    except VaultError:
        return None  # it went bad between the search and now
    return engine.present(stored.record) if stored else None
