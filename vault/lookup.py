"""Finding one record: by kind and slug, by file name, by the id in the frontmatter, and in sibling projects."""

from __future__ import annotations

import re

from vault import paths
from vault.arguments import check_lookup, describe
from vault.engine import Engine
from vault.errors import AmbiguousId, RecordNotFound, UnreadableRecord, VaultError
from vault.kinds import LOCAL_KINDS
from vault.paths import check_kind
from vault.record import Record, Stored
from vault.scan import SUBDIRS, RecordKey, is_record_name

_WHITE = re.compile(r"\s")


def find(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None) -> Stored | None:
    """Return the record of one project, None without one.

    Raises AmbiguousId if files share the id, UnreadableRecord if the only file of that name does not parse.
    """
    check_lookup(record_id, kind, slug)
    wanted = None if kind is None else check_kind(kind)
    if wanted is not None and slug is not None:
        found = _direct(engine, project, wanted, slug)
        if found is not None or record_id is None:
            return found if record_id is None or (found and found.record.id == record_id) else None
    if record_id is None:
        return None
    return _by_file_name(engine, project, record_id, wanted) or _by_id(engine, project, record_id, wanted)


def require(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None) -> Stored:
    """Return the record of one project. Raises RecordNotFound, and what `find` raises."""
    found = find(engine, project, record_id, kind, slug)
    if found is None:
        raise RecordNotFound(f"Record not found: {describe(record_id, kind, slug)} in project {project}")
    return found


def find_in_siblings(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None) -> Stored | None:
    """Return the one record of the other projects that answers to the name; None if there is none, or more than one."""
    found: list[Stored] = []
    for name in engine.projects():
        if name == project:
            continue
        try:
            match = find(engine, name, record_id, kind, slug)
        except AmbiguousId:
            return None
        except UnreadableRecord:
            continue
        if match is not None and match.record.kind not in LOCAL_KINDS:
            found.append(match)
    return found[0] if len(found) == 1 else None


def _names(text: str) -> list[str]:
    """File names that a slug or id may stand for: itself, and what it is as a slug."""
    return [name for name in dict.fromkeys((text, paths.slugify(text))) if is_record_name(f"{name}.md")]


def _direct(engine: Engine, project: str, kind: str, slug: str) -> Stored | None:
    for name in _names(slug):
        found = engine.load(paths.key_of(project, kind, name))
        if found is not None and found.record.kind == kind:
            return found
    return None


def _by_file_name(engine: Engine, project: str, record_id: str, kind: str | None) -> Stored | None:
    found: list[Stored] = []
    unreadable: VaultError | None = None
    for name in _names(record_id):
        for subdir in SUBDIRS:
            try:
                stored = engine.load(RecordKey(project, subdir, name))
            except UnreadableRecord as error:
                unreadable = error
                continue
            if stored is not None and kind in (None, stored.record.kind):
                found.append(stored)
    if len(found) > 1:
        found = [stored for stored in found if stored.record.id == record_id] or found
    if len(found) > 1:
        raise _ambiguous(project, record_id, [stored.record for stored in found])
    if not found and unreadable is not None and not engine.files_of(project).by_id.get(record_id):
        raise unreadable
    return found[0] if found else None


def _by_id(engine: Engine, project: str, record_id: str, kind: str | None) -> Stored | None:
    with engine.catalog.lock:
        known = engine.files_of(project)
        entries = [known.entries[key].record for key in known.by_id.get(record_id, ())]
    records = [record for record in entries if record is not None and kind in (None, record.kind)]
    if len(records) > 1:
        raise _ambiguous(project, record_id, records)
    return engine.load(records[0].key) if records else None


def _ambiguous(project: str, record_id: str, records: list[Record]) -> AmbiguousId:
    places = ", ".join(sorted(paths.local_path(record.key) for record in records))
    text = f"the id {record_id!r} belongs to {len(records)} records of project {project}: {places}; name one by kind and slug"
    return AmbiguousId(_WHITE.sub(" ", text))
