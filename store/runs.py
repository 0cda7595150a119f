"""Runs of agents: their start, their end, and reading them by id."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import Conflict, NotFound, Unprocessable
from models.limits import NAME_CHARACTERS
from models.tables import Agent, Run, Schedule
from models.text import check, check_name, printable, storable
from store.agents import unknown as unknown_agent
from store.database import Database, Writer
from store.sql import TEXTS, Shape, arg, columns, query

RUNNING = "running"


class RunRow(Shape):
    """A run; `schedule_id` is the routine that it is a run of."""

    id: str
    agent_id: str
    guild_id: str | None
    schedule_id: str | None
    kind: str
    status: str
    routine: str | None
    started_at: datetime
    finished_at: datetime | None


class StartedRunRow(RunRow):
    """A run at its start, with its routine's instruction and the time when the routine fired before."""

    instruction: str | None
    previous_run_at: datetime | None


class _AgentRow(Shape):
    guild_id: str | None


class _FiredRow(Shape):
    id: str
    instruction: str
    previous_run_at: datetime | None


_COLUMNS = columns(Run, RunRow)
_IN_ORG = col(Run.org_id) == arg("org_id")

_LOCK_AGENT = query(
    _AgentRow,
    sa.select(col(Agent.guild_id))
    .where(col(Agent.org_id) == arg("org_id"), col(Agent.id) == arg("agent_id"), col(Agent.deleted_at).is_(None))
    .with_for_update(read=True),
)
_BEFORE = (
    sa.select(col(Schedule.id), col(Schedule.previous_run_at))
    .where(
        *(col(Schedule.org_id) == arg("org_id"), col(Schedule.agent_id) == arg("agent_id")),
        *(col(Schedule.name) == arg("name"), col(Schedule.deleted_at).is_(None)),
    )
    .with_for_update()
    .cte("before")
)
_FIRE = query(
    _FiredRow,
    sa.update(Schedule)
    .where(col(Schedule.org_id) == arg("org_id"), col(Schedule.id) == _BEFORE.c.id)
    .values(previous_run_at=arg("at"))
    .returning(col(Schedule.id), col(Schedule.instruction), _BEFORE.c.previous_run_at),
)
_START = query(
    StartedRunRow,
    sa.insert(Run)
    .values(
        org_id=arg("org_id"),
        id=arg("id"),
        agent_id=arg("agent_id"),
        guild_id=arg("guild_id"),
        schedule_id=arg("schedule_id"),
        kind=arg("kind"),
        status=RUNNING,
        routine=arg("routine"),
        started_at=arg("at"),
    )
    .returning(
        *_COLUMNS, arg("instruction", sa.Text).label("instruction"), arg("before", sa.DateTime(timezone=True)).label("previous_run_at")
    ),
)
_FINISH = query(
    RunRow,
    sa.update(Run)
    .where(_IN_ORG, col(Run.id) == arg("id"), col(Run.finished_at).is_(None))
    .values(status=arg("status"), finished_at=arg("at"))
    .returning(*_COLUMNS),
)
_BY_IDS = query(RunRow, sa.select(*_COLUMNS).where(_IN_ORG, col(Run.id) == sa.func.any(arg("ids", TEXTS))))


async def start(db: Database, caller: Caller, *, agent_id: str, kind: str, routine: str | None = None) -> StartedRunRow:
    """Start a run of an agent. If the agent has a routine of this name, the routine fires.

    Raises: Forbidden, Unprocessable, NotFound for an unknown agent.
    """
    caller.require_operator("runStart")
    check(agentId=agent_id)
    check_name("a run's kind", kind, NAME_CHARACTERS)
    if routine is not None:
        check_name("a routine", routine, NAME_CHARACTERS)
    async with db.write() as writer:
        return await begin(writer, caller.org_id, agent_id=agent_id, kind=kind, routine=routine)


async def begin(writer: Writer, org_id: str, *, agent_id: str, kind: str, routine: str | None) -> StartedRunRow:
    """Start a run as `start` does, within a transaction and with checked arguments."""
    at = now()
    agent = await writer.row(_LOCK_AGENT, org_id=org_id, agent_id=agent_id)
    if agent is None:
        raise unknown_agent(agent_id)
    fired = await writer.row(_FIRE, org_id=org_id, agent_id=agent_id, name=routine, at=at)
    return await writer.one(
        _START,
        org_id=org_id,
        id=new_id(),
        agent_id=agent_id,
        guild_id=agent.guild_id,
        schedule_id=fired and fired.id,
        kind=kind,
        routine=routine,
        at=at,
        instruction=fired and fired.instruction,
        before=fired and fired.previous_run_at,
    )


async def finish(db: Database, caller: Caller, run_id: str, status: str) -> RunRow:
    """End a run with this status. Raises: Forbidden, NotFound, Unprocessable, Conflict if it has ended already."""
    caller.require_operator("runFinish")
    check(id=run_id)
    check_name("a run's final status", status, NAME_CHARACTERS)
    if status == RUNNING:
        raise Unprocessable(f'a run ends with another status than "{RUNNING}", such as completed, failed or cancelled')
    async with db.write() as writer:
        if run := await writer.row(_FINISH, org_id=caller.org_id, id=run_id, status=status, at=now()):
            return run
        ended = await writer.row(_BY_IDS, org_id=caller.org_id, ids=[run_id])
    if ended is None:
        raise NotFound(f"unknown run {printable(run_id)[:200]}")
    # Tell a second end apart from an unknown run, because another caller may have ended the run first.
    raise Conflict(f"run {run_id} has ended already; its status is {ended.status}")


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, RunRow]:
    """Return runs by id. Unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id=org_id, ids=storable(ids))}
