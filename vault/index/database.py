"""The SQLite file of the index and what is done with it."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from vault.errors import IndexFailed
from vault.index import sql, tables
from vault.index.entry import Hit, IndexEntry, SearchFilters
from vault.index.finding import find
from vault.index.query import parse_query
from vault.scan import FileState, RecordKey, scan_records
from vault.times import to_text, utc_now

INDEX_FILE = "memo.sqlite"
Loader = Callable[[RecordKey], IndexEntry | None]
T = TypeVar("T")

_BUSY = 5.0  # seconds that a write waits for another process's write
_READER_BUSY = 0.5  # seconds that a search waits to write what it found edited; then it answers without
_BATCH = 200  # files per transaction, so that others get their turn


class Index:
    """The index of the vault at `root` (memo.sqlite). Safe to share between threads; needs no vault lock.

    `load` reads one record file and returns what to index, None if it cannot be parsed; it must not raise for a bad
    file. `fingerprint`: whatever changes what `load` returns besides the file (the ttl settings); another one than
    last time re-reads everything.
    """

    def __init__(self, root: Path, load: Loader, fingerprint: str = "") -> None:
        self._root = root
        self._path = root / INDEX_FILE
        self._load = load
        self._fingerprint = fingerprint

    def upsert(self, entry: IndexEntry) -> None:
        """Index one record as it now is on disk. Raises IndexFailed."""
        state = self._state(entry.key)
        self._run(lambda connection: _write(connection, [(entry.key, state, entry)]))

    def remove(self, key: RecordKey) -> None:
        """Forget one record. Raises IndexFailed."""
        self._run(lambda connection: _write(connection, [(key, None, None)]))

    def refresh(self, project: str | None = None) -> int:
        """Pick up every edit made outside, of one project or all; returns how many files had changed."""
        return self._run(lambda connection: self._refresh(connection, project))

    def search(self, query: str, filters: SearchFilters, limit: int = 20, *, refresh: bool = True) -> list[Hit]:
        """The best hits, best first. Picks up hand edits first unless told not to.

        Raises QueryInvalid for a query that cannot be read, IndexFailed if there is no index to be had.
        """
        parsed = parse_query(query)
        if not self._root.exists():
            return []
        if refresh:
            self._catch_up(filters.projects)
        now = filters.as_of or filters.now or to_text(utc_now())
        try:
            return self._run(lambda connection: find(connection, parsed, filters, now, limit))
        except _Busy:
            raise
        except IndexFailed:  # a vault that may only be read, or a full disk
            with self._connect(":memory:") as connection:
                for project in filters.projects or (None,):
                    self._refresh(connection, project)
                return find(connection, parsed, filters, now, limit)

    def _catch_up(self, projects: tuple[str, ...]) -> None:
        """A reader does not wait for long writes of others: it then answers from what is there."""
        with contextlib.suppress(IndexFailed):
            for project in projects or (None,):
                self._run(partial(self._refresh, project=project), _READER_BUSY)

    def _refresh(self, connection: sqlite3.Connection, project: str | None) -> int:
        self._note_fingerprint(connection)
        known, there = tables.states(connection, project), scan_records(self._root, project)
        changed = [(key, state) for key, state in there.items() if known.get(key) != state]
        gone = [(key, None, None) for key in known.keys() - there.keys()]
        _write_all(connection, ((key, state, self._load(key)) for key, state in changed))
        _write_all(connection, gone)
        return len(changed) + len(gone)

    def _note_fingerprint(self, connection: sqlite3.Connection) -> None:
        row = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        if row is None or row[0] != self._fingerprint:
            with _transaction(connection):
                connection.execute("DELETE FROM files")  # so that every file counts as changed
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('fingerprint', ?)", (self._fingerprint,))

    def _state(self, key: RecordKey) -> FileState | None:
        try:
            stat = key.path(self._root).stat()
        except OSError:
            return None
        return FileState(stat.st_mtime_ns, stat.st_size)

    def _run(self, work: Callable[[sqlite3.Connection], T], busy: float = _BUSY) -> T:
        """The result of `work`; a broken file is replaced, filled from the records and asked once more."""
        try:
            with self._open(busy) as connection:
                return work(connection)
        except sqlite3.DatabaseError as error:
            _raise_if_busy(error)
        self._recreate()
        try:
            with self._open() as connection:
                self._refresh(connection, None)
                return work(connection)
        except (sqlite3.DatabaseError, OSError) as error:
            _raise_if_busy(error)
            raise IndexFailed("the search index (memo.sqlite) can neither be used nor rebuilt") from error

    @contextlib.contextmanager
    def _open(self, busy: float = _BUSY) -> Iterator[sqlite3.Connection]:
        """A connection for one piece of work: another process may replace the file at any time."""
        if self._path.is_symlink():
            self._path.unlink()  # nothing is written outside the vault
        with self._connect(self._path, busy) as connection:
            yield connection

    @contextlib.contextmanager
    def _connect(self, place: Path | str, busy: float = _BUSY) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(place, timeout=busy, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.create_function("covers", 2, sql.covers, deterministic=True)
            self._prepare(connection)
            yield connection
        finally:
            connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            with contextlib.suppress(sqlite3.OperationalError):  # another process made the tables first
                tables.create(connection)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != tables.VERSION:
            raise sqlite3.DatabaseError("the index is of another version")

    def _is_broken(self) -> bool:
        """Looks again under the lock: another process may have repaired it meanwhile."""
        try:
            with self._open() as connection:
                answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                # Before SQLite 3.44 quick_check did not look inside full-text tables (sqlite.org/vtab.html#xintegrity).
                connection.execute("INSERT INTO words(words) VALUES ('integrity-check')")
                connection.execute("INSERT INTO grams(grams) VALUES ('integrity-check')")
                return bool(answer != "ok")
        except sqlite3.DatabaseError as error:
            _raise_if_busy(error)
            return True

    def _recreate(self) -> None:
        from filelock import FileLock, Timeout

        try:
            with FileLock(f"{self._path}.lock", timeout=_BUSY, fallback_to_soft=False):
                if self._is_broken():
                    # The database last: a journal left behind would be played into its successor.
                    for suffix in ("-wal", "-shm", "-journal", ""):
                        Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        except Timeout as error:
            raise IndexFailed("the search index (memo.sqlite) is broken, and another process is replacing it") from error
        except OSError as error:
            raise IndexFailed(f"the search index (memo.sqlite) cannot be replaced: {error.strerror or type(error).__name__}") from error


class _Busy(IndexFailed):
    """Another process is writing to the index for longer than one waits."""


Change = tuple[RecordKey, FileState | None, IndexEntry | None]


def _write(connection: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """One transaction; a key without a state is gone."""
    with _transaction(connection):
        for key, state, entry in changes:
            if state is None:
                tables.drop(connection, key)
            else:
                tables.put(connection, key, state, entry)


def _write_all(connection: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """In batches, each read from disk before its transaction begins."""
    iterator = iter(changes)
    while batch := list(islice(iterator, _BATCH)):
        _write(connection, batch)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _raise_if_busy(error: Exception) -> None:
    if isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error)):
        raise _Busy("the search index is being written by another process; try again") from error
