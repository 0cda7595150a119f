"""What every operation of the vault stands on: the lock, the catalog, the index, the views, git and the change hook."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault import config as configuration
from vault import files, frontmatter, paths, record, salience
from vault.catalog import Catalog, Change, ProjectFiles
from vault.config import VaultConfig
from vault.errors import ConfigInvalid, IndexFailed, LockTimeout, VaultError
from vault.kinds import SUBDIRS
from vault.record import Record, Stored
from vault.scan import LOCK_FILE, RecordKey, scan_records
from vault.times import Clock, to_text, utc_now
from vault.trapfinder import TrapFinder
from vault.ttl import expiry_text, is_expired
from vault.views import ProjectViews

if TYPE_CHECKING:  # each is slow to import and not every command needs it
    from vault.git.history import VaultGit
    from vault.index import Index, IndexEntry
    from vault.lock import VaultLock

_SAMPLE = 100  # files that are read to find a record among them
_MAX_PAGE = 1024 * 1024 * 1024  # bytes

ChangeHook = Callable[[str, str, str, str, str], None]


@dataclass(slots=True)
class Warnings:
    """What went wrong beside a write that itself succeeded."""

    texts: list[str] = field(default_factory=list)

    def add(self, text: str | None) -> None:
        """Note one text, if there is one."""
        if text:
            self.texts.append(text)


class Engine:
    """One vault in one process. Thread-safe: mutations take the vault's lock, reads only the catalog's."""

    def __init__(
        self,
        root: Path,
        *,
        config: VaultConfig | None = None,
        on_change: ChangeHook | None = None,
        clock: Clock = utc_now,
        random_hex: Callable[[int], str] = files.random_hex,
        watched: bool = False,
        lock_timeout: float = 30.0,
        before_write: Callable[[], None] | None = None,
    ) -> None:
        self.root = root.expanduser().resolve()
        if self.root.exists() and not self.root.is_dir():
            raise ConfigInvalid(f"the vault's root {self.root} is a file, not a folder")
        self.config = configuration.load(self.root) if config is None else config
        self.clock, self.random_hex, self.watched = clock, random_hex, watched
        self.catalog = Catalog(self.root, self._on_change, self.is_vault)
        self._vault_seen = False
        self._before_write = before_write
        self.warnings = Warnings()
        self._unread = threading.local()
        self._hook = on_change
        self._events: deque[tuple[str, str, str, str, str]] = deque()
        self._views: dict[str, ProjectViews] = {}
        self._traps: dict[str, TrapFinder] = {}
        self._clean: set[str] = set()
        self._lock_timeout = lock_timeout

    # ------------------------------------------------------------------ time and reading

    def now(self) -> datetime:
        """The present moment by the vault's clock."""
        return self.clock()

    def now_text(self) -> str:
        """The present moment as the vault writes it."""
        return to_text(self.clock())

    def present(self, found: Record) -> Record:
        """Return the record with its expired mark."""
        expired = is_expired(found.frontmatter, found.kind, self.config, self.now())
        return Record(found.key, found.kind, found.id, found.status, found.frontmatter, found.body, expired)

    def files_of(self, project: str, *, patient: bool = False) -> ProjectFiles:
        """The records of a project as its files now are."""
        with self.catalog.lock:
            fresh = project not in self._views
            if fresh and not paths.project_folder(self.root, project).is_dir():
                return ProjectFiles(project)  # a name that callers made up is not remembered
            known = self.catalog.project(project, watched=self.watched, patient=patient)
            if fresh:
                self._views[project] = views = ProjectViews(self.root, project)
                views.fill(known.records())
            return known

    def refresh(self, project: str) -> None:
        """Look at the project's files even if somebody else watches them."""
        with self.catalog.lock:
            # First the views are filled, then each difference reaches them.
            self.files_of(project)
            self.catalog.project(project)

    def all_records(self, project: str) -> list[Record]:
        """Every readable record of a project, without expired marks."""
        with self.catalog.lock:
            return list(self.files_of(project).records())

    def is_vault(self) -> bool:
        """Return whether the folder is a vault: memo has written in it, or it holds a record. Reading leaves nothing in any other."""
        self._vault_seen = self._vault_seen or (self.root / LOCK_FILE).exists() or self._holds_record()
        return self._vault_seen

    def _holds_record(self) -> bool:
        for key in itertools.islice(scan_records(self.root), _SAMPLE):
            with contextlib.suppress(VaultError):
                if self.load(key) is not None:
                    return True
        return False

    def projects(self) -> list[str]:
        """The names of all projects, sorted."""
        folder = self.root / "projects"
        try:
            names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in names if paths.project_problem(name) is None]

    def traps_of(self, project: str) -> TrapFinder:
        """The living traps of a project, ready to be compared."""
        with self.catalog.lock:
            known = self.files_of(project, patient=True)
            if project not in self._traps:
                self._traps[project] = TrapFinder(known.records())
            return self._traps[project]

    # ------------------------------------------------------------------ writing

    def lock(self, timeout: float | None = None) -> VaultLock:
        """The vault's lock; it makes the root if it is missing."""
        from vault.lock import VaultLock

        files.make_folder(self.root)
        return VaultLock(self.root, self._lock_timeout if timeout is None else timeout)

    @contextlib.contextmanager
    def mutation(self, project: str, timeout: float | None = None) -> Iterator[Warnings]:
        """Hold the lock; afterwards bring the views up to date and tell the hook. `timeout`: seconds, instead of the vault's own."""
        try:
            with self.lock(timeout):
                if self._before_write is not None:
                    self._before_write()
                self.warnings = self._unread.warnings = warnings = Warnings()
                files.make_folder(self.root, "projects", project)
                self.files_of(project, patient=True)
                try:
                    yield warnings
                finally:
                    # Also after a failure: some of the operation's files may have been written.
                    self._compile(project)
        finally:
            self.tell()

    def take_warnings(self) -> tuple[str, ...]:
        """Return what went wrong beside this thread's last mutation, once."""
        warnings = getattr(self._unread, "warnings", None)
        self._unread.warnings = None
        return tuple(warnings.texts) if warnings else ()

    def save(self, key: RecordKey, text: str) -> Record:
        """Write one record's file and bring catalog and index up to date. Call it within `mutation`."""
        paths.guard(self.root, key)
        folder = files.make_folder(self.root, "projects", key.project, key.subdir)
        # First: whoever is killed before the views are written leaves the mark to the next process.
        self.catalog.cache.mark_views(key.project, dirty=True)
        files.write_atomic(folder, f"{key.slug}.md", text.encode())
        self.catalog.look(key)
        stored = self.load(key)
        if stored is None:
            raise VaultError(f"{paths.local_path(key)} vanished while it was written")
        self._try_index(lambda index: index.upsert(self.index_entry(stored.record)))
        return self.present(stored.record)

    def edit(self, stored: Stored, changes: Mapping[str, Any]) -> Record:
        """Set these keys of a record's frontmatter and leave the rest of its file. Call it within `mutation`."""
        key = stored.record.key
        return self.save(key, frontmatter.edit(stored.document, changes, where=paths.local_path(key)))

    def unlink(self, key: RecordKey) -> None:
        """Remove one record's file for good. Call it within `mutation`."""
        paths.guard(self.root, key)
        self.catalog.cache.mark_views(key.project, dirty=True)
        files.remove(key.path(self.root).parent, f"{key.slug}.md")
        self.catalog.look(key)
        self._try_index(lambda index: index.remove(key))

    @cached_property
    def git(self) -> VaultGit:
        """The vault's git history."""
        from vault.git.history import VaultGit

        return VaultGit(self.root, self.config.git)

    def request_commit(self, message: str) -> None:
        """Ask git for a commit; a failure becomes a warning."""
        if not self.config.git.enabled:
            return
        self.warnings.add(self.git.request_commit(message).error)

    def load(self, key: RecordKey) -> Stored | None:
        """Read one record from its file. Raises UnreadableRecord and PathRefused."""
        return record.load(self.root, key)

    # ------------------------------------------------------------------ views

    def _compile(self, project: str) -> None:
        folder = paths.project_folder(self.root, project)
        with self.catalog.lock:
            try:
                self._views[project].write(self.now_text())
            except VaultError as error:
                self.warnings.add(f"the compiled views were not written: {error.message}")
                return
            self.catalog.cache.mark_views(project, dirty=False)
        for part in ("", *dict.fromkeys(SUBDIRS.values())) if self._swept(project) else ():
            files.sweep(folder / part)

    def _swept(self, project: str) -> bool:
        """Whether this process has yet to remove what killed writers left in the project."""
        if project in self._clean:
            return False
        self._clean.add(project)
        return True

    def settle(self, project: str, *, wait: bool = False) -> bool:
        """Write the views if a killed writer or a hand edit left them behind; without `wait`, only if the lock is free."""
        with self.catalog.lock:
            self.files_of(project)
            if not self.catalog.cache.views_dirty(project) or not paths.project_folder(self.root, project).is_dir():
                return True
        if not self.is_vault():
            return False
        try:
            with self.lock(None if wait else 0):
                self._compile(project)
        except LockTimeout:
            if wait:
                raise
            return False
        except VaultError:
            return False  # a vault that may only be read
        return True

    def page(self, project: str, name: str) -> str:
        """Return one compiled view: the file if it is current, else rendered from the records."""
        if self.settle(project):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                return files.read_plain(paths.project_folder(self.root, project) / f"{name}.md", _MAX_PAGE).decode()
        with self.catalog.lock:
            self.files_of(project)
            return self._views[project].page(name, self.now_text())

    # ------------------------------------------------------------------ index

    @cached_property
    def index(self) -> Index:
        """The search index."""
        from vault.index import Index

        # The leading number is raised when `index_entry` makes something else of the same file.
        fingerprint = f"2 {self.config.scratch_days} {self.config.review_days}"
        return Index(self.root, self._load_for_index, fingerprint)

    def _load_for_index(self, key: RecordKey) -> IndexEntry | None:
        try:
            stored = self.load(key)
        except VaultError:
            return None
        return self.index_entry(stored.record) if stored else None

    def index_entry(self, found: Record) -> IndexEntry:
        """Return what is indexed of a record."""
        from vault.index import IndexEntry

        data = found.frontmatter
        return IndexEntry(
            key=found.key,
            record_id=found.id,
            kind=found.kind,
            status=found.status,
            title=found.title,
            body=found.body,
            created=found.created,
            updated=found.updated,
            tags=found.texts("tags"),
            path_patterns=found.texts("pathPatterns"),
            expires_at=expiry_text(data, found.kind, self.config),
            salience=salience.salience(data),
            flagged=salience.is_flagged(data),
        )

    def _try_index(self, work: Callable[[Index], None]) -> None:
        try:
            work(self.index)
        except IndexFailed as error:
            self.warnings.add(f"the search index is behind: {error.message}")

    # ------------------------------------------------------------------ changes

    def _on_change(self, change: Change) -> None:
        project = change.key.project
        if project in self._views:
            self._views[project].update(change.key, change.before, change.after)
        if project in self._traps:
            self._traps[project].update(change.key, change.after)
        subject = change.after or change.before
        if self._hook is not None and subject is not None:
            operation = "CREATE" if change.before is None else "DELETE" if change.after is None else "UPDATE"
            self._events.append((project, subject.kind, paths.display_path(change.key), operation, subject.id))

    def tell(self) -> None:
        """Call the hook for everything that has changed since the last time. Holds no lock; a failing hook fails nothing."""
        while self._hook is not None and self._events:
            try:
                event = self._events.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                self._hook(*event)
            except Exception:  # a listener's mistake must not undo what has been written
                import logging

                logging.getLogger("vault").exception("the change hook failed for %s", event[2])

    def close(self) -> None:
        """Let go of files."""
        self.catalog.cache.close()
