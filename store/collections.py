"""Collections: tables of the organisation or of a guild, which operators make, change, clear and delete."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from models import columns as dialect
from models.caller import Caller
from models.clock import new_id, now
from models.errors import LimitExceeded, NotFound, Problem, Unprocessable, VersionConflict
from models.json_text import shown
from models.kinds import FileKind, FileOperation
from models.limits import COLLECTIONS_PER_ORG, PURPOSE_CHARACTERS
from models.paths import collection_path
from models.text import check, fault, printable
from models.unset import UNSET, Unset
from store import access, changes, column_changes
from store.changes import Change
from store.database import Database, Row, Writer

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")

_INSERT = """INSERT INTO artifact_collections (org_id, id, name, purpose, columns, guild_id, version,
        created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
    VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $8, $9, $10, $11)"""
_UPDATE = """UPDATE artifact_collections SET name = $3, purpose = $4, columns = $5::jsonb, guild_id = $6, version = $7,
    revision = revision + 1, updated_at = $8, updated_by_kind = $9, updated_by_id = $10, updated_by_name = $11
    WHERE org_id = $1 AND id = $2"""
_NUMBER = "UPDATE artifact_collections SET version = $3 WHERE org_id = $1 AND id = $2"
_EMPTY = "UPDATE artifacts SET deleted_at = $3 WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL"
_DROP_GRANTS = "DELETE FROM collection_access WHERE org_id = $1 AND collection_id = $2"
# The feed tells of the table's end to those who could read it then.
_DEPART_GRANTS = f"""WITH gone AS ({_DROP_GRANTS} RETURNING org_id, collection_id, subject_type, subject_id, mode)
    INSERT INTO departed_access (org_id, collection_id, subject_type, subject_id, mode) SELECT * FROM gone"""
_TOUCH = """UPDATE artifact_collections SET version = $3, revision = revision + 1, updated_at = $4, updated_by_kind = $5,
    updated_by_id = $6, updated_by_name = $7, record_count = CASE WHEN $8 THEN 0 ELSE record_count END,
    deleted_at = CASE WHEN $9 THEN $4::timestamptz END WHERE org_id = $1 AND id = $2"""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What an operator decides about a table."""

    name: str
    purpose: str
    columns: tuple[dialect.ColumnDef, ...]
    guild_id: str | None

    def stored(self) -> tuple[str, str, str, str | None]:
        return self.name, self.purpose, dialect.dump(self.columns), self.guild_id


async def create(
    db: Database, caller: Caller, *, name: str, purpose: str, columns: Sequence[dict[str, Any]], guild_id: str | None = None
) -> Row:
    """A new, empty table. Raises Unprocessable with every problem, Conflict for a taken name, LimitExceeded, Forbidden for agents."""
    async with db.write() as writer:
        return await create_in(writer, caller, name=name, purpose=purpose, columns=columns, guild_id=guild_id)


async def create_in(
    writer: Writer, caller: Caller, *, name: str, purpose: str, columns: Sequence[dict[str, Any]], guild_id: str | None = None
) -> Row:
    """The same within a transaction; the table is locked."""
    caller.require_operator("creating a collection")
    # All that is wrong with the arguments is told at once, before anything is looked up.
    _require([*_name_faults(name), *_purpose_faults(purpose), *dialect.faults(columns), *_early_renames(columns)])
    facts = _Facts(name, purpose, dialect.parse(columns), guild_id)
    await _lock_guild(writer, caller, guild_id)
    await _require_room(writer, caller)
    at, collection_id = now(), new_id()
    path = collection_path(caller.org_id, name)
    who = (caller.kind, caller.id, caller.name)
    await writer.execute(_INSERT, caller.org_id, collection_id, *facts.stored(), 1, at, *who)
    version = await _numbered(writer, caller, collection_id, path, 1)
    await changes.record(writer, caller, _change(FileOperation.CREATE, collection_id, path, version, at))
    return await access.locked_id(writer, caller, collection_id)


async def update(
    db: Database,
    caller: Caller,
    collection_id: str,
    *,
    name: str | Unset = UNSET,
    purpose: str | Unset = UNSET,
    columns: Sequence[dict[str, Any]] | Unset = UNSET,
    guild_id: str | Unset | None = UNSET,
    expected_version: int | None = None,
) -> Row:
    """The table after the change; its records are changed with its columns. Raises as `create`, NotFound, and VersionConflict."""
    caller.require_operator("changing a collection")
    problems = [] if name is UNSET else _name_faults(name)
    problems += [] if purpose is UNSET else _purpose_faults(purpose)
    problems += [] if columns is UNSET else dialect.faults(columns)
    _require(problems)
    async with db.write() as writer:
        # The guild before the table, as whoever deletes a guild takes them.
        if guild_id is not UNSET:
            await _lock_guild(writer, caller, guild_id)
        old = await access.locked_id(writer, caller, collection_id)
        facts = _Facts(
            old.name if name is UNSET else name,
            old.purpose if purpose is UNSET else purpose,
            dialect.load(old.columns) if columns is UNSET else dialect.parse(columns),
            old.guild_id if guild_id is UNSET else guild_id,
        )
        if expected_version not in {None, old.version}:
            if facts == _Facts(old.name, old.purpose, dialect.load(old.columns), old.guild_id):
                return old
            require_version(old, expected_version)
        await column_changes.apply(writer, caller.org_id, collection_id, dialect.load(old.columns), facts.columns)
        await _move(writer, caller, old, facts.guild_id)
        await _save(writer, caller, old, facts)
        return await access.locked_id(writer, caller, collection_id)


async def delete(db: Database, caller: Caller, collection_id: str, *, expected_version: int | None = None) -> Row:
    """The change that says that the table is gone, with its records and grants. Raises NotFound, Forbidden, VersionConflict."""
    caller.require_operator("deleting a collection")
    async with db.write() as writer:
        collection = await access.locked_id(writer, caller, collection_id)
        require_version(collection, expected_version)
        return await delete_in(writer, caller, collection)


def require_version(file: Row, expected: int | None) -> None:
    """Raise VersionConflict where a version is expected that the file, which is locked, does not have."""
    if expected is not None and expected != file.version:
        raise VersionConflict(file.display_path, expected=expected, current=file.version)


async def delete_in(writer: Writer, caller: Caller, collection: Row) -> Row:
    """The same within a transaction that has locked the table."""
    at = now()
    await writer.execute(_EMPTY, caller.org_id, collection.id, at)
    await writer.execute(_DEPART_GRANTS, caller.org_id, collection.id)
    return await touch(writer, caller, collection, FileOperation.DELETE, emptied=True, deleted=True)


async def delete_of_guild(writer: Writer, caller: Caller, guild_id: str) -> None:
    """Delete the tables that belong to a guild, in the transaction that deletes the guild."""
    owned = "SELECT id FROM artifact_collections WHERE org_id = $1 AND guild_id = $2 AND deleted_at IS NULL ORDER BY id"
    for row in await writer.rows(owned, caller.org_id, guild_id):
        collection = await access.locked_if_live(writer, caller, row.id)
        # While the lock was waited for, the table may have been deleted, or moved to where it outlives the guild.
        if collection is not None and collection.guild_id == guild_id:
            await delete_in(writer, caller, collection)


async def clear(db: Database, caller: Caller, collection_id: str) -> int:
    """How many records were dropped; the table, its grants and its counter stay. Raises NotFound, Forbidden."""
    caller.require_operator("clearing a collection")
    async with db.write() as writer:
        collection = await access.locked_id(writer, caller, collection_id)
        dropped = await writer.execute(_EMPTY, caller.org_id, collection_id, now())
        await touch(writer, caller, collection, FileOperation.CLEAR, emptied=True)
        return dropped


async def get(db: Database, caller: Caller, *, collection_id: str | None = None, name: str | None = None) -> Row | None:
    """The collection of this id, or of this name, if the caller may read it. Raises Unprocessable where neither is given."""
    if collection_id is None and name is None:
        raise Unprocessable("give the id or the name of the collection")
    async with db.read() as reader:
        if collection_id is None:
            return await access.find(reader, caller, name or "")
        found = await access.find_id(reader, caller, collection_id)
        return found if found is not None and name in {None, found.name} else None


async def listed(db: Database, caller: Caller) -> list[Row]:
    """The collections that the caller may read, by name: all of the organisation for operators."""
    async with db.read() as reader:
        return await access.readable(reader, caller)


async def by_ids(db: Database, caller: Caller, ids: Sequence[str]) -> dict[str, Row]:
    """Those of the collections that the caller may read, by id."""
    async with db.read() as reader:
        return {row.id: row for row in await access.of_ids(reader, caller, ids)}


async def touch(
    writer: Writer, caller: Caller, collection: Row, operation: FileOperation, *, emptied: bool = False, deleted: bool = False
) -> Row:
    """Count a version of a locked table and record the change; the change's row."""
    at, version = now(), await _next_version(writer, caller, collection.version, collection.display_path)
    who = (caller.kind, caller.id, caller.name)
    await writer.execute(_TOUCH, caller.org_id, collection.id, version, at, *who, emptied, deleted)
    return await changes.record(writer, caller, _change(operation, collection.id, collection.display_path, version, at))


async def _save(writer: Writer, caller: Caller, old: Row, facts: _Facts) -> None:
    at, path = now(), collection_path(caller.org_id, facts.name)
    who = (caller.kind, caller.id, caller.name)
    await writer.execute(_UPDATE, caller.org_id, old.id, *facts.stored(), old.version + 1, at, *who)
    version = await _numbered(writer, caller, old.id, path, old.version + 1)
    previous = old.display_path if old.display_path != path else None
    await changes.record(writer, caller, _change(FileOperation.UPDATE, old.id, path, version, at, previous=previous))


async def _numbered(writer: Writer, caller: Caller, collection_id: str, path: str, version: int) -> int:
    """The version of a table that was just written under its name, at least `version`; the row has it then."""
    # Read only now: writing the name waited for whoever was about to give it up, whose last version counts as well.
    number = max(version, await changes.last_version(writer, caller.org_id, path) + 1)
    if number != version:
        await writer.execute(_NUMBER, caller.org_id, collection_id, number)
    return number


async def _next_version(writer: Writer, caller: Caller, current: int, path: str) -> int:
    return max(current, await changes.last_version(writer, caller.org_id, path)) + 1


def _change(operation: FileOperation, file_id: str, path: str, version: int, at: datetime, *, previous: str | None = None) -> Change:
    return Change(
        kind=FileKind.COLLECTION,
        operation=operation,
        file_id=file_id,
        path=path,
        version=version,
        at=at,
        collection_id=file_id,
        previous_path=previous,
    )


async def _move(writer: Writer, caller: Caller, old: Row, guild_id: str | None) -> None:
    if guild_id == old.guild_id:
        return
    # Rows that were made for the whole organisation would let other guilds into a guild's own table.
    if guild_id is not None:
        await writer.execute(_DROP_GRANTS, caller.org_id, old.id)
    else:
        keep = """INSERT INTO collection_access (org_id, collection_id, subject_type, subject_id, mode)
            VALUES ($1, $2, 'GUILD', $3, 'WRITE')"""
        await writer.execute(keep, caller.org_id, old.id, old.guild_id)


async def _lock_guild(writer: Writer, caller: Caller, guild_id: str | None) -> None:
    if guild_id is None:
        return
    check(guild_id=guild_id)
    # Held until the commit, so that no table is given to a guild that is being deleted.
    live = "SELECT id FROM guilds WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE"
    if await writer.value(live, caller.org_id, guild_id) is None:
        raise NotFound(f"unknown guild {printable(guild_id)[:200]}")


async def _require_room(writer: Writer, caller: Caller) -> None:
    # Creations within one organisation go one after the other, so that the count holds.
    await writer.value("SELECT org_id FROM organisations WHERE org_id = $1 FOR NO KEY UPDATE", caller.org_id)
    count = await writer.value("SELECT count(*) FROM artifact_collections WHERE org_id = $1 AND deleted_at IS NULL", caller.org_id)
    if count >= COLLECTIONS_PER_ORG:
        raise LimitExceeded(f"the organisation has {count} collections; the limit is {COLLECTIONS_PER_ORG}")


def _require(problems: list[Problem]) -> None:
    if problems:
        raise Unprocessable.listing("collection rejected", problems)


def _name_faults(name: Any) -> list[Problem]:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return []
    return [Problem(None, f"name must match ^[a-z][a-z0-9_-]{{0,62}}$; got {shown(name)}")]


def _purpose_faults(purpose: Any) -> list[Problem]:
    if not isinstance(purpose, str) or not purpose.strip():
        return [Problem(None, "purpose is required, since agents read it")]
    if reason := fault(purpose):
        return [Problem(None, f"purpose {reason}")]
    if len(purpose) > PURPOSE_CHARACTERS:
        return [Problem(None, f"purpose has {len(purpose)} characters; at most {PURPOSE_CHARACTERS} are allowed")]
    return []


def _early_renames(columns: Sequence[Any]) -> list[Problem]:
    renamed = [item for item in columns if isinstance(item, dict) and item.get("rename_from") is not None]
    return [Problem(str(item.get("name")), "rename_from is for changing a table; a new one has no column to rename") for item in renamed]
