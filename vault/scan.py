"""Which files of a vault are records, and their state on disk."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SUBDIRS = ("traps", "decisions", "specs", "plans", "logs", "reviews", "scratch", "prompts", "sessions")

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
LOCK_FILE = ".memo.lock"  # at the root of every vault that memo has written in
LONGEST_PROJECT_ID = 200
_LONGEST_NAME = 255  # bytes of a file's name, on every file system in use
CONFLICT_MARKS = (".conflict.", ".sync-conflict-")


class RecordKey(NamedTuple):
    """Where a record's file is: projects/<project>/<subdir>/<slug>.md."""

    project: str
    subdir: str
    slug: str

    def path(self, root: Path) -> Path:
        """Absolute path of the file in the vault at `root`."""
        return root / "projects" / self.project / self.subdir / f"{self.slug}.md"


class FileState(NamedTuple):
    """What tells an edited file from an unchanged one: nanoseconds and bytes."""

    mtime_ns: int
    size: int


def is_record_name(name: str) -> bool:
    """True if a file of this name in a record folder is a record: no temporary file, no conflict copy."""
    return (
        name.endswith(".md")
        and len(name) <= _LONGEST_NAME
        and _NAME.fullmatch(name) is not None
        and not any(mark in name for mark in CONFLICT_MARKS)
    )


def is_project_id(name: str) -> bool:
    """True for one plain path segment: letters, digits, `.`, `_`, `-`, no leading dot, no two in a row, at most 200 characters."""
    return len(name) <= LONGEST_PROJECT_ID and _NAME.fullmatch(name) is not None and ".." not in name


def scan_records(root: Path, project: str | None = None) -> dict[RecordKey, FileState]:
    """The state of every record file of one project or of all; symbolic links are not followed."""
    names = _folders(root / "projects") if project is None else iter([project])
    found: dict[RecordKey, FileState] = {}
    for name in names:
        if is_project_id(name):
            for subdir in SUBDIRS:
                _scan_folder(root, name, subdir, found)
    return found


def _folders(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return


def _scan_folder(root: Path, project: str, subdir: str, found: dict[RecordKey, FileState]) -> None:
    folder = root / "projects" / project / subdir
    if folder.is_symlink() or folder.parent.is_symlink():
        return
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if not is_record_name(entry.name):
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # removed between the listing and the look
                continue
            found[RecordKey(project, subdir, entry.name[:-3])] = FileState(stat.st_mtime_ns, stat.st_size)
