"""Routines: what an agent is told to do again and again, and when it last was."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS, TASK_BYTES
from models.tables import Agent, Schedule
from models.text import check, check_name, check_size, printable, storable
from store import runs
from store.agents import unknown as unknown_agent
from store.database import Database
from store.grouping import grouped
from store.runs import StartedRunRow
from store.sql import TEXTS, Shape, arg, columns, command, query

ROUTINE = "routine"


class RoutineRow(Shape):
    """A routine; `previous_run_at` is when it last fired."""

    id: str
    agent_id: str
    name: str
    instruction: str
    previous_run_at: datetime | None
    created_at: datetime


_COLUMNS = columns(Schedule, RoutineRow)
_IN_ORG = col(Schedule.org_id) == arg("org_id")
_LIVE = col(Schedule.deleted_at).is_(None)
_THIS = (_IN_ORG, col(Schedule.id) == arg("id"), _LIVE)

_LOCK_AGENT = command(
    sa.select(sa.literal(1))
    .where(col(Agent.org_id) == arg("org_id"), col(Agent.id) == arg("agent_id"), col(Agent.deleted_at).is_(None))
    .with_for_update(read=True)
)
_INSERT = pg.insert(Schedule).values(
    org_id=arg("org_id"),
    id=arg("id"),
    agent_id=arg("agent_id"),
    name=arg("name"),
    instruction=arg("instruction"),
    created_at=arg("at"),
)
_SAVE = query(
    RoutineRow,
    _INSERT.on_conflict_do_update(
        index_elements=[col(Schedule.org_id), col(Schedule.agent_id), col(Schedule.name)],
        index_where=_LIVE,
        set_={"instruction": _INSERT.excluded.instruction},
    ).returning(*_COLUMNS),
)
_DELETE = command(sa.update(Schedule).where(*_THIS).values(deleted_at=arg("at")))
_GET = query(RoutineRow, sa.select(*_COLUMNS).where(*_THIS))
_OF_AGENTS = query(
    RoutineRow,
    sa.select(*_COLUMNS)
    .where(_IN_ORG, col(Schedule.agent_id) == sa.func.any(arg("agents", TEXTS)), _LIVE)
    .order_by(col(Schedule.name), col(Schedule.id)),
)


async def save(db: Database, caller: Caller, *, agent_id: str, name: str, instruction: str) -> RoutineRow:
    """Create a routine of an agent, or give it a new instruction.

    Raises: Forbidden, Unprocessable, LimitExceeded, NotFound for an unknown agent.
    """
    caller.require_operator("routineSave")
    check(agentId=agent_id, instruction=instruction)
    check_name("a routine", name, NAME_CHARACTERS)
    check_size("this instruction", instruction, TASK_BYTES)
    async with db.write() as writer:
        if not await writer.value(_LOCK_AGENT, org_id=caller.org_id, agent_id=agent_id):
            raise unknown_agent(agent_id)
        facts = {"agent_id": agent_id, "name": name, "instruction": instruction, "at": now()}
        return await writer.one(_SAVE, org_id=caller.org_id, id=new_id(), **facts)


async def delete(db: Database, caller: Caller, schedule_id: str) -> bool:
    """Delete a routine. Its runs stay. Raises: Forbidden, NotFound."""
    caller.require_operator("routineDelete")
    check(id=schedule_id)
    async with db.write() as writer:
        if not await writer.execute(_DELETE, org_id=caller.org_id, id=schedule_id, at=now()):
            raise _unknown(schedule_id)
    return True


async def fire(db: Database, caller: Caller, schedule_id: str) -> StartedRunRow:
    """Start a run of kind routine. Raises: Forbidden, NotFound."""
    caller.require_operator("routineFire")
    check(id=schedule_id)
    async with db.write() as writer:
        routine = await writer.row(_GET, org_id=caller.org_id, id=schedule_id)
        if routine is None:
            raise _unknown(schedule_id)
        run = await runs.begin(writer, caller.org_id, agent_id=routine.agent_id, kind=ROUTINE, routine=routine.name)
        if run.schedule_id != schedule_id:
            # Another transaction deleted the routine between the read and the lock.
            raise _unknown(schedule_id)
    return run


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[RoutineRow]]:
    """Return the routines of each agent, by name. An agent sees its own only. Agents without routines are left out."""
    seen = [agent_id for agent_id in agent_ids if not caller.is_agent or agent_id == caller.id]
    async with db.read() as reader:
        return grouped(await reader.rows(_OF_AGENTS, org_id=caller.org_id, agents=storable(seen)), lambda routine: routine.agent_id)


def _unknown(schedule_id: str) -> NotFound:
    return NotFound(f"unknown routine {printable(schedule_id)[:200]}")
