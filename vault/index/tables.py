"""The tables of the index file, and rows in and out of them."""

import json
import sqlite3
import unicodedata
from collections.abc import Sequence
from typing import Any

from vault.index.entry import Hit, IndexEntry
from vault.scan import FileState, RecordKey

VERSION = 1  # raised with every change here: an index of another version is thrown away

# The two full-text tables keep no copy of the text: they read it from `records`, and triggers tell them of changes.
_SCHEMA = """
CREATE TABLE records (
    id INTEGER PRIMARY KEY, project TEXT NOT NULL, subdir TEXT NOT NULL, slug TEXT NOT NULL, record_id TEXT NOT NULL,
    kind TEXT NOT NULL, status TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL, tags TEXT NOT NULL, body TEXT NOT NULL,
    path_patterns TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, expires_at TEXT,
    salience REAL NOT NULL, flagged INTEGER NOT NULL, UNIQUE (project, subdir, slug));
CREATE TABLE files (
    project TEXT NOT NULL, subdir TEXT NOT NULL, slug TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (project, subdir, slug)) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(
    title, name, tags, body, content='records', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE grams USING fts5(
    title, name, tags, body, content='records', content_rowid='id', tokenize='trigram');
"""
_TRIGGERS = """
CREATE TRIGGER {t}_in AFTER INSERT ON records BEGIN
    INSERT INTO {t}(rowid, title, name, tags, body) VALUES (new.id, new.title, new.name, new.tags, new.body); END;
CREATE TRIGGER {t}_out AFTER DELETE ON records BEGIN
    INSERT INTO {t}({t}, rowid, title, name, tags, body) VALUES ('delete', old.id, old.title, old.name, old.tags, old.body); END;
CREATE TRIGGER {t}_change AFTER UPDATE ON records
    WHEN (old.title, old.name, old.tags, old.body) IS NOT (new.title, new.name, new.tags, new.body) BEGIN
    INSERT INTO {t}({t}, rowid, title, name, tags, body) VALUES ('delete', old.id, old.title, old.name, old.tags, old.body);
    INSERT INTO {t}(rowid, title, name, tags, body) VALUES (new.id, new.title, new.name, new.tags, new.body); END;
"""
_FIELDS = (
    *("project", "subdir", "slug", "record_id", "kind", "status", "title", "name", "tags", "body"),
    *("path_patterns", "created", "updated", "expires_at", "salience", "flagged"),
)
_KEY_FIELDS = 3
_UPSERT = (
    f"INSERT INTO records ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608 - names of columns only
    f" ON CONFLICT (project, subdir, slug) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _FIELDS[_KEY_FIELDS:])}"
)
_ONE = "project = ? AND subdir = ? AND slug = ?"
HIT_COLUMNS = (
    "r.id, r.project, r.subdir, r.slug, r.record_id, r.kind, r.status, r.title, r.tags, r.created, r.updated, r.expires_at, r.flagged"
)


def create(connection: sqlite3.Connection) -> None:
    """Make all tables in an empty file."""
    script = _SCHEMA + "".join(_TRIGGERS.format(t=table) for table in ("words", "grams"))
    connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {VERSION}; COMMIT;")


def put(connection: sqlite3.Connection, key: RecordKey, state: FileState, entry: IndexEntry | None) -> None:
    """Store what a file holds now; None if it holds no record that can be read."""
    connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", (*key, *state))
    if entry is None:
        connection.execute(f"DELETE FROM records WHERE {_ONE}", key)  # noqa: S608 - a constant
        return
    name = entry.key.slug if entry.record_id == entry.key.slug else f"{entry.key.slug} {entry.record_id}"
    tags, patterns = (json.dumps(values, ensure_ascii=False) for values in (entry.tags, entry.path_patterns))
    text = (_clean(entry.title), _clean(name), _clean(tags), _clean(entry.body))
    times = (entry.created, entry.updated, entry.expires_at)
    row = (*entry.key, entry.record_id, entry.kind, entry.status, *text, patterns, *times, entry.salience, entry.flagged)
    connection.execute(_UPSERT, row)


def drop(connection: sqlite3.Connection, key: RecordKey) -> None:
    """Forget a file."""
    connection.execute(f"DELETE FROM files WHERE {_ONE}", key)  # noqa: S608 - a constant
    connection.execute(f"DELETE FROM records WHERE {_ONE}", key)  # noqa: S608 - a constant


def clear(connection: sqlite3.Connection) -> None:
    """Forget every file."""
    connection.execute("DELETE FROM files")
    connection.execute("DELETE FROM records")


def states(connection: sqlite3.Connection, project: str | None) -> dict[RecordKey, FileState]:
    """The files as they were when they were indexed."""
    where, values = ("", ()) if project is None else (" WHERE project = ?", (project,))
    rows = connection.execute(f"SELECT project, subdir, slug, mtime_ns, size FROM files{where}", values)  # noqa: S608 - a constant
    return {RecordKey(*row[:3]): FileState(*row[3:]) for row in rows}


def hit(row: Sequence[Any], now: str, rank: float, snippet: str) -> Hit:
    """One answer from a row of HIT_COLUMNS."""
    _, project, subdir, slug, record_id, kind, status, title, tags, created, updated, expires_at, flagged = row
    key = RecordKey(project, subdir, slug)
    expired = expires_at is not None and expires_at <= now
    return Hit(
        key, record_id, kind, status, title, tuple(json.loads(tags)), created, updated, expires_at, expired, bool(flagged), rank, snippet
    )


def _clean(text: str) -> str:
    """NFC, so that a text is found however its accents are written; SQLite ends texts at NUL and takes no surrogates."""
    return unicodedata.normalize("NFC", text).replace("\0", " ").encode("utf-8", "replace").decode()
