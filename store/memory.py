"""An agent's memory: its private text for future runs. What it replaces is kept under archive paths, which operators alone resolve."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.errors import NotFound, Unprocessable
from models.kinds import ArtifactKind, FileOperation
from models.limits import MEMORY_BYTES
from models.paths import MEMORY_KEY, Family, Path, agent_path, parse
from models.tables import Agent, Artifact, FileChange, MemoryRevision
from models.text import check, printable
from store import agent_files
from store.agent_files import AgentFileRow
from store.database import Database, Reader, Writer
from store.display_paths import archive_key, archive_path
from store.grouping import grouped
from store.revisions import RevisionRow, SavedOnceShape, put_away, source_of
from store.sql import TEXTS, arg, columns, query

_OF_AGENTS = query(AgentFileRow, sa.select(*agent_files.COLUMNS).where(*agent_files.LIVE, agent_files.OF_AGENTS))

_REVISION = (*columns(MemoryRevision, SavedOnceShape), archive_path(MemoryRevision).label("display_path"))
_REVISIONS_IN_ORG = col(MemoryRevision.org_id) == arg("org_id")
_REVISIONS = query(
    RevisionRow,
    sa.select(*_REVISION)
    .where(_REVISIONS_IN_ORG, col(MemoryRevision.agent_id) == sa.func.any(arg("agents", TEXTS)))
    .order_by(col(MemoryRevision.agent_id), col(MemoryRevision.version).desc()),
)
_ARCHIVED = query(
    RevisionRow,
    sa.select(*_REVISION)
    .join(Agent, sa.and_(col(Agent.org_id) == col(MemoryRevision.org_id), col(Agent.id) == col(MemoryRevision.agent_id)))
    .where(
        *(_REVISIONS_IN_ORG, col(MemoryRevision.agent_id) == arg("agent_id"), archive_key(MemoryRevision) == arg("key", sa.Text)),
        col(Agent.deleted_at).is_(None),
    ),
)

_STAMP = sa.func.to_char(sa.func.timezone("UTC", col(Artifact.updated_at)), 'YYYYMMDD"T"HH24MISS"Z"')
_STAMP_IS_TAKEN = sa.exists().where(
    _REVISIONS_IN_ORG, col(MemoryRevision.agent_id) == col(Artifact.owner_id), col(MemoryRevision.stamp) == _STAMP
)
_WAS_RESTORED = sa.exists().where(
    *(col(FileChange.org_id) == arg("org_id"), col(FileChange.display_path) == arg("path"), col(FileChange.file_id) == col(Artifact.id)),
    *(col(FileChange.version) == col(Artifact.version), col(FileChange.operation) == FileOperation.RESTORE),
)
_VERSION = sa.literal(".") + sa.cast(col(Artifact.version), sa.Text)
_ARCHIVE = put_away(
    MemoryRevision,
    Artifact,
    {
        "org_id": col(Artifact.org_id),
        "agent_id": col(Artifact.owner_id),
        "version": col(Artifact.version),
        # The stamp is the time of the version that is put away. The version tells two within a second apart.
        "stamp": _STAMP + sa.case((_STAMP_IS_TAKEN, _VERSION), else_=""),
        "source": sa.case((_WAS_RESTORED, "restore"), else_=source_of(Artifact)),
        "content": col(Artifact.content),
    },
    *(agent_files.IN_ORG, col(Artifact.id) == arg("id")),
)


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, AgentFileRow]:
    """Return the memory of each agent that has one. Raises Forbidden for an agent that asks for others."""
    agent_files.require_own(caller, agent_ids, "memory")
    async with db.read() as reader:
        ids = agent_files.storable(agent_ids)
        rows = await reader.rows(_OF_AGENTS, org_id=caller.org_id, kind=ArtifactKind.MEMORY, agents=ids)
    return {row.agent_id: row for row in rows}


async def get(db: Database, caller: Caller, agent_id: str) -> AgentFileRow:
    """Return the memory of a live agent. Raises: NotFound if there is none, Forbidden for an agent that asks for another's."""
    check(agentId=agent_id)
    agent_files.require_own(caller, [agent_id], "memory")
    async with db.read() as reader:
        found = await agent_files.one(reader, caller.org_id, ArtifactKind.MEMORY, agent_id, MEMORY_KEY)
        if found is None:
            name = await agent_files.name_of(reader, caller.org_id, agent_id)
            raise NotFound(f"{name} has written no memory yet")
    return found


async def write(
    db: Database, caller: Caller, content: str, *, agent_id: str | None = None, expected_version: int | None = None
) -> AgentFileRow:
    """Replace an agent's memory; return it. An agent writes its own, an operator says whose.

    `expected_version` 0 means only if there is none. Raises: Unprocessable, LimitExceeded over 256 KB, NotFound, VersionConflict.
    """
    owner = agent_files.owner_of(caller, agent_id, "memory")
    agent_files.check_request("memory", content, MEMORY_BYTES, expected_version)
    async with db.write() as writer:
        await agent_files.lock(writer, caller.org_id, owner)
        return await _put(writer, caller, owner, content, expected_version, FileOperation.UPDATE)


async def _put(
    writer: Writer, caller: Caller, owner: str, content: str, expected_version: int | None, operation: FileOperation
) -> AgentFileRow:
    current = await agent_files.one(writer, caller.org_id, ArtifactKind.MEMORY, owner, MEMORY_KEY)
    path = agent_path(caller.org_id, owner, MEMORY_KEY)
    if agent_files.already_there(path, current, content, expected_version) and current is not None:
        return current
    if current is None:
        return await agent_files.create(writer, caller, ArtifactKind.MEMORY, owner, key=MEMORY_KEY, content=content, version=1)
    # Archive in the transaction that replaces, so that no version is lost between the two.
    await writer.execute(_ARCHIVE, org_id=caller.org_id, id=current.id, path=path)
    return await agent_files.replace(writer, caller, ArtifactKind.MEMORY, current, content, operation)


async def revisions(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[RevisionRow]]:
    """Return the previous versions of each agent's memory, newest first. Agents without any are left out. Raises Forbidden for agents."""
    caller.require_operator("the memory archive")
    ids = agent_files.storable(agent_ids)
    async with db.read() as reader:
        return grouped(await reader.rows(_REVISIONS, org_id=caller.org_id, agents=ids), lambda revision: revision.agent_id)


async def archived(db: Database, caller: Caller, path: str) -> RevisionRow:
    """Return the previous version at an archive path, for operators.

    Raises: NotFound for what is unknown, and for agents; Unprocessable for a path of another family.
    """
    # Not found rather than forbidden, because agents must not learn of the archive.
    if caller.is_agent:
        raise _unknown(path)
    parsed = _archive_path(caller, path)
    async with db.read() as reader:
        return await _archived(reader, parsed)


async def restore(db: Database, caller: Caller, path: str, *, expected_version: int | None = None) -> AgentFileRow:
    """Make a previous version the present memory, for operators; return the memory. What it replaces is archived like any other.

    Raises: Forbidden, NotFound, Unprocessable, VersionConflict.
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


async def _archived(reader: Reader, path: Path) -> RevisionRow:
    found = await reader.row(_ARCHIVED, org_id=path.org_id, agent_id=path.owner_id, key=path.key)
    if found is None:
        raise _unknown(path.text)
    return found


def _unknown(path: str) -> NotFound:
    return NotFound(f"unknown path {printable(path)[:500]}")
