"""Writing changes as operations do, and reading subscriptions with a bound on the wait."""

import asyncio
from datetime import datetime
from typing import Any

from models.caller import Caller
from models.clock import new_id, now
from models.kinds import FileKind, FileOperation, NoteLevel
from models.paths import note_path
from store import changes
from store.changes import Change
from store.database import Database, Row, Writer
from store.feed import FeedChange, Subscription

PATIENCE = 20


def change(path: str, *, kind: FileKind = FileKind.NOTE, operation: FileOperation = FileOperation.UPDATE, **more: Any) -> Change:
    more.setdefault("at", now())
    return Change(kind=kind, operation=operation, file_id=new_id(), path=path, version=more.pop("version", 1), **more)


def note(caller: Caller, key: str, level: NoteLevel = NoteLevel.ORG, owner: str | None = None, **more: Any) -> Change:
    owner = owner or caller.org_id
    return change(note_path(caller.org_id, level, owner, key), level=level, owner_id=owner, **more)


async def write(db: Database, caller: Caller, *written: Change) -> list[Row]:
    async with db.write() as tx:
        return [await changes.record(tx, caller, one) for one in written]


async def write_note(db: Database, caller: Caller, key: str, **more: Any) -> Row:
    return (await write(db, caller, note(caller, key, **more)))[0]


async def in_transaction(writer: Writer, caller: Caller, key: str) -> Row:
    return await changes.record(writer, caller, note(caller, key))


async def next_of(subscription: Subscription) -> FeedChange:
    return await asyncio.wait_for(anext(subscription), PATIENCE)


async def keys_until(subscription: Subscription, last: str) -> list[str]:
    """The last parts of the paths that arrive, up to this one."""
    found: list[str] = []
    while not found or found[-1] != last:
        found.append((await next_of(subscription)).display_path.rpartition("/")[2])
    return found


async def run(db: Database, statement: str, *arguments: Any) -> int:
    async with db.write() as tx:
        return await tx.execute(statement, *arguments)


async def change_ids(db: Database, org: str) -> list[int]:
    async with db.read() as reader:
        rows = await reader.rows("SELECT id FROM file_changes WHERE org_id = $1 ORDER BY xid, id", org)
    return [row.id for row in rows]


def long_ago() -> datetime:
    return now().replace(year=2020)
