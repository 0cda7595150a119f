"""An organisation's rows as JSON, a line each, with every value exact."""

from collections.abc import AsyncIterator

from store.database import Reader

# Each after those that it refers to; with it, the order in which its rows are written.
TABLES: dict[str, str] = {
    "organisations": "org_id",
    "users": "id",
    "memberships": "user_id",
    "guilds": "id",
    "agents": "id",
    "schedules": "id",
    "runs": "id",
    "artifact_collections": "id",
    "artifacts": "id",
    "collection_access": "collection_id, subject_type, subject_id",
    "departed_access": "collection_id, subject_type, subject_id",
    "memory_revisions": "agent_id, version",
    "task_revisions": "agent_id, version",
    "idempotency_keys": "caller_id, collection_id, key",
    "vault_files": "display_path",
    "feed_horizons": "org_id",
    "file_changes": "xid, id",
}
# In the order in which their rows can be deleted.
LEFT_OUT = {
    "sign_in_codes": "they sign in where they were made",
    "sessions": "they belong to browsers that signed in here",
    "tokens": "secrets stay where they were issued; issue new ones",
}

# A restore makes the word index of artifacts again.
_COLUMNS = """SELECT attname AS name FROM pg_attribute
    WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('search', 'search_words') ORDER BY attnum"""

# Nobody can come back to the records of a deleted collection.
_KEPT = {
    "artifacts": """(t.collection_id IS NULL OR EXISTS (SELECT FROM artifact_collections k
        WHERE k.org_id = t.org_id AND k.id = t.collection_id AND k.deleted_at IS NULL))"""
}


async def columns_of(reader: Reader, table: str) -> list[str]:
    """The columns of a table whose values are stored for themselves."""
    return [row.name for row in await reader.rows(_COLUMNS, table)]


async def dump(reader: Reader, org_id: str, table: str) -> AsyncIterator[bytes]:
    """The organisation's rows of one of TABLES, each one line of JSON with its ending; deleted rows too."""
    columns = ", ".join(f't."{name}"' for name in await columns_of(reader, table))
    order = ", ".join(f"t.{name}" for name in TABLES[table].split(", "))
    kept = f"t.org_id = $1 AND {_KEPT[table]}" if table in _KEPT else "t.org_id = $1"
    statement = f"SELECT row_to_json(r)::text AS line FROM (SELECT {columns} FROM {table} t WHERE {kept} ORDER BY {order}) r"
    async for row in reader.stream(statement, org_id):
        yield row.line.encode() + b"\n"
