"""The catalog on disk: spares a new process from parsing every file. Disposable, and never trusted over a file's state."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from vault.kinds import SUBDIRS
from vault.record import Record
from vault.scan import FileState, RecordKey

NAME = ".catalog.sqlite"
_VERSION = 2  # raised when the same file gives another record
_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    project TEXT, subdir TEXT, slug TEXT, mtime_ns INTEGER, size INTEGER, checked_ns INTEGER, data BLOB, problem TEXT,
    PRIMARY KEY (project, subdir, slug)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hits (project TEXT, id TEXT, session TEXT, PRIMARY KEY (project, id, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS compiled (project TEXT PRIMARY KEY, dirty INTEGER) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one file: its state, when that was seen (ns), and the record or why there is none."""

    state: FileState
    checked_ns: int
    record: Record | None
    problem: str | None = None


class CatalogCache:
    """One SQLite file at the vault's root. Whatever goes wrong with it costs time, never an answer."""

    def __init__(self, root: Path, is_vault: Callable[[], bool]) -> None:
        """`is_vault`: whether the folder is a vault; in any other one no file is left."""
        self._path = root / NAME
        self._is_vault = is_vault
        self._connection: sqlite3.Connection | None = None
        self._version: int | None = None

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        # A lost or swapped file must not be written to unseen.
        if self._connection is not None and self._path.exists():
            return self._connection
        self.close()
        if not self._is_vault():
            raise sqlite3.OperationalError("the folder is no vault")
        if self._path.is_symlink():
            self._path.unlink()  # nothing is written outside the vault
        connection = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
        # It can be rebuilt at any time, so it need not survive a power cut; WAL lets readers and a writer be.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            connection.executescript("DROP TABLE IF EXISTS entries; DROP TABLE IF EXISTS hits; DROP TABLE IF EXISTS compiled;")
            connection.execute(f"PRAGMA user_version={_VERSION}")
        connection.executescript(_TABLES)
        self._connection = connection
        return connection

    def _run(self, sql: str, rows: Iterable[tuple[Any, ...]], *, retry: bool = True) -> bool:
        """Run one statement for all rows in one transaction; False if the cache cannot be written."""
        rows = list(rows)
        try:
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(sql, rows)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.OperationalError:
            return False  # locked for too long, or a read-only vault
        except sqlite3.DatabaseError:
            self._discard()
            return self._run(sql, rows, retry=False) if retry else False
        return True

    def _query(self, sql: str, arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._open().execute(sql, arguments).fetchall()
        except sqlite3.OperationalError:
            return []
        except sqlite3.DatabaseError:
            self._discard()
            return []

    def _discard(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._path.with_name(NAME + suffix).unlink()

    def load(self, project: str) -> dict[RecordKey, Entry]:
        """Return everything remembered of one project."""
        rows = self._query("SELECT subdir, slug, mtime_ns, size, checked_ns, data, problem FROM entries WHERE project = ?", (project,))
        entries = ((RecordKey(project, row[0], row[1]), _entry(project, row)) for row in rows)
        return {key: entry for key, entry in entries if entry is not None}

    def store(self, entries: Iterable[tuple[RecordKey, Entry]]) -> None:
        """Remember entries."""
        self._run(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*key, *entry.state, entry.checked_ns, _data(entry.record), entry.problem) for key, entry in entries],
        )

    def drop(self, keys: Iterable[RecordKey]) -> None:
        """Forget entries."""
        self._run("DELETE FROM entries WHERE project = ? AND subdir = ? AND slug = ?", [tuple(key) for key in keys])

    def changed_elsewhere(self) -> bool:
        """Return whether another process has written here since the last call."""
        # It changes with commits of other connections only (sqlite.org/pragma.html#pragma_data_version).
        rows = self._query("PRAGMA data_version", ())
        before, self._version = self._version, rows[0][0] if rows else None
        return self._version is None or self._version != before

    def first_hit(self, project: str, record_id: str, session: str) -> bool:
        """Return whether this session asks for the record for the first time, and remember that it did."""
        row = (project, record_id, session)
        if self._query("SELECT 1 FROM hits WHERE project = ? AND id = ? AND session = ?", row):
            return False
        self._run("INSERT OR IGNORE INTO hits VALUES (?, ?, ?)", [row])
        return True

    def views_dirty(self, project: str) -> bool:
        """Return whether a writer has not said that its views are complete."""
        rows = self._query("SELECT dirty FROM compiled WHERE project = ?", (project,))
        return not rows or bool(rows[0][0])

    def mark_views(self, project: str, *, dirty: bool) -> None:
        """Note, before a write, that the views will be behind; after it, that they are complete."""
        self._run("INSERT OR REPLACE INTO compiled VALUES (?, ?)", [(project, int(dirty))])


def _data(record: Record | None) -> bytes | str | None:
    """The record as JSON: bytes, but text for one with numbers that orjson has no room for."""
    if record is None:
        return None
    try:
        return orjson.dumps([record.frontmatter, record.body])
    except orjson.JSONEncodeError:  # an integer beyond 64 bits
        return json.dumps([record.frontmatter, record.body])


def _entry(project: str, row: tuple[Any, ...]) -> Entry | None:
    """What a row holds; None for a row that this program did not write."""
    subdir, slug, mtime_ns, size, checked_ns, data, problem = row
    try:
        record = None if data is None else _record(RecordKey(project, subdir, slug), data)
        return Entry(FileState(int(mtime_ns), int(size)), int(checked_ns), record, problem)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _record(key: RecordKey, data: bytes | str) -> Record:
    # orjson reads an integer beyond 64 bits as a float.
    frontmatter, body = json.loads(data) if isinstance(data, str) else orjson.loads(data)
    if frontmatter["kind"] not in SUBDIRS or not all(isinstance(frontmatter[name], str) for name in ("id", "status", "created", "updated")):
        raise ValueError("not a record of this program")
    return Record(key, frontmatter["kind"], frontmatter["id"], frontmatter["status"], frontmatter, str(body))
