"""What goes into the index and what comes out."""

from dataclasses import dataclass

from vault.scan import RecordKey


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What is indexed of one record. Times are UTC, `YYYY-MM-DDTHH:MM:SS.mmmZ`, so that they sort as text."""

    key: RecordKey
    record_id: str
    kind: str
    status: str
    title: str
    body: str
    created: str
    updated: str
    tags: tuple[str, ...] = ()
    path_patterns: tuple[str, ...] = ()
    expires_at: str | None = None  # the one that counts: explicit, by ttl, or the kind's default
    salience: float = 1.0  # multiplies the rank
    flagged: bool = False  # reported stale by its readers


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Narrows a search. Empty tuples narrow nothing; all filters must hold.

    `projects`: these only. `kinds` and `statuses`: any of them. `exclude_kinds`: none of them. `tags`: all of them.
    `path`: records whose pathPatterns cover this path, or lie below it. `as_of`: only what had been created by then,
    and expiry is judged then. Without `include_expired`, what is expired at `now` (or `as_of`) is left out.
    """

    projects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    exclude_kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    as_of: str | None = None
    include_expired: bool = False
    now: str | None = None  # None: the clock


@dataclass(frozen=True, slots=True)
class Hit:
    """One record found. `rank`: the greater the better, salience included; `snippet`: plain text around the match."""

    key: RecordKey
    record_id: str
    kind: str
    status: str
    title: str
    tags: tuple[str, ...]
    created: str
    updated: str
    expires_at: str | None
    expired: bool
    flagged: bool
    rank: float
    snippet: str
