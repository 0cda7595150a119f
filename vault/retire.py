"""Taking records out of use: archiving, purging with a tombstone, and collecting what has expired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from vault import files, lookup
from vault.arguments import check_project
from vault.engine import Engine
from vault.record import Record, Stored

TOMBSTONES = "tombstones"


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What became of a record; `record` is what it was last."""

    id: str
    status: str
    purged: bool
    record: Record
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values."""
        answer: dict[str, Any] = {"id": self.id, "status": self.status, "purged": self.purged}
        return {**answer, "warnings": list(self.warnings)} if self.warnings else answer


@dataclass(frozen=True, slots=True)
class Collected:
    """One expired record, and whether it was archived or purged (or would have been)."""

    project: str
    id: str
    kind: str
    path: str
    action: str

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON values."""
        return {"project": self.project, "id": self.id, "kind": self.kind, "path": self.path, "action": self.action}


def forget(engine: Engine, project: str, record_id: str | None, kind: str | None, slug: str | None, *, purge: bool) -> ForgetResult:
    """Archive a record, or remove its file and leave a tombstone. Raises RecordNotFound and AmbiguousId."""
    check_project(project)
    lookup.require(engine, project, record_id, kind, slug)  # a miss must not make a folder or a commit
    with engine.mutation(project) as warnings:
        stored = lookup.require(engine, project, record_id, kind, slug)
        record = _retire(engine, stored, purge=purge)
    return ForgetResult(record.id, "purged" if purge else record.status, purge, record, tuple(warnings.texts))


def _retire(engine: Engine, stored: Stored, *, purge: bool) -> Record:
    record = _purge(engine, stored) if purge else _archive(engine, stored)
    engine.request_commit(f"forget {'purge' if purge else 'archive'} {record.kind}:{record.id}")
    return record


def _archive(engine: Engine, stored: Stored) -> Record:
    return engine.edit(stored, {"status": "archived", "updated": engine.now_text()})


def _purge(engine: Engine, stored: Stored) -> Record:
    record = stored.record
    stone = {"id": record.id, "kind": record.kind, "subdir": record.key.subdir, "slug": record.slug, "purged": engine.now_text()}
    # First the tombstone: a purge that is cut short is then finished by the next one, and never forgotten.
    files.append_line(files.make_folder(engine.root, TOMBSTONES), f"{record.project}.jsonl", orjson.dumps(stone).decode())
    engine.unlink(record.key)
    return engine.present(record)


def gc(engine: Engine, project: str | None, *, purge: bool, dry_run: bool) -> list[Collected]:
    """Archive (or purge) every expired record of one project or all; archived ones are left unless purging."""
    names = engine.projects() if project is None else [check_project(project)]
    collected: list[Collected] = []
    for name in names:
        due = _due(engine, name, purge=purge)
        if due and not dry_run:
            _collect(engine, name, due, purge=purge)
        action = "purged" if purge else "archived"
        collected += [Collected(name, record.id, record.kind, record.display_path, action) for record in due]
    return collected


def _due(engine: Engine, project: str, *, purge: bool) -> list[Record]:
    records = [engine.present(record) for record in engine.all_records(project)]
    due = [record for record in records if record.expired and (purge or record.status != "archived")]
    return sorted(due, key=lambda record: record.key)


def _collect(engine: Engine, project: str, due: list[Record], *, purge: bool) -> None:
    with engine.mutation(project):
        for record in due:
            stored = engine.load(record.key)
            if stored is None or not engine.present(stored.record).expired:
                continue  # changed since it was looked at
            _retire(engine, stored, purge=purge)
