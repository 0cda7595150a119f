"""What tests of writes look at besides the answer: the change rows, and whether anything at all was written."""

from typing import Any

from store.database import Database, Row

_TABLES = (
    "agents",
    "artifact_collections",
    "artifacts",
    "collection_access",
    "file_changes",
    "guilds",
    "memberships",
    "memory_revisions",
    "runs",
    "schedules",
    "task_revisions",
    "tokens",
    "users",
    "vault_files",
)


async def changes_at(db: Database, path: str) -> list[Row]:
    async with db.read() as reader:
        return await reader.rows("SELECT * FROM file_changes WHERE display_path = $1 ORDER BY id", path)


async def history(db: Database, path: str) -> list[tuple[str, int]]:
    return [(row.operation, row.version) for row in await changes_at(db, path)]


async def everything(db: Database) -> dict[str, Any]:
    """Every row of every table that a write of the store may touch."""
    async with db.read() as reader:
        return {
            table: await reader.value(f"SELECT coalesce(jsonb_agg(t ORDER BY t::text), '[]')::text FROM {table} t") for table in _TABLES
        }
