"""An agent's standing task: a column of the agent's row that operators save, with its latest previous saves."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.clock import now
from models.kinds import FileKind, FileOperation
from models.limits import TASK_BYTES, TASK_REVISIONS
from models.paths import TASK_KEY, agent_path
from models.text import check
from store import agent_files, agents
from store.database import Database, Row, Writer

SAVER = "CASE {kind} WHEN 'AGENT' THEN 'agent' WHEN 'USER' THEN 'operator' ELSE 'system' END"

_COLUMNS = f"""g.id, g.id AS file_id, g.id AS agent_id, 'org/' || g.org_id || '/agents/' || g.id || '/{TASK_KEY}' AS display_path,
    g.task AS content, g.task_version AS version, g.updated_at, g.updated_by_kind, g.updated_by_id, g.updated_by_name"""
_OF_AGENTS = f"SELECT {_COLUMNS} FROM agents g WHERE g.org_id = $1 AND g.id = ANY($2::text[])"
_LIVE = f"SELECT {_COLUMNS} FROM agents g WHERE g.org_id = $1 AND g.id = $2 AND g.deleted_at IS NULL"
_SAVE = f"""UPDATE agents g SET task = $3, task_version = task_version + 1,
        updated_at = $4, updated_by_kind = $5, updated_by_id = $6, updated_by_name = $7
    WHERE g.org_id = $1 AND g.id = $2 RETURNING {_COLUMNS}"""
_KEEP = f"""INSERT INTO task_revisions (org_id, agent_id, version, source, content, saved_at, saved_by_kind, saved_by_id, saved_by_name)
    SELECT org_id, id, task_version, {SAVER.format(kind="updated_by_kind")}, task,
        updated_at, updated_by_kind, updated_by_id, updated_by_name FROM agents WHERE org_id = $1 AND id = $2"""
_PRUNE = "DELETE FROM task_revisions WHERE org_id = $1 AND agent_id = $2 AND version <= $3"
_REVISIONS = """SELECT agent_id, NULL::text AS display_path, content, version, source, saved_at, saved_by_kind, saved_by_id, saved_by_name
    FROM task_revisions WHERE org_id = $1 AND agent_id = ANY($2::text[]) ORDER BY agent_id, version DESC"""


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, Row]:
    """Each agent's task as written, embeds as markup; version 0 where none was ever saved. Deleted agents are there, as their runs are.

    Raises Forbidden for an agent that asks for others.
    """
    agent_files.require_own(caller, agent_ids, "task")
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_OF_AGENTS, caller.org_id, agent_files.storable(agent_ids))}


async def get(db: Database, caller: Caller, agent_id: str) -> Row:
    """A living agent's task. Raises NotFound, Forbidden for an agent that asks for another's."""
    check(agentId=agent_id)
    agent_files.require_own(caller, [agent_id], "task")
    async with db.read() as reader:
        found = await reader.row(_LIVE, caller.org_id, agent_id)
    if found is None:
        raise agents.unknown(agent_id)
    return found


async def save(db: Database, caller: Caller, agent_id: str, content: str, *, expected_version: int | None = None) -> Row:
    """Save an agent's task, for operators; the task as it is now. `expected_version` 0 means only if none was ever saved.

    The previous save becomes a revision, of which the latest 50 are kept.
    Raises Forbidden, NotFound, Unprocessable, LimitExceeded over 256 KB, VersionConflict.
    """
    caller.require_operator("taskSave")
    check(agentId=agent_id)
    agent_files.check_request("task", content, TASK_BYTES, expected_version)
    async with db.write() as writer:
        await agent_files.lock(writer, caller.org_id, agent_id)
        current = await writer.row(_LIVE, caller.org_id, agent_id)
        if current is None:
            raise agents.unknown(agent_id)
        if agent_files.already_there(agent_path(caller.org_id, agent_id, TASK_KEY), current, content, expected_version):
            return current
        return await _save(writer, caller, current, content)


async def _save(writer: Writer, caller: Caller, current: Row, content: str) -> Row:
    # A task that was never saved is no state to come back to.
    if current.version:
        await writer.execute(_KEEP, caller.org_id, current.id)
        await writer.execute(_PRUNE, caller.org_id, current.id, current.version - TASK_REVISIONS)
    saved = await writer.row(_SAVE, caller.org_id, current.id, content, now(), caller.kind, caller.id, caller.name)
    if saved is None:
        raise RuntimeError("an agent vanished while its row was locked")
    operation = FileOperation.UPDATE if current.version else FileOperation.CREATE
    await agent_files.record(writer, caller, FileKind.TASK, operation, saved)
    return saved


async def revisions(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """The previous saves of each agent's task, newest first; agents without any are left out. Raises Forbidden for agents."""
    caller.require_operator("the list of a task's previous saves")
    found: dict[str, list[Row]] = {}
    async with db.read() as reader:
        for row in await reader.rows(_REVISIONS, caller.org_id, agent_files.storable(agent_ids)):
            found.setdefault(row.agent_id, []).append(row)
    return found
