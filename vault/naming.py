"""Which file an upsert writes, and the id that the record carries."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from vault import lookup, paths
from vault.drafts import Draft
from vault.engine import Engine
from vault.errors import UnreadableRecord
from vault.record import Record
from vault.scan import RecordKey


class Naming(NamedTuple):
    """The file's place and the record's id."""

    key: RecordKey
    record_id: str


def choose(engine: Engine, draft: Draft, now: datetime) -> Naming:
    """Return the name: explicit slug, the id, what prompts and sessions are called by, the title, or kind and time."""
    wanted = draft.given.get("id")
    if draft.slug is not None:
        return _settled(engine, _by_slug(engine, draft, draft.slug), wanted)
    if wanted is not None:
        return Naming(_by_id(engine, draft, wanted), wanted)
    return _settled(engine, paths.key_of(draft.project, draft.kind, _derived(engine, draft, now)), None)


def _settled(engine: Engine, key: RecordKey, wanted: str | None) -> Naming:
    stored = engine.load(key)
    return Naming(key, wanted or (stored.record.id if stored else key.slug))


def _by_slug(engine: Engine, draft: Draft, slug: str) -> RecordKey:
    """The place of an explicit slug; a file that a person named so, or put into another folder, is meant rather than a new one."""
    known = lookup.by_slug(engine, draft.project, draft.kind, slug)
    return known.record.key if known else paths.key_of(draft.project, draft.kind, paths.slug_of_name(slug, "slug"))


def _by_id(engine: Engine, draft: Draft, record_id: str) -> RecordKey:
    """The place of an explicit id: the record that carries it, else a file named for it."""
    known = lookup.find(engine, draft.project, record_id, draft.kind, None)
    if known is not None and known.record.id == record_id:
        return known.record.key
    slug = paths.slug_of_name(record_id, "id")
    # `a b` and `a-b` come to one slug and are two ids.
    return paths.key_of(draft.project, draft.kind, _unshared(engine, draft, slug, record_id, lambda record: record.id == record_id))


def _derived(engine: Engine, draft: Draft, now: datetime) -> str:
    given = draft.given
    stamp = int(now.timestamp() * 1000)
    session = given.get("sessionId")
    if draft.kind == "prompt":
        if session and given.get("turn") is not None:
            return _of_session(engine, draft, f"prompt-{session}-t{given['turn']}")
        return f"prompt-{stamp}-{engine.random_hex(3)}"
    if draft.kind == "session":
        return _of_session(engine, draft, f"session-{session}") if session else _free(engine, draft, f"session-{stamp}")
    title = given.get("title") or ""
    slug = paths.derive_slug(title)[0]
    return _from_title(engine, draft, title, slug) if slug else _free(engine, draft, f"{draft.kind}-{stamp}")


def _of_session(engine: Engine, draft: Draft, text: str) -> str:
    """A slug in which two sessions never meet: what was lost comes back as a digest."""
    slug, lossy = paths.derive_slug(text)
    if lossy or slug != text.lower():
        return paths.with_digest(slug, text)
    session = draft.given["sessionId"]
    return _unshared(engine, draft, slug, text, lambda record: record.frontmatter.get("sessionId") == session)


def _from_title(engine: Engine, draft: Draft, title: str, slug: str) -> str:
    """The slug of a title: that of the record with this very title, else one that no other record has."""
    lossy = paths.derive_slug(title)[1]
    whole = paths.with_digest(slug, title)
    for name in (slug, whole):
        if _is_titled(_peek(engine, draft, name), title):
            return name
    # The title says that a record without a title of its own is meant, if it is named for nothing else.
    return whole if lossy else _unshared(engine, draft, slug, title, lambda record: record.frontmatter.get("title") is None)


def _is_titled(record: Record | None, title: str) -> bool:
    written = None if record is None else record.frontmatter.get("title")
    return isinstance(written, str) and _plain(written) == _plain(title)


def _plain(title: str) -> str:
    return unicodedata.normalize("NFC", " ".join(title.split()))


def _unshared(engine: Engine, draft: Draft, slug: str, text: str, is_meant: Callable[[Record], bool]) -> str:
    """The slug if it is free or its record is the one that is meant; else the slug with a digest of what it was made of."""
    stored = engine.load(paths.key_of(draft.project, draft.kind, slug))
    return slug if stored is None or stored.record.kind != draft.kind or is_meant(stored.record) else paths.with_digest(slug, text)


def _peek(engine: Engine, draft: Draft, slug: str) -> Record | None:
    try:
        stored = engine.load(paths.key_of(draft.project, draft.kind, slug))
    except UnreadableRecord:
        return None  # whoever writes there is told
    return stored.record if stored else None


def _free(engine: Engine, draft: Draft, slug: str) -> str:
    """A made-up name must not hit a record that was made in the same millisecond."""
    while engine.load(paths.key_of(draft.project, draft.kind, slug)) is not None:
        slug = f"{slug}-{engine.random_hex(3)}"
    return slug
