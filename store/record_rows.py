"""A record as every reader sees it, and the statements that write one in a single exchange with the database."""

from functools import cache
from typing import Any, NamedTuple

from models import identity, words
from models.caller import Caller
from models.clock import new_id, now
from models.columns import ColumnDef
from models.json_text import to_json
from models.limits import RECORDS_PER_COLLECTION
from store import access
from store.changes import INSERT_COLUMNS
from store.database import Reader, Row, Writer

_SAVED = [f"{role}_{fact}" for role in ("created", "updated") for fact in ("at", "by_kind", "by_id", "by_name")]
_COLUMNS = {
    "file_id": "a.id",
    "id": "a.number::text",
    "collection": "k.name",
    "collection_id": "k.id",
    "display_path": "'org/' || a.org_id || '/collections/' || k.name || '/' || a.number",
    "body": "a.content_json",
    "version": "a.version",
    **{name: f"a.{name}" for name in _SAVED},
}


@cache
def columns(read: frozenset[str] | None = None) -> str:
    """A record's columns, from artifacts AS a and its collection AS k; those that are not to be read are null, `file_id` and `id` apart.

    In a long list columns that nobody asked for cost as much as the finding of the rows.
    """
    kept = _COLUMNS.keys() if read is None else read | {"file_id", "id"}
    return ", ".join(f"{sql if name in kept else 'NULL'} AS {name}" for name, sql in _COLUMNS.items())


COLUMNS = columns()

# The same, joined, live records only; continue with `AND ...`. $1 is the organisation.
SELECT = f"""SELECT {COLUMNS} FROM artifacts a JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
    WHERE a.org_id = $1 AND a.kind = 'OBJECT' AND a.deleted_at IS NULL"""

_ONE = f"{SELECT} AND a.collection_id = $2 AND a.number = $3"
_HOLDER = f"{SELECT} AND a.collection_id = $2 AND a.identity_hash = $3"

_RETURNED = """org_id, id, number, content_json, version, created_at, created_by_kind, created_by_id, created_by_name,
    updated_at, updated_by_kind, updated_by_id, updated_by_name"""


def last_version(path: str) -> str:
    """The version that a record's path had last, as SQL: a table's name may have been another table's before."""
    return f"""coalesce((SELECT v.version FROM file_changes v WHERE v.org_id = $1 AND v.display_path = {path}
        ORDER BY v.id DESC LIMIT 1), 0)"""


def _change(operation: str, event: str, who: str, at: str) -> str:
    path = "'org/' || a.org_id || '/collections/' || k.name || '/' || a.number"
    return f"""INSERT INTO file_changes ({INSERT_COLUMNS})
        SELECT a.org_id, a.id, {path}, {event.replace("PATH", path)}, NULL, 'RECORD', '{operation}', a.version, NULL, NULL, k.id,
            {who}, {at} FROM a, k"""


_WHO = "$4, $5, $6, $7, $8, $9"  # kind, id, name, run, tool call, tool

# Nothing happens where the table changed since it was read, is full, holds the identity already, or may not be written by the caller.
_INSERT = f"""WITH k AS (
        UPDATE artifact_collections SET next_id = next_id + 1, record_count = record_count + 1, revision = revision + 1
        WHERE org_id = $1 AND id = $2 AND version = $3 AND deleted_at IS NULL AND record_count < {RECORDS_PER_COLLECTION}
            AND EXISTS (SELECT FROM artifact_collections k {access.joins("$18", "$19")}
                WHERE k.org_id = $1 AND k.id = $2 AND {access.effective("$18", "$19")} = 'WRITE')
            AND ($13::bytea IS NULL OR NOT EXISTS (SELECT FROM artifacts WHERE org_id = $1 AND collection_id = $2
                AND identity_hash = $13 AND deleted_at IS NULL))
        RETURNING org_id, id, name, next_id - 1 AS number),
    a AS (
        INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, collection_id, number, content_json, identity, identity_hash,
            search_blob, search, search_words, version, created_at, created_by_kind, created_by_id, created_by_name,
            updated_at, updated_by_kind, updated_by_id, updated_by_name)
        SELECT $1, $17, 'OBJECT', 'ORG', $1, k.number::text, k.id, k.number, $11::jsonb, $12, $13, $14, $15::tsvector, $16,
            {last_version("'org/' || k.org_id || '/collections/' || k.name || '/' || k.number")} + 1,
            $10, $4, $5, $6, $10, $4, $5, $6 FROM k RETURNING {_RETURNED}),
    c AS ({_change("CREATE", "'org/' || a.org_id || '/collections/' || k.name", _WHO, "$10")})
    SELECT {COLUMNS} FROM a, k"""

# The table's row is locked first and counted last, so that a record that was overtaken leaves the counters alone.
_CHANGE = """WITH k AS (
        SELECT org_id, id, name FROM artifact_collections
        WHERE org_id = $1 AND id = $2 AND version = $3 AND deleted_at IS NULL FOR NO KEY UPDATE),
    a AS (
        UPDATE artifacts t SET {change}, version = greatest(t.version, {last}) + 1,
            updated_at = $10, updated_by_kind = $4, updated_by_id = $5, updated_by_name = $6
        FROM k WHERE t.org_id = $1 AND t.collection_id = k.id AND t.number = $11 AND t.version = $12 AND t.deleted_at IS NULL
        RETURNING {returned}),
    n AS (UPDATE artifact_collections t SET revision = revision + 1, record_count = record_count - {removed}
        FROM a WHERE t.org_id = $1 AND t.id = $2),
    c AS ({trail})
    SELECT {columns} FROM a, k"""


def _changing(operation: str, change: str, removed: int) -> str:
    return _CHANGE.format(
        change=change,
        removed=removed,
        last=last_version("'org/' || k.org_id || '/collections/' || k.name || '/' || t.number"),
        returned=", ".join(f"t.{name.strip()}" for name in _RETURNED.split(",")),
        trail=_change(operation, "PATH", _WHO, "$10"),
        columns=COLUMNS,
    )


_BODY = """content_json = $13::jsonb, identity = $14, identity_hash = $15,
    search_blob = $16, search = $17::tsvector, search_words = $18"""
_UPDATE = _changing("UPDATE", _BODY, 0)
_REMOVE = _changing("DELETE", "deleted_at = $10", 1)


class Forms(NamedTuple):
    """What is stored of a body: its JSON, identity, the identity's digest, and the text and words that it is searched by."""

    body: str
    identity: str | None
    digest: bytes | None
    blob: str
    search: str
    search_words: str | None


def forms(columns: tuple[ColumnDef, ...], body: dict[str, Any]) -> Forms:
    """The stored forms of a body."""
    # Made anew at each write, since the unique column may have changed since the last.
    own = identity.identity(columns, body)
    blob = identity.search_blob(columns, body)
    return Forms(to_json(body), own, identity.digest(own), blob, *words.index(blob))


async def one(reader: Reader, org_id: str, collection_id: str, number: int) -> Row | None:
    """The live record of this number."""
    return await reader.row(_ONE, org_id, collection_id, number)


async def holder(reader: Reader, org_id: str, collection_id: str, digest: bytes) -> Row | None:
    """The live record that has this identity."""
    return await reader.row(_HOLDER, org_id, collection_id, digest)


async def insert(writer: Writer, caller: Caller, collection: Row, stored: Forms) -> Row | None:
    """The new record, its change and the counters in one statement.

    None, with nothing done, where the table is full or not as it is given here, or the caller may not write to it.
    """
    given = *_common(caller, collection), *stored, new_id(), *access.subject(caller)
    return _noted(writer, caller, await writer.row(_INSERT, *given))


async def update(writer: Writer, caller: Caller, collection: Row, record: Row, stored: Forms) -> Row | None:
    """The record with its new body; None, with nothing done, where it or the table was overtaken."""
    return _noted(writer, caller, await writer.row(_UPDATE, *_common(caller, collection), int(record.id), record.version, *stored))


async def remove(writer: Writer, caller: Caller, collection: Row, record: Row) -> Row | None:
    """The removed record; None, with nothing done, where it or the table was overtaken."""
    return _noted(writer, caller, await writer.row(_REMOVE, *_common(caller, collection), int(record.id), record.version))


def _noted(writer: Writer, caller: Caller, row: Row | None) -> Row | None:
    if row is not None:
        writer.touched.add(caller.org_id)
    return row


def _common(caller: Caller, collection: Row) -> tuple[object, ...]:
    who = (caller.kind, caller.id, caller.name, caller.run_id, caller.tool_call_id, caller.tool_name)
    return (caller.org_id, collection.id, collection.version, *who, now())
