"""The scripts of agents: source that a run carries into its sandbox. They stand in no search of notes or records."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import now
from models.errors import MunimentError, NotFound, Problem, Unprocessable, VersionConflict
from models.kinds import ArtifactKind, FileKind, FileOperation
from models.limits import SCRIPT_BYTES
from models.paths import Family, Path, parse, script_path
from models.scripts import name_faults
from models.tables import Artifact
from models.text import printable
from store import access, agent_files
from store.agent_files import AgentFileRow
from store.changes import LAST_VERSION
from store.database import Database, Reader, Row
from store.grouping import grouped
from store.notes.rights import reads
from store.sql import arg, query

_OF_AGENTS, _HEADS_OF_AGENTS = (
    query(
        AgentFileRow,
        sa.select(*columns)
        .where(*agent_files.LIVE, agent_files.OF_AGENTS)
        .order_by(col(Artifact.owner_id), sa.func.lower(col(Artifact.key)), col(Artifact.key)),
    )
    for columns in (agent_files.COLUMNS, agent_files.COLUMNS_WITHOUT_CONTENT)
)
# A deleted script's row keeps the version of its deletion, so the rows know a path's last version even when old changes are pruned.
_LAST = f"""SELECT greatest({LAST_VERSION}, (SELECT max(p.version) FROM artifacts p
    WHERE p.org_id = $1 AND p.owner_id = $3 AND p.kind = 'SCRIPT' AND p.key = $4))"""
_DELETE = query(
    AgentFileRow,
    sa.update(Artifact)
    .where(agent_files.IN_ORG, col(Artifact.id) == arg("id"))
    .values(deleted_at=arg("at"), updated_at=arg("at"), version=col(Artifact.version) + 1)
    .returning(*agent_files.COLUMNS),
)

_OTHERS = {
    Family.NOTE: "is a note, not a script; use note_get, note_write and note_delete",
    Family.TASK: "is an agent's task, not a script; the agent finds it in its State",
    Family.MEMORY: "is an agent's memory, not a script; the agent finds it in its State and writes it with memory_write",
    Family.ARCHIVE: "is a previous version of an agent's memory, not a script",
    Family.COLLECTION: "is a collection, not a script; find its records with record_search and record_list",
    Family.RECORD: "is a record, not a script; read it with record_list and remove it with record_remove",
}


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str], *, content: bool = True) -> Mapping[str, list[AgentFileRow]]:
    """Return the scripts of each agent, by name. Agents without scripts are left out, and without `content` the text is None.

    Raises: Forbidden for an agent that asks for others.
    """
    agent_files.require_own(caller, agent_ids, "scripts")
    statement = _OF_AGENTS if content else _HEADS_OF_AGENTS
    async with db.read() as reader:
        ids = agent_files.storable(agent_ids)
        rows = await reader.rows(statement, org_id=caller.org_id, kind=ArtifactKind.SCRIPT, agents=ids)
    return grouped(rows, lambda script: script.agent_id)


async def listed(db: Database, caller: Caller, agent_id: str | None = None, *, content: bool = True) -> list[AgentFileRow]:
    """Return the scripts of one agent, by name: the caller's own, or for an operator those of the agent named.

    Raises: Unprocessable if an agent names one or an operator does not, NotFound for an unknown agent.
    """
    owner = agent_files.owner_of(caller, agent_id, "scripts")
    found = (await of_agents(db, caller, [owner], content=content)).get(owner, [])
    if not found:
        async with db.read() as reader:
            await agent_files.name_of(reader, caller.org_id, owner)
    return found


async def get(db: Database, caller: Caller, path: str) -> AgentFileRow:
    """Return the script at a display path. Raises NotFound, or Unprocessable naming the right tool for a path of another family."""
    async with db.read() as reader:
        parsed = await _script(reader, caller, path)
        found = await agent_files.one(reader, caller.org_id, ArtifactKind.SCRIPT, parsed.owner_id, parsed.key)
    if found is None:
        raise _unknown(path)
    return found


async def write(
    db: Database, caller: Caller, name: str, content: str, *, agent_id: str | None = None, expected_version: int | None = None
) -> AgentFileRow:
    """Create or replace a script; return it. An agent writes its own, an operator says whose.

    `expected_version` 0 means only if there is none.
    Raises: Unprocessable, LimitExceeded over 256 KB or 10,000 artifacts, NotFound, VersionConflict.
    """
    owner = agent_files.owner_of(caller, agent_id, "scripts")
    agent_files.check_request("script", content, SCRIPT_BYTES, expected_version, [Problem("name", reason) for reason in name_faults(name)])
    path = script_path(caller.org_id, owner, name)
    async with db.write() as writer:
        await agent_files.lock(writer, caller.org_id, owner)
        current = await agent_files.one(writer, caller.org_id, ArtifactKind.SCRIPT, owner, name)
        if agent_files.already_there(path, current, content, expected_version) and current is not None:
            return current
        if current is not None:
            return await agent_files.replace(writer, caller, ArtifactKind.SCRIPT, current, content)
        version = await writer.value(_LAST, caller.org_id, path, owner, name) + 1
        return await agent_files.create(writer, caller, ArtifactKind.SCRIPT, owner, key=name, content=content, version=version)


async def delete(db: Database, caller: Caller, path: str, *, expected_version: int | None = None) -> Row:
    """Delete the script at a display path; return the change. Raises as `get`, and VersionConflict."""
    async with db.write() as writer:
        parsed = await _script(writer, caller, path)
        # The path of an agent that is gone is an unknown path, not an unknown agent: the caller named no agent.
        try:
            await agent_files.lock(writer, caller.org_id, parsed.owner_id)
        except NotFound as refusal:
            raise _unknown(path) from refusal
        current = await agent_files.one(writer, caller.org_id, ArtifactKind.SCRIPT, parsed.owner_id, parsed.key)
        if current is not None and expected_version not in {None, current.version}:
            raise VersionConflict(path, expected=expected_version or 0, current=current.version)
        gone = current and await writer.row(_DELETE, org_id=caller.org_id, id=current.id, at=now())
        if gone is None:
            raise _unknown(path)
        return await agent_files.record(writer, caller, FileKind.SCRIPT, FileOperation.DELETE, gone)


async def _script(reader: Reader, caller: Caller, path: str) -> Path:
    """The path of a script that the caller may touch; see `get` for what else raises."""
    parsed = parse(path, caller.org_id)
    if parsed.family is not Family.SCRIPT:
        raise await _refusal(reader, caller, parsed)
    if caller.is_agent and parsed.owner_id != caller.id:
        raise _unknown(path)
    return parsed


async def _refusal(reader: Reader, caller: Caller, path: Path) -> MunimentError:
    """What a path of another family gets: the right tool, unless the caller must not know that it exists."""
    if path.family in (Family.COLLECTION, Family.RECORD):
        await access.for_read(reader, caller, path.collection)
    elif not reads(caller, path.level, path.owner_id) or (caller.is_agent and path.family is Family.ARCHIVE):
        return _unknown(path.text)
    return Unprocessable(f"{path.text[:500]} {_OTHERS[path.family]}")


def _unknown(path: str) -> NotFound:
    return NotFound(f"unknown script {printable(path)[:500]}")
