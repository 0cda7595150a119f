"""What the files of a project hold, kept in memory and brought up to date by looking at the files' states."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault import record as records
from vault.catalog_cache import CatalogCache, Entry
from vault.errors import VaultError
from vault.record import Record
from vault.scan import SUBDIRS, FileState, RecordKey, scan_records

# A file changed again within one tick of the file system's clock has the same state: such a look is not trusted.
_TICK_NS = 50_000_000
_SMALL = 500  # files that are looked at on every occasion
_PATIENCE = 20  # a larger project is looked at again after this many times what a look costs


@dataclass(slots=True)
class Change:
    """One difference that a look at the files brought to light."""

    key: RecordKey
    before: Record | None
    after: Record | None


@dataclass(slots=True)
class ProjectFiles:
    """The records of one project by key and by id."""

    name: str
    entries: dict[RecordKey, Entry] = field(default_factory=dict)
    by_id: defaultdict[str, set[RecordKey]] = field(default_factory=lambda: defaultdict(set))
    folders: dict[str, int] = field(default_factory=dict)
    looked_at: float = 0.0
    cost: float = 0.0

    def records(self) -> Iterator[Record]:
        """Every record that could be read."""
        return (entry.record for entry in self.entries.values() if entry.record is not None)

    def put(self, key: RecordKey, entry: Entry) -> None:
        """Set what is known of one file."""
        self.drop(key)
        self.entries[key] = entry
        if entry.record is not None:
            self.by_id[entry.record.id].add(key)

    def drop(self, key: RecordKey) -> None:
        """Forget one file."""
        old = self.entries.pop(key, None)
        if old is not None and old.record is not None:
            self.by_id[old.record.id].discard(key)


class Catalog:
    """The records of all projects of the vault at `root`. Thread-safe.

    `on_change(change)` is called, under the catalog's own lock, for each difference, wherever it came from.
    """

    def __init__(self, root: Path, on_change: Callable[[Change], None], is_vault: Callable[[], bool]) -> None:
        self.lock = threading.RLock()
        self.cache = CatalogCache(root, is_vault)
        self._root = root
        self._on_change = on_change
        self._projects: dict[str, ProjectFiles] = {}

    def project(self, name: str, *, watched: bool = False, patient: bool = False) -> ProjectFiles:
        """Return the project's records as the files now are.

        `watched`: somebody calls `look` for each change, so a known project is taken as it is. `patient`: of a large
        project, edits in place may be seen a little later (new, renamed and removed files are seen at once).
        """
        with self.lock:
            known = self._projects.get(name)
            if known is None:
                known = self._projects[name] = self._first_look(name)
            elif not watched and not (patient and self._fresh(known)):
                self._compare(known)
            return known

    def look(self, key: RecordKey) -> Change | None:
        """Read one file again, whatever its state; return the difference, if any."""
        with self.lock:
            known = self.project(key.project, watched=True)
            change = self._reread(known, key, _state(key.path(self._root)))
            known.folders[key.subdir] = _folder_state(self._root, key)
            if change is not None:
                self._on_change(change)
            return change

    def _first_look(self, name: str) -> ProjectFiles:
        known = ProjectFiles(name)
        for key, entry in self.cache.load(name).items():
            known.put(key, entry)
        self._compare(known, quietly=True)
        return known

    def _fresh(self, known: ProjectFiles) -> bool:
        if len(known.entries) <= _SMALL or time.monotonic() - known.looked_at > _PATIENCE * known.cost:
            return False
        return not self.cache.changed_elsewhere() and known.folders == self._folder_states(known.name)

    def _folder_states(self, name: str) -> dict[str, int]:
        return {subdir: _folder_state(self._root, RecordKey(name, subdir, "")) for subdir in SUBDIRS}

    def _compare(self, known: ProjectFiles, *, quietly: bool = False) -> None:
        start = time.monotonic()
        # Before the scan: a file that comes meanwhile makes the next look find another state.
        folders = self._folder_states(known.name)
        found = scan_records(self._root, known.name)
        changes: list[Change] = []
        changed = [key for key, state in found.items() if not _trusted(known.entries.get(key), state)]
        gone = [key for key in known.entries if key not in found]
        for key in [*changed, *gone]:
            change = self._reread(known, key, found.get(key), store=False)
            if change is not None:
                changes.append(change)
        self._remember(known, changed, gone, dirty=bool(changes))
        known.folders = folders
        known.looked_at = time.monotonic()
        known.cost = known.looked_at - start
        for change in changes if not quietly else ():
            self._on_change(change)

    def _remember(self, known: ProjectFiles, changed: list[RecordKey], gone: list[RecordKey], *, dirty: bool) -> None:
        if dirty:
            self.cache.mark_views(known.name, dirty=True)
        if changed:
            self.cache.store((key, known.entries[key]) for key in changed if key in known.entries)
        if gone:
            self.cache.drop(gone)

    def _reread(self, known: ProjectFiles, key: RecordKey, state: FileState | None, *, store: bool = True) -> Change | None:
        old = known.entries.get(key)
        before = old.record if old else None
        if state is None:
            known.drop(key)
            if store:
                self.cache.drop([key])
            return Change(key, before, None) if before else None
        entry = self._read(key, state)
        if entry is None:
            return None
        known.put(key, entry)
        if store:
            self.cache.store([(key, entry)])
        return None if before == entry.record else Change(key, before, entry.record)

    def _read(self, key: RecordKey, state: FileState) -> Entry | None:
        checked = time.time_ns()
        try:
            stored = records.load(self._root, key)
        except VaultError as error:
            return Entry(state, checked, None, error.message)
        return Entry(state, checked, stored.record) if stored else None


def _trusted(entry: Entry | None, state: FileState) -> bool:
    return entry is not None and entry.state == state and entry.checked_ns - state.mtime_ns > _TICK_NS


def _state(path: Path) -> FileState | None:
    try:
        stat = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileState(stat.st_mtime_ns, stat.st_size)


def _folder_state(root: Path, key: RecordKey) -> int:
    try:
        return (root / "projects" / key.project / key.subdir).lstat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
