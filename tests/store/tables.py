"""A collection made through the store, and what tests look at after a write."""

import json
from typing import Any

from models.caller import Caller
from models.kinds import AccessMode, SubjectType
from store import collections, grants
from store.database import Database, Row


def column(name: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": f"The {name}.", **more}


LEADS = [
    column("email", unique=True),
    column("status", required=True, values=["new", "contacted", "won", "lost"]),
    column("score", "number"),
    column("signed_up_at", "datetime"),
]


async def add_table(db: Database, caller: Caller, name: str = "leads", columns: Any = None, *, guild: str | None = None) -> Row:
    return await collections.create(db, caller, name=name, purpose="Who may buy.", columns=columns or LEADS, guild_id=guild)


async def allow(db: Database, caller: Caller, table: Row, subject: Caller | str, mode: str | None) -> Row:
    guild = isinstance(subject, str)
    return await grants.set_grant(
        db,
        caller,
        collection_id=table.id,
        subject_type=SubjectType.GUILD if guild else SubjectType.AGENT,
        subject_id=subject if isinstance(subject, str) else subject.id,
        mode=None if mode is None else AccessMode(mode),
    )


async def trail(db: Database, org: str) -> list[tuple[str, str, int, str, str]]:
    """Every change of the organisation, oldest first: operation, path and event path below the organisation's, version, actor."""
    statement = """SELECT operation, display_path, version, event_path, actor_name FROM file_changes WHERE org_id = $1 ORDER BY id"""
    async with db.read() as reader:
        rows = await reader.rows(statement, org)
    prefix = f"org/{org}/collections/"
    return [(r.operation, r.display_path.removeprefix(prefix), r.version, r.event_path.removeprefix(prefix), r.actor_name) for r in rows]


async def counters(db: Database, table: Row) -> tuple[int, int]:
    """The table's next_id and record_count."""
    async with db.read() as reader:
        row = await reader.row("SELECT next_id, record_count FROM artifact_collections WHERE org_id = $1 AND id = $2", *ids(table))
    assert row is not None
    return row.next_id, row.record_count


async def bodies(db: Database, table: Row) -> dict[int, dict[str, Any]]:
    """The bodies of the live records by number."""
    statement = """SELECT number, content_json FROM artifacts
        WHERE org_id = $1 AND collection_id = $2 AND deleted_at IS NULL ORDER BY number"""
    async with db.read() as reader:
        return {row.number: json.loads(row.content_json) for row in await reader.rows(statement, *ids(table))}


async def everything(db: Database) -> dict[str, list[tuple[Any, ...]]]:
    """All that writes could change, to compare before and after a refusal."""
    tables = ("artifact_collections", "artifacts", "collection_access", "file_changes", "idempotency_keys")
    async with db.read() as reader:
        return {table: [tuple(row) for row in await reader.rows(f"SELECT * FROM {table} t ORDER BY t::text")] for table in tables}


def ids(table: Row) -> tuple[str, str]:
    return table.display_path.split("/")[1], table.id
