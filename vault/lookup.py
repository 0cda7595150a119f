"""Finding one record: by kind and slug, by file name, by the id in the frontmatter, and in sibling projects."""

from __future__ import annotations

import re

from vault import paths
from vault.arguments import check_which, describe
from vault.engine import Engine
from vault.errors import AmbiguousId, PathRefused, RecordNotFound, UnreadableRecord, VaultError
from vault.kinds import LOCAL_KINDS
from vault.paths import check_kind
from vault.record import Record, Stored
from vault.scan import SUBDIRS, RecordKey, is_record_name

_WHITE = re.compile(r"\s")


def find(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None) -> Stored | None:
    """Return the record of one project, None without one.

    Raises AmbiguousId if files share the id, UnreadableRecord if the only file of that name does not parse.
    """
    check_which(record_id, kind, slug)
    for field, name in (("id", record_id), ("slug", slug)):
        check_name(engine, project, name, field)
    wanted = None if kind is None else check_kind(kind)
    if wanted is not None and slug is not None:
        found = by_slug(engine, project, wanted, slug)
        if found is not None or record_id is None:
            return found if record_id is None or (found and found.record.id == record_id) else None
    if record_id is None:
        return None
    named = _by_file_name(engine, project, record_id, wanted)
    if named is not None and named.record.id == record_id:
        return named
    # A file may be named as another record is called: what is listed under an id is found under it.
    return _by_id(engine, project, record_id, wanted) or named


def require(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None) -> Stored:
    """Return the record of one project. Raises RecordNotFound, and what `find` raises."""
    found = find(engine, project, record_id, kind, slug)
    if found is None:
        raise RecordNotFound(f"Record not found: {describe(record_id, kind, slug)} in project {project}")
    return found


def find_in_siblings(engine: Engine, project: str | None, record_id: str | None, kind: str | None, slug: str | None) -> Stored | None:
    """Return the one record of the other projects that answers to the name; None if there is none, or more than one."""
    found: list[Stored] = []
    for name in engine.projects():
        if name == project:
            continue
        try:
            match = find(engine, name, record_id, kind, slug)
        except AmbiguousId:
            return None
        except (UnreadableRecord, PathRefused):
            continue
        if match is not None and match.record.kind not in LOCAL_KINDS:
            found.append(match)
    return found[0] if len(found) == 1 else None


def check_name(engine: Engine, project: str, name: str | None, field: str) -> None:
    """Check a slug or id. Raises PathRefused for one that no new record may have and no record of the project has."""
    problem = None if name is None else paths.name_problem(name)
    if problem is not None and not is_known(engine, project, name):
        raise PathRefused(f"{field} {problem}")


def is_known(engine: Engine, project: str, name: object) -> bool:
    """Return whether a file of the project, which people name as they like, carries this id or file name."""
    if not isinstance(name, str):
        return False
    with engine.catalog.lock:
        known = engine.files_of(project)
        return bool(known.by_id.get(name)) or any(key.slug == name for key in known.entries)


def _names(text: str) -> list[str]:
    """File names that a slug or id may stand for: itself, and what it is as a slug."""
    try:
        slug = paths.slug_of_name(text, "slug")
    except PathRefused:  # a name that only a file of its own can have
        slug = text
    return [name for name in dict.fromkeys((text, slug)) if is_record_name(f"{name}.md")]


def by_slug(engine: Engine, project: str, kind: str, slug: str) -> Stored | None:
    """Return the record of this kind and file name, also one that a person put into the folder of another kind."""
    for name in _names(slug):
        found = engine.load(paths.key_of(project, kind, name))
        if found is not None and found.record.kind == kind:
            return found
    return _misplaced(engine, project, kind, slug)


def _misplaced(engine: Engine, project: str, kind: str, slug: str) -> Stored | None:
    names = _names(slug)
    with engine.catalog.lock:
        records = [entry.record for key, entry in engine.files_of(project).entries.items() if key.slug in names]
    found = [record for record in records if record is not None and record.kind == kind]
    if len(found) > 1:
        raise _ambiguous(project, slug, found)
    return engine.load(found[0].key) if found else None


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


def _ambiguous(project: str, name: str, records: list[Record]) -> AmbiguousId:
    places = ", ".join(sorted(paths.local_path(record.key) for record in records))
    text = f"the id {name!r} belongs to {len(records)} records of project {project}: {places}; name one by kind and slug"
    return AmbiguousId(_WHITE.sub(" ", text))
