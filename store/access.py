"""Who reaches which collection: an agent's own row where it has one, otherwise its guild's base; operators reach all with write.

A guild's own table has no guild rows: its base is write for that guild's agents, and nothing for anyone else.
"""

from collections.abc import Sequence

from models.caller import Caller
from models.errors import Forbidden, NotFound
from models.kinds import AccessMode
from models.text import check, fault, printable
from store.database import Reader, Row, Writer
from store.display_paths import COLLECTION_PATH

# A collection as every reader sees it, from artifact_collections AS k; `effective` adds the access.
COLUMNS = f"""k.id, k.name, {COLLECTION_PATH} AS display_path, k.purpose,
    CASE WHEN k.guild_id IS NULL THEN 'ORG' ELSE 'GUILD' END AS scope, k.guild_id, k.columns, k.record_count, k.revision, k.version,
    k.created_at, k.created_by_kind, k.created_by_id, k.created_by_name,
    k.updated_at, k.updated_by_kind, k.updated_by_id, k.updated_by_name"""


def joins(agent: str = "$2", guild: str = "$3") -> str:
    """The joins that EFFECTIVE reads, for artifact_collections AS k and the parameters that hold the agent's and its guild's ids."""
    return f"""LEFT JOIN collection_access own ON own.org_id = k.org_id AND own.collection_id = k.id
            AND own.subject_type = 'AGENT' AND own.subject_id = {agent}::text
        LEFT JOIN collection_access base ON base.org_id = k.org_id AND base.collection_id = k.id
            AND base.subject_type = 'GUILD' AND base.subject_id = {guild}::text AND k.guild_id IS NULL"""


def effective(agent: str = "$2", guild: str = "$3") -> str:
    """The mode that a caller ends up with, 'NONE', 'READ' or 'WRITE'; a null agent is an operator. Needs `joins`."""
    return f"""CASE WHEN {agent}::text IS NULL THEN 'WRITE'
        WHEN k.guild_id IS NULL THEN coalesce(own.mode, base.mode, 'NONE')
        WHEN k.guild_id = {guild}::text THEN coalesce(own.mode, 'WRITE')
        ELSE 'NONE' END"""


def subject(caller: Caller) -> tuple[str | None, str | None]:
    """The values of the agent and guild parameters for a caller."""
    return (caller.id, caller.guild_id) if caller.is_agent else (None, None)


# Live collections of organisation $1 with the access of agent $2 in guild $3; filter by `AND ...` on k.
SELECT = f"""SELECT {COLUMNS}, {effective()} AS access FROM artifact_collections k {joins()}
    WHERE k.org_id = $1 AND k.deleted_at IS NULL"""

_BY_NAME = f"{SELECT} AND k.name = $4"
_BY_ID = f"{SELECT} AND k.id = $4"
_READABLE = f"{SELECT} AND {effective()} <> 'NONE' ORDER BY k.name"
_BY_IDS = f"{SELECT} AND k.id = ANY($4::text[]) AND {effective()} <> 'NONE' ORDER BY k.name"
_LOCK = """SELECT id FROM artifact_collections WHERE org_id = $1 AND deleted_at IS NULL AND {key} = $2 FOR NO KEY UPDATE"""
_LOCK_NAME = _LOCK.format(key="name")
_LOCK_ID = _LOCK.format(key="id")


def unknown(name: str) -> NotFound:
    """The refusal of a collection that does not exist, or not for this caller."""
    return NotFound(f"unknown collection {printable(name)[:200]}")


async def readable(reader: Reader, caller: Caller) -> list[Row]:
    """The live collections that the caller may read, by name."""
    return await reader.rows(_READABLE, caller.org_id, *subject(caller))


async def find(reader: Reader, caller: Caller, name: str) -> Row | None:
    """The live collection of this name if the caller may read it. Raises Unprocessable for a name that is no text."""
    check(collection=name)
    return _visible(await reader.row(_BY_NAME, caller.org_id, *subject(caller), name))


async def find_id(reader: Reader, caller: Caller, collection_id: str) -> Row | None:
    """The live collection of this id if the caller may read it."""
    check(id=collection_id)
    return _visible(await reader.row(_BY_ID, caller.org_id, *subject(caller), collection_id))


async def of_ids(reader: Reader, caller: Caller, ids: Sequence[str]) -> list[Row]:
    """Those of the live collections that the caller may read, by name."""
    return await reader.rows(_BY_IDS, caller.org_id, *subject(caller), [item for item in ids if fault(item) is None])


async def for_read(reader: Reader, caller: Caller, name: str) -> Row:
    """The collection, for reading its records. Raises NotFound where it does not exist for the caller."""
    found = await find(reader, caller, name)
    if found is None:
        raise unknown(name)
    return found


async def for_write(reader: Reader, caller: Caller, name: str) -> Row:
    """The collection, for writing records. Raises NotFound as `for_read`, Forbidden where the caller may only read."""
    found = await for_read(reader, caller, name)
    if found.access != AccessMode.WRITE:
        raise Forbidden(f"collection {name} may only be read; writing to it needs a write grant")
    return found


async def locked_for_write(writer: Writer, caller: Caller, name: str) -> Row:
    """As `for_write`, with the collection's row locked until the transaction ends, as of after the lock was taken."""
    check(collection=name)
    # The lock comes in a statement of its own: what waits for a lock looks at grants as they were before it waited.
    await writer.value(_LOCK_NAME, caller.org_id, name)
    return await for_write(writer, caller, name)


async def locked_id(writer: Writer, caller: Caller, collection_id: str) -> Row:
    """The collection of this id, locked until the transaction ends; for operators. Raises NotFound."""
    found = await locked_if_live(writer, caller, collection_id)
    if found is None:
        raise unknown(collection_id)
    return found


async def locked_if_live(writer: Writer, caller: Caller, collection_id: str) -> Row | None:
    """The same, or None where there is no such collection any more."""
    check(id=collection_id)
    await writer.value(_LOCK_ID, caller.org_id, collection_id)
    return await find_id(writer, caller, collection_id)


def _visible(row: Row | None) -> Row | None:
    # Refused and missing look alike from here on, so that no caller can tell them apart.
    return None if row is None or row.access == AccessMode.NONE else row
