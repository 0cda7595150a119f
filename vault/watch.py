"""Tells of every change to a vault's records, whoever made it: the commands, an editor, a git pull."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from watchfiles import Change as FileChange
from watchfiles import awatch

from vault.errors import PathRefused
from vault.files import make_root
from vault.scan import SUBDIRS, FileState, RecordKey, is_project_id, is_record_name, scan_records

_SETTLE = 400  # milliseconds at most in which further events join a batch
_STEP = 50  # milliseconds without an event that end a batch
_RESCAN = 30.0  # seconds after which everything is looked at, should the system have dropped an event

Snapshot = Mapping[RecordKey, FileState]


class ChangeKind(StrEnum):
    """What became of a record file."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class VaultChange(NamedTuple):
    """One record file that is not what it was; `state` is what it is now, None once deleted."""

    project: str
    subdir: str
    slug: str
    kind: ChangeKind
    state: FileState | None

    @property
    def key(self) -> RecordKey:
        """The record's place."""
        return RecordKey(self.project, self.subdir, self.slug)


async def watch(
    root: Path, known: Snapshot | None = None, stop: asyncio.Event | None = None, rescan: float = _RESCAN
) -> AsyncGenerator[list[VaultChange]]:
    """Batches of changes since `known` (None: since now), each record at most once per batch, until `stop` is set.

    Events only say where to look: what is told is the difference between two looks, so that none is lost or told twice.
    A file written several times between two looks is one change. Raises PathRefused if the root is no folder.
    """
    projects = _projects(root)
    seen = dict(scan_records(root) if known is None else known)
    bell = awatch(
        projects,
        watch_filter=_Filter(projects),
        debounce=_SETTLE,
        step=_STEP,
        rust_timeout=int(rescan * 1000),
        yield_on_timeout=True,
        stop_event=asyncio.Event() if stop is None else stop,
        ignore_permission_denied=True,
    )
    ringing = asyncio.ensure_future(anext(bell, None))
    try:
        await asyncio.sleep(0)  # lets the bell start, so that what happens during the first look rings
        everything: set[tuple[FileChange, str]] = set()
        events: set[tuple[FileChange, str]] | None = everything
        while events is not None:
            changes = await asyncio.to_thread(_look, root, seen, _touched(projects, events))
            if changes:
                yield changes
            events = await ringing
            ringing = asyncio.ensure_future(anext(bell, None))
    finally:
        ringing.cancel()
        await asyncio.gather(ringing, return_exceptions=True)
        await bell.aclose()


def _projects(root: Path) -> Path:
    """The folder to watch, made if it is missing, with links resolved as the system reports its events."""
    folder = Path(os.path.realpath(root)) / "projects"
    try:
        make_root(folder.parent)
        folder.mkdir(exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise PathRefused("the vault root is a file, not a folder; it was left untouched") from error
    return folder


class _Filter:
    """Lets through what can change a record: no temporary file, conflict copy or view."""

    def __init__(self, projects: Path) -> None:
        self._projects = projects

    def __call__(self, change: FileChange, path: str) -> bool:
        match _parts(self._projects, path):
            case (project,):
                return is_project_id(project)
            case (project, subdir):
                return is_project_id(project) and subdir in SUBDIRS
            case (project, subdir, name):
                return is_project_id(project) and subdir in SUBDIRS and is_record_name(name)
        return change is FileChange.deleted and Path(path) == self._projects


def _parts(projects: Path, path: str) -> tuple[str, ...]:
    try:
        return Path(path).relative_to(projects).parts
    except ValueError:
        return ()


def _touched(projects: Path, events: Iterable[tuple[FileChange, str]]) -> set[str] | None:
    """The projects to look at; None for all of them."""
    names = {_parts(projects, path)[:1] for _, path in events}
    return {name for (name,) in names} if names and () not in names else None


def _look(root: Path, seen: dict[RecordKey, FileState], projects: set[str] | None) -> list[VaultChange]:
    """The differences to what was seen, which is brought up to date."""
    now: dict[RecordKey, FileState] = {}
    for project in [None] if projects is None else sorted(projects):
        now |= scan_records(root, project)
    before = seen.keys() if projects is None else {key for key in seen if key.project in projects}
    changes = []
    for key in sorted(before | now.keys()):
        old, new = seen.get(key), now.get(key)
        if new is None:
            del seen[key]
            changes.append(VaultChange(*key, ChangeKind.DELETED, None))
        elif old != new:
            seen[key] = new
            changes.append(VaultChange(*key, ChangeKind.CREATED if old is None else ChangeKind.UPDATED, new))
    return changes
