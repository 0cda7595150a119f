"""Which file an upsert writes, and the id that the record carries."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import NamedTuple

from vault import lookup, paths
from vault.drafts import Draft
from vault.engine import Engine
from vault.record import Record
from vault.scan import RecordKey, is_record_name


class Naming(NamedTuple):
    """The file's place and the record's id."""

    key: RecordKey
    record_id: str


def choose(engine: Engine, draft: Draft, now: datetime) -> Naming:
    """Return the name: explicit slug, the id, what prompts and sessions are called by, the title, or kind and time."""
    wanted = draft.given.get("id")
    if draft.slug is not None:
        return _settled(engine, draft, _existing_name(engine, draft, draft.slug, "slug"), wanted)
    if wanted is not None:
        known = _carrier(engine, draft, wanted)
        if known is not None:
            return Naming(known.key, known.id)
        return _settled(engine, draft, _existing_name(engine, draft, wanted, "id"), wanted)
    return _settled(engine, draft, _derived(engine, draft, now), None)


def _settled(engine: Engine, draft: Draft, slug: str, wanted: str | None) -> Naming:
    key = paths.key_of(draft.project, draft.kind, slug)
    stored = engine.load(key)
    return Naming(key, wanted or (stored.record.id if stored else slug))


def _existing_name(engine: Engine, draft: Draft, text: str, field: str) -> str:
    """The slug; a file whose name is written exactly so (by hand, in capitals) is meant rather than a new one."""
    slug = paths.slug_of_name(text, field)
    exact = paths.key_of(draft.project, draft.kind, text)
    if text != slug and is_record_name(f"{text}.md") and exact.path(engine.root).is_file():
        return text
    return slug


def _carrier(engine: Engine, draft: Draft, record_id: str) -> Record | None:
    """The record of this kind that carries the id under another file name."""
    found = lookup.find(engine, draft.project, record_id, draft.kind, None)
    return found.record if found and found.record.id == record_id else None


def _derived(engine: Engine, draft: Draft, now: datetime) -> str:
    given = draft.given
    stamp = int(now.timestamp() * 1000)
    session = given.get("sessionId")
    if draft.kind == "prompt":
        if session and given.get("turn") is not None:
            return _safe(f"prompt-{session}-t{given['turn']}")
        return f"prompt-{stamp}-{engine.random_hex(3)}"
    if draft.kind == "session":
        return _safe(f"session-{session}") if session else _free(engine, draft, f"session-{stamp}")
    title = given.get("title")
    return _from_title(engine, draft, title, stamp) if isinstance(title, str) else _free(engine, draft, f"{draft.kind}-{stamp}")


def _safe(text: str) -> str:
    """A slug in which two different texts never meet: what was lost comes back as a digest."""
    slug, lossy = paths.derive_slug(text)
    return f"{slug}-{paths.digest(text)}" if lossy or slug != text.lower() else slug


def _from_title(engine: Engine, draft: Draft, title: str, stamp: int) -> str:
    slug, lossy = paths.derive_slug(title)
    if not slug:
        return _free(engine, draft, f"{draft.kind}-{stamp}")
    stored = engine.load(paths.key_of(draft.project, draft.kind, slug))
    if stored is None or _folded(stored.record.title) == _folded(title):
        return slug
    # `Caf` and `Café` both come to `caf`: where either lost letters, they are two records.
    theirs = stored.record.frontmatter.get("title")
    shortened = isinstance(theirs, str) and paths.derive_slug(theirs)[1]
    return f"{slug}-{paths.digest(title)}" if lossy or shortened else slug


def _folded(title: str) -> str:
    return unicodedata.normalize("NFC", " ".join(title.split())).casefold()


def _free(engine: Engine, draft: Draft, slug: str) -> str:
    """A made-up name must not hit a record that was made in the same millisecond."""
    while engine.load(paths.key_of(draft.project, draft.kind, slug)) is not None:
        slug = f"{slug}-{engine.random_hex(3)}"
    return slug
