"""Collections, records, notes and tasks put straight into the tables, for tests of what reads them."""

import hashlib
import json
from datetime import datetime
from typing import Any

from models import words
from models.caller import Caller
from models.clock import new_id, now
from models.identity import note_blob
from models.kinds import FileKind, FileOperation, NoteLevel
from models.paths import collection_path, note_path, record_path
from store import changes
from store.changes import Change
from store.database import Database, Row

_SAVED = "created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name"


def _saved(caller: Caller, at: datetime | None) -> tuple[object, ...]:
    who = (caller.kind, caller.id, caller.name)
    return (at or now(), *who) * 2


async def add_collection(
    db: Database, caller: Caller, name: str, columns: list[dict[str, Any]], *, guild: str | None = None, version: int = 1
) -> str:
    collection = new_id()
    async with db.write() as tx:
        await tx.execute(
            f"""INSERT INTO artifact_collections (org_id, id, name, purpose, columns, guild_id, version, {_SAVED})
            VALUES ($1, $2, $3, 'Testing.', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)""",
            caller.org_id,
            collection,
            name,
            json.dumps(columns),
            guild,
            version,
            *_saved(caller, None),
        )
    return collection


def column(name: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": f"The {name}.", "required": False, "unique": False, "values": None, **more}


async def grant(db: Database, caller: Caller, collection: str, *, subject_type: str, subject: str, mode: str) -> None:
    async with db.write() as tx:
        await tx.execute(
            "INSERT INTO collection_access VALUES ($1, $2, $3, $4, $5)", caller.org_id, collection, subject_type, subject, mode
        )


def _text_of(body: dict[str, Any]) -> str:
    values = (value if isinstance(value, list) else [value] for value in body.values())
    return words.SEPARATOR.join(item if isinstance(item, str) else json.dumps(item) for items in values for item in items)


async def add_records(
    db: Database, caller: Caller, collection: str, bodies: list[dict[str, Any]], *, at: datetime | None = None, identity: str | None = None
) -> list[str]:
    ids = [new_id() for _ in bodies]
    async with db.write() as tx:
        first = await tx.value(
            """UPDATE artifact_collections SET next_id = next_id + $3, record_count = record_count + $3, revision = revision + 1
            WHERE org_id = $1 AND id = $2 RETURNING next_id - $3""",
            caller.org_id,
            collection,
            len(bodies),
        )
        await tx.execute_many(
            f"""INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, collection_id, number, content_json, search_blob,
                search, search_words, identity, identity_hash, {_SAVED}, version)
            VALUES ($1, $2, 'OBJECT', 'ORG', $1, $3, $4, $5, $6, $7, $8::tsvector, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                $19, 1)""",
            [
                (
                    caller.org_id,
                    file_id,
                    str(first + n),
                    collection,
                    first + n,
                    json.dumps(body),
                    _text_of(body),
                    *words.index(_text_of(body)),
                    str(body[identity]) if identity else None,
                    hashlib.sha256(str(body[identity]).encode()).digest() if identity else None,
                    *_saved(caller, at),
                )
                for n, (file_id, body) in enumerate(zip(ids, bodies, strict=True))
            ],
        )
    return ids


async def add_note(db: Database, caller: Caller, key: str, content: str = "Text.", *, version: int = 1) -> str:
    note = new_id()
    async with db.write() as tx:
        await tx.execute(
            f"""INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, content,
                search_blob, search, search_words, version, {_SAVED})
            VALUES ($1, $2, 'NOTE', 'ORG', $1, $3, $4, $14, $15::tsvector, $16, $5, $6, $7, $8, $9, $10, $11, $12, $13)""",
            caller.org_id,
            note,
            key,
            content,
            version,
            *_saved(caller, None),
            blob := note_blob(key, content),
            *words.index(blob),
        )
    return note


async def add_change(  # a test reads best with the file's facts in a row
    db: Database, caller: Caller, kind: FileKind, file_id: str, path: str, version: int | None, *, operation: str = "UPDATE", **more: Any
) -> Row:
    async with db.write() as tx:
        change = Change(kind=kind, operation=FileOperation(operation), file_id=file_id, path=path, version=version, at=now(), **more)
        return await changes.record(tx, caller, change)


def a_note_path(caller: Caller, key: str) -> str:
    return note_path(caller.org_id, NoteLevel.ORG, caller.org_id, key)


def a_table_path(caller: Caller, name: str) -> str:
    return collection_path(caller.org_id, name)


def a_record_path(caller: Caller, name: str, number: int) -> str:
    return record_path(caller.org_id, name, number)
