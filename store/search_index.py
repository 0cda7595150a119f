"""Making the search text and the words of an organisation's notes and records anew."""

import json
from collections.abc import Sequence

from models import columns as dialect
from models import identity, words
from store.database import Writer

_BATCH = 500
_COLLECTIONS = "SELECT id, columns FROM artifact_collections WHERE org_id = $1 AND deleted_at IS NULL"
_RECORDS = """SELECT id, number AS place, content_json FROM artifacts
    WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL AND number > $3 ORDER BY number LIMIT $4"""
_NOTES = """SELECT id, key, content FROM artifacts
    WHERE org_id = $1 AND kind = 'NOTE' AND deleted_at IS NULL AND id > $2 ORDER BY id LIMIT $3"""
# What is deleted keeps the text that it had.
_OTHERS = """SELECT id, search_blob FROM artifacts
    WHERE org_id = $1 AND search IS NULL AND search_blob IS NOT NULL AND id > $2 ORDER BY id LIMIT $3"""
_STORE = """UPDATE artifacts a SET search_blob = n.blob, search = n.search, search_words = n.search_words
    FROM unnest($2::text[], $3::text[], $4::tsvector[], $5::text[]) AS n (id, blob, search, search_words)
    WHERE a.org_id = $1 AND a.id = n.id"""


async def rebuild(writer: Writer, org_id: str) -> None:
    """Index every note and record of the organisation that has no index yet; the live ones anew, from their content."""
    for collection in await writer.rows(_COLLECTIONS, org_id):
        await _rebuild_records(writer, org_id, collection.id, dialect.load(collection.columns))
    last = ""
    while rows := await writer.rows(_NOTES, org_id, last, _BATCH):
        await _store(writer, org_id, [(row.id, identity.note_blob(row.key, row.content)) for row in rows])
        last = rows[-1].id
    last = ""
    while rows := await writer.rows(_OTHERS, org_id, last, _BATCH):
        await _store(writer, org_id, [(row.id, row.search_blob) for row in rows])
        last = rows[-1].id


async def _rebuild_records(writer: Writer, org_id: str, collection_id: str, columns: tuple[dialect.ColumnDef, ...]) -> None:
    last = 0
    while rows := await writer.rows(_RECORDS, org_id, collection_id, last, _BATCH):
        await _store(writer, org_id, [(row.id, identity.search_blob(columns, json.loads(row.content_json))) for row in rows])
        last = rows[-1].place


async def _store(writer: Writer, org_id: str, blobs: Sequence[tuple[str, str]]) -> None:
    indexed = [(file_id, blob, *words.index(blob)) for file_id, blob in blobs]
    await writer.execute(_STORE, org_id, *(list(part) for part in zip(*indexed, strict=True)))
