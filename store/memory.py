"""An agent's memory: its private text for future runs. What it replaces is kept under archive paths, which operators alone resolve."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.errors import NotFound, Unprocessable
from models.kinds import ArtifactKind, FileOperation
from models.limits import MEMORY_BYTES
from models.paths import MEMORY_KEY, Family, Path, agent_path, parse
from models.text import check, printable
from store import agent_files
from store.database import Database, Reader, Row, Writer
from store.tasks import SAVER

_OF_AGENTS = f"SELECT {agent_files.COLUMNS} FROM artifacts a WHERE {agent_files.LIVE} AND a.owner_id = ANY($3::text[])"

_FILE_NAME = "m.stamp || '-' || m.source || '.md'"
_REVISION = f"""m.agent_id, 'org/' || m.org_id || '/agents/' || m.agent_id || '/history-archive/' || {_FILE_NAME} AS display_path,
    m.content, m.version, m.source, m.saved_at, m.saved_by_kind, m.saved_by_id, m.saved_by_name"""
_REVISIONS = f"""SELECT {_REVISION} FROM memory_revisions m
    WHERE m.org_id = $1 AND m.agent_id = ANY($2::text[]) ORDER BY m.agent_id, m.version DESC"""
_ARCHIVED = f"""SELECT {_REVISION} FROM memory_revisions m JOIN agents g ON g.org_id = m.org_id AND g.id = m.agent_id
    WHERE m.org_id = $1 AND m.agent_id = $2 AND {_FILE_NAME} = $3 AND g.deleted_at IS NULL"""

# The stamp is the time of the version that is put away; two within a second are told apart by the version.
_STAMP = "to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYYMMDD\"T\"HH24MISS\"Z\"')"
_RESTORED = """EXISTS (SELECT FROM file_changes c WHERE c.org_id = $1 AND c.display_path = $3 AND c.file_id = a.id
    AND c.version = a.version AND c.operation = 'RESTORE')"""
_ARCHIVE = f"""INSERT INTO memory_revisions (org_id, agent_id, version, stamp, source, content,
        saved_at, saved_by_kind, saved_by_id, saved_by_name)
    SELECT a.org_id, a.owner_id, a.version,
        {_STAMP} || CASE WHEN EXISTS (SELECT FROM memory_revisions m WHERE m.org_id = $1 AND m.agent_id = a.owner_id AND m.stamp = {_STAMP})
            THEN '.' || a.version ELSE '' END,
        CASE WHEN {_RESTORED} THEN 'restore' ELSE {SAVER.format(kind="a.updated_by_kind")} END, a.content,
        a.updated_at, a.updated_by_kind, a.updated_by_id, a.updated_by_name
    FROM artifacts a WHERE a.org_id = $1 AND a.id = $2"""


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, Row]:
    """The memory of each agent that has one. Raises Forbidden for an agent that asks for others."""
    agent_files.require_own(caller, agent_ids, "memory")
    async with db.read() as reader:
        rows = await reader.rows(_OF_AGENTS, caller.org_id, ArtifactKind.MEMORY, agent_files.storable(agent_ids))
    return {row.agent_id: row for row in rows}


async def get(db: Database, caller: Caller, agent_id: str) -> Row:
    """The memory of a living agent. Raises NotFound where there is none, Forbidden for an agent that asks for another's."""
    check(agentId=agent_id)
    agent_files.require_own(caller, [agent_id], "memory")
    async with db.read() as reader:
        found = await agent_files.one(reader, caller.org_id, ArtifactKind.MEMORY, agent_id, MEMORY_KEY)
        if found is None:
            name = await agent_files.name_of(reader, caller.org_id, agent_id)
            raise NotFound(f"{name} has written no memory yet")
    return found


async def write(db: Database, caller: Caller, content: str, *, agent_id: str | None = None, expected_version: int | None = None) -> Row:
    """Replace an agent's memory; the memory as it is now. An agent writes its own, an operator says whose.

    `expected_version` 0 means only if there is none. Raises Unprocessable, LimitExceeded over 256 KB, NotFound, VersionConflict.
    """
    owner = agent_files.owner_of(caller, agent_id, "memory")
    agent_files.check_request("memory", content, MEMORY_BYTES, expected_version)
    async with db.write() as writer:
        await agent_files.lock(writer, caller.org_id, owner)
        return await _put(writer, caller, owner, content, expected_version, FileOperation.UPDATE)


async def _put(writer: Writer, caller: Caller, owner: str, content: str, expected_version: int | None, operation: FileOperation) -> Row:
    current = await agent_files.one(writer, caller.org_id, ArtifactKind.MEMORY, owner, MEMORY_KEY)
    path = agent_path(caller.org_id, owner, MEMORY_KEY)
    if agent_files.already_there(path, current, content, expected_version) and current is not None:
        return current
    if current is None:
        return await agent_files.create(writer, caller, ArtifactKind.MEMORY, owner, key=MEMORY_KEY, content=content, version=1)
    # In the same transaction: no version is ever lost between its replacement and its archive.
    await writer.execute(_ARCHIVE, caller.org_id, current.id, path)
    return await agent_files.replace(writer, caller, ArtifactKind.MEMORY, current, content, operation)


async def revisions(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """The previous versions of each agent's memory, newest first; agents without any are left out. Raises Forbidden for agents."""
    caller.require_operator("the memory archive")
    found: dict[str, list[Row]] = {}
    async with db.read() as reader:
        for row in await reader.rows(_REVISIONS, caller.org_id, agent_files.storable(agent_ids)):
            found.setdefault(row.agent_id, []).append(row)
    return found


async def archived(db: Database, caller: Caller, path: str) -> Row:
    """The previous version at an archive path, for operators.

    Raises NotFound for what is unknown, and for agents; Unprocessable for a path of another family.
    """
    # Unknown rather than forbidden: the archive is not for agents to know of.
    if caller.is_agent:
        raise _unknown(path)
    parsed = _archive_path(caller, path)
    async with db.read() as reader:
        return await _archived(reader, parsed)


async def restore(db: Database, caller: Caller, path: str, *, expected_version: int | None = None) -> Row:
    """Make a previous version the present memory, for operators; the memory as it is now. What it replaces is archived like any other.

    Raises Forbidden, NotFound, Unprocessable, VersionConflict.
    """
    caller.require_operator("memoryRestore")
    parsed = _archive_path(caller, path)
    agent_files.check_request("memory", "", MEMORY_BYTES, expected_version)
    async with db.write() as writer:
        content = (await _archived(writer, parsed)).content
        await agent_files.lock(writer, caller.org_id, parsed.owner_id)
        return await _put(writer, caller, parsed.owner_id, content, expected_version, FileOperation.RESTORE)


def _archive_path(caller: Caller, path: str) -> Path:
    parsed = parse(path, caller.org_id)
    if parsed.family is not Family.ARCHIVE:
        raise Unprocessable(
            f"{path[:500]} is no previous version of a memory; one is at …/agents/<agent_id>/history-archive/<stamp>-<source>.md"
        )
    return parsed


async def _archived(reader: Reader, path: Path) -> Row:
    found = await reader.row(_ARCHIVED, path.org_id, path.owner_id, path.key)
    if found is None:
        raise _unknown(path.text)
    return found


def _unknown(path: str) -> NotFound:
    return NotFound(f"unknown path {printable(path)[:500]}")
