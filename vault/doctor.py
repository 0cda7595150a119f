"""What is wrong in a vault, file by file, and what can be put right without a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault import paths
from vault.engine import Engine
from vault.errors import VaultError
from vault.frontmatter import has_conflict_marks
from vault.kinds import SUBDIRS
from vault.record import Record
from vault.scan import CONFLICT_MARKS, RecordKey, is_record_name
from vault.schema import problems_of
from vault.secrets import scan

if TYPE_CHECKING:
    from vault.git.history import GitReport


_IGNORED = "a pattern in the vault's .gitignore or .git/info/exclude keeps it out of the history"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: `type` is stable, `path` is below the vault's root."""

    type: str
    path: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """The problem as JSON values."""
        return {"type": self.type, "path": self.path, "message": self.message}


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `ok` is true without problems; `repaired` names what was put right.

    `uncommitted`: files that wait for the next commit of the vault's git.
    """

    problems: tuple[Problem, ...]
    projects: int
    records: int
    repaired: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "ok": self.ok,
            "projects": self.projects,
            "records": self.records,
            "problems": [problem.to_dict() for problem in self.problems],
            "repaired": list(self.repaired),
            "uncommitted": list(self.uncommitted),
        }


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: projects whose views were brought up to date, re-indexed files, and git's report."""

    projects: tuple[str, ...]
    indexed: int
    git: GitReport

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        git = {"enabled": self.git.enabled, "commit": self.git.commit, "pushed": self.git.pushed, "pending": self.git.pending}
        return {"projects": list(self.projects), "indexed": self.indexed, "git": {**git, "error": self.git.error}}


def repair(engine: Engine) -> tuple[list[str], int]:
    """Bring views and index of all projects up to date; return the projects that were behind, and how many files were re-indexed."""
    behind = []
    for project in engine.projects():
        engine.files_of(project)
        if engine.catalog.cache.views_dirty(project) or _missing_views(engine, project):
            engine.catalog.cache.mark_views(project, dirty=True)
            engine.settle(project, wait=True)
            behind.append(project)
    indexed = engine.index.refresh() if engine.is_vault() else 0
    engine.tell()
    return behind, indexed


def _missing_views(engine: Engine, project: str) -> bool:
    from vault.views import VIEW_NAMES

    folder = paths.project_folder(engine.root, project)
    return any(not (folder / f"{name}.md").is_file() for name in VIEW_NAMES)


def sync(engine: Engine) -> SyncReport:
    """Pick up hand edits, then commit and push what is waiting. A failing git is in the report."""
    behind, indexed = repair(engine)
    return SyncReport(tuple(behind), indexed, flush(engine))


def flush(engine: Engine, *, automatic: bool = False) -> GitReport:
    """Commit what is waiting and push; in a folder that is no vault, nothing. `automatic`: not asked for by the user."""
    from vault.git.history import GitReport

    return engine.git.flush(automatic=automatic) if engine.is_vault() else GitReport(enabled=engine.config.git.enabled)


def examine(engine: Engine) -> Report:
    """Check every file of the vault, and repair index and views on the way."""
    problems: list[Problem] = []
    behind, indexed = list[str](), 0
    try:
        behind, indexed = repair(engine)
    except VaultError as error:  # a busy or read-only vault, a full disk: the files can be checked all the same
        problems.append(Problem("not-repaired", "", error.message))
    repaired = [f"views of {project}" for project in behind] + ([f"index: {indexed} files"] if indexed else [])
    records = 0
    projects = engine.projects()
    for project in projects:
        with engine.catalog.lock:
            known = engine.files_of(project)
            entries = sorted(known.entries.items())
            shared = {name: sorted(keys) for name, keys in known.by_id.items() if len(keys) > 1}
        for key, entry in entries:
            if entry.record is None:
                problems.append(Problem("unreadable", paths.local_path(key), entry.problem or "it cannot be read"))
            else:
                records += 1
                problems += _record_problems(entry.record)
        problems += _duplicates(shared)
        problems += _odd_files(engine.root, project)
    waiting: tuple[str, ...] = ()
    if engine.config.git.enabled and engine.is_vault():
        missing = engine.git.missing()
        problems += [Problem("not-in-history", path, _IGNORED) for path in missing.ignored]
        problems += [Problem("git-failed", "", missing.error)] if missing.error else []
        waiting = missing.waiting
    return Report(tuple(problems), len(projects), records, tuple(repaired), waiting)


def _record_problems(record: Record) -> Iterator[Problem]:
    place = paths.local_path(record.key)
    found = scan(record.frontmatter, "frontmatter") + scan(record.body, "body")
    for where, kind in dict.fromkeys((finding.where, finding.kind) for finding in found):
        yield Problem("secret", place, f"{where} holds what looks like a secret ({kind}); take it out, and replace the secret itself")
    if has_conflict_marks(record.body):
        yield Problem("merge-conflict", place, "the body holds the marks of an unfinished merge (<<<<<<<)")
    for text in problems_of(record.frontmatter):
        yield Problem("invalid-value", place, text)
    if SUBDIRS[record.kind] != record.key.subdir:
        yield Problem("wrong-folder", place, f"a {record.kind} belongs in {SUBDIRS[record.kind]}/")
    if record.frontmatter["project"] != record.project:
        yield Problem("wrong-project", place, f"the frontmatter names another project than the folder {record.project}")


def _duplicates(shared: dict[str, list[RecordKey]]) -> Iterator[Problem]:
    for keys in shared.values():
        places = ", ".join(paths.local_path(key) for key in keys)
        for key in keys:
            yield Problem("duplicate-id", paths.local_path(key), f"several records carry one id: {places}")


def _odd_files(root: Path, project: str) -> Iterator[Problem]:
    for subdir in dict.fromkeys(SUBDIRS.values()):
        folder = paths.project_folder(root, project) / subdir
        place = f"projects/{project}/{subdir}"
        if folder.is_symlink():
            yield Problem("symbolic-link", place, "the vault reads and writes only plain folders")
            continue
        try:
            with os.scandir(folder) as entries:
                found = sorted((entry.name, entry.is_symlink()) for entry in entries)
        except OSError:
            continue
        for name, linked in found:
            problem = _odd_name(name, linked=linked)
            if problem is not None:
                yield Problem(problem[0], f"{place}/{name}".encode("utf-8", "replace").decode(), problem[1])


def _odd_name(name: str, *, linked: bool) -> tuple[str, str] | None:
    if linked:
        return "symbolic-link", "the vault reads and writes only plain files"
    if any(mark in name for mark in CONFLICT_MARKS):
        return "conflict-copy", "a copy that a sync tool left; merge it into the record and remove it"
    if name.endswith(".md") and not name.startswith(".") and not is_record_name(name):
        return "odd-name", "a record's file name holds only letters, digits, dots, dashes and underscores"
    return None
