"""An agent's standing task: a column of the agent's row that operators save, with its latest previous saves."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import now
from models.kinds import FileKind, FileOperation
from models.limits import TASK_BYTES, TASK_REVISIONS
from models.paths import TASK_KEY, agent_path
from models.tables import Agent, TaskRevision
from models.text import check
from store import agent_files, agents, saver
from store.agent_files import TaskRow
from store.database import Database, Writer
from store.display_paths import task_path
from store.grouping import grouped
from store.revisions import RevisionRow, SavedOnceShape, put_away, source_of
from store.saver import UpdatedShape
from store.sql import TEXTS, arg, columns, command, query

_COLUMNS = (
    *(col(Agent.id), col(Agent.id).label("file_id"), col(Agent.id).label("agent_id"), task_path(Agent).label("display_path")),
    *(col(Agent.task).label("content"), col(Agent.task_version).label("version"), *columns(Agent, UpdatedShape)),
)
_IN_ORG = col(Agent.org_id) == arg("org_id")
_THIS = (_IN_ORG, col(Agent.id) == arg("id"))
_REVISIONS_IN_ORG = col(TaskRevision.org_id) == arg("org_id")

_OF_AGENTS = query(TaskRow, sa.select(*_COLUMNS).where(_IN_ORG, col(Agent.id) == sa.func.any(arg("agents", TEXTS))))
_LIVE = query(TaskRow, sa.select(*_COLUMNS).where(*_THIS, col(Agent.deleted_at).is_(None)))
_SAVE = query(
    TaskRow,
    sa.update(Agent)
    .where(*_THIS)
    .values(task=arg("content"), task_version=col(Agent.task_version) + 1, **saver.UPDATED)
    .returning(*_COLUMNS),
)
_KEEP = put_away(
    TaskRevision,
    Agent,
    {
        "org_id": col(Agent.org_id),
        "agent_id": col(Agent.id),
        "version": col(Agent.task_version),
        "source": source_of(Agent),
        "content": col(Agent.task),
    },
    *_THIS,
)
_PRUNE = command(
    sa.delete(TaskRevision).where(_REVISIONS_IN_ORG, col(TaskRevision.agent_id) == arg("id"), col(TaskRevision.version) <= arg("version"))
)
_REVISIONS = query(
    RevisionRow,
    sa.select(*columns(TaskRevision, SavedOnceShape), sa.null().cast(sa.Text).label("display_path"))
    .where(_REVISIONS_IN_ORG, col(TaskRevision.agent_id) == sa.func.any(arg("agents", TEXTS)))
    .order_by(col(TaskRevision.agent_id), col(TaskRevision.version).desc()),
)


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, TaskRow]:
    """Return each agent's task as written, embeds as markup. Deleted agents are included, since their runs are.

    Raises: Forbidden for an agent that asks for others.
    """
    agent_files.require_own(caller, agent_ids, "task")
    ids = agent_files.storable(agent_ids)
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_OF_AGENTS, org_id=caller.org_id, agents=ids)}


async def get(db: Database, caller: Caller, agent_id: str) -> TaskRow:
    """Return a live agent's task. Raises: NotFound, Forbidden for an agent that asks for another's."""
    check(agentId=agent_id)
    agent_files.require_own(caller, [agent_id], "task")
    async with db.read() as reader:
        found = await reader.row(_LIVE, org_id=caller.org_id, id=agent_id)
    if found is None:
        raise agents.unknown(agent_id)
    return found


async def save(db: Database, caller: Caller, agent_id: str, content: str, *, expected_version: int | None = None) -> TaskRow:
    """Save an agent's task, for operators; return it. `expected_version` 0 means only if none was ever saved.

    The previous save becomes a revision, of which the latest 50 are kept.
    Raises: Forbidden, NotFound, Unprocessable, LimitExceeded over 256 KB, VersionConflict.
    """
    caller.require_operator("taskSave")
    check(agentId=agent_id)
    agent_files.check_request("task", content, TASK_BYTES, expected_version)
    async with db.write() as writer:
        await agent_files.lock(writer, caller.org_id, agent_id)
        current = await writer.row(_LIVE, org_id=caller.org_id, id=agent_id)
        if current is None:
            raise agents.unknown(agent_id)
        if agent_files.already_there(agent_path(caller.org_id, agent_id, TASK_KEY), current, content, expected_version):
            return current
        return await _save(writer, caller, current, content)


async def _save(writer: Writer, caller: Caller, current: TaskRow, content: str) -> TaskRow:
    # Do not keep the empty task of a new agent: nobody saved it.
    if current.version:
        await writer.execute(_KEEP, org_id=caller.org_id, id=current.id)
        await writer.execute(_PRUNE, org_id=caller.org_id, id=current.id, version=current.version - TASK_REVISIONS)
    saved = await writer.one(_SAVE, org_id=caller.org_id, id=current.id, content=content, **saver.arguments(caller, now()))
    operation = FileOperation.UPDATE if current.version else FileOperation.CREATE
    await agent_files.record(writer, caller, FileKind.TASK, operation, saved)
    return saved


async def revisions(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[RevisionRow]]:
    """Return the previous saves of each agent's task, newest first. Agents without any are left out. Raises Forbidden for agents."""
    caller.require_operator("the list of a task's previous saves")
    ids = agent_files.storable(agent_ids)
    async with db.read() as reader:
        return grouped(await reader.rows(_REVISIONS, org_id=caller.org_id, agents=ids), lambda revision: revision.agent_id)
