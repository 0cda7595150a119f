"""Routines: what an agent is told to do again and again, and when it last was."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS, TASK_BYTES
from models.text import check, check_name, check_size, printable, storable
from store import runs
from store.agents import unknown as unknown_agent
from store.database import Database, Row

ROUTINE = "routine"

_COLUMNS = "id, agent_id, name, instruction, previous_run_at, created_at"
_AGENT = "SELECT 1 FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE"
_SAVE = f"""INSERT INTO schedules AS s (org_id, id, agent_id, name, instruction, created_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (org_id, agent_id, name) WHERE deleted_at IS NULL DO UPDATE SET instruction = excluded.instruction RETURNING {_COLUMNS}"""
_DELETE = "UPDATE schedules SET deleted_at = $3 WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_GET = f"SELECT {_COLUMNS} FROM schedules WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_OF_AGENTS = f"""SELECT {_COLUMNS} FROM schedules
    WHERE org_id = $1 AND agent_id = ANY($2::text[]) AND deleted_at IS NULL ORDER BY name, id"""


async def save(db: Database, caller: Caller, *, agent_id: str, name: str, instruction: str) -> Row:
    """A routine of an agent, made or given a new instruction: id, agent_id, name, instruction, previous_run_at, created_at.

    Raises Forbidden, Unprocessable, LimitExceeded, NotFound for an unknown agent.
    """
    caller.require_operator("routineSave")
    check(agentId=agent_id, instruction=instruction)
    check_name("a routine", name, NAME_CHARACTERS)
    check_size("this instruction", instruction, TASK_BYTES)
    async with db.write() as writer:
        if not await writer.value(_AGENT, caller.org_id, agent_id):
            raise unknown_agent(agent_id)
        row = await writer.row(_SAVE, caller.org_id, new_id(), agent_id, name, instruction, now())
    if row is None:
        raise RuntimeError("an insert returned no row")
    return row


async def delete(db: Database, caller: Caller, schedule_id: str) -> bool:
    """Delete a routine; its runs stay. Raises Forbidden, NotFound."""
    caller.require_operator("routineDelete")
    check(id=schedule_id)
    async with db.write() as writer:
        if not await writer.execute(_DELETE, caller.org_id, schedule_id, now()):
            raise _unknown(schedule_id)
    return True


async def fire(db: Database, caller: Caller, schedule_id: str) -> Row:
    """A new run of kind routine; its row carries the `instruction` and `previous_run_at`, when the routine fired before.

    Raises Forbidden, NotFound.
    """
    caller.require_operator("routineFire")
    check(id=schedule_id)
    async with db.write() as writer:
        routine = await writer.row(_GET, caller.org_id, schedule_id)
        if routine is None:
            raise _unknown(schedule_id)
        run = await runs.begin(writer, caller.org_id, agent_id=routine.agent_id, kind=ROUTINE, routine=routine.name)
        if run.schedule_id != schedule_id:
            # It was deleted between our look and our lock.
            raise _unknown(schedule_id)
    return run


async def of_agents(db: Database, caller: Caller, agent_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """The routines of each agent by name, for operators and for the agent itself; agents without any are left out."""
    seen = [agent_id for agent_id in agent_ids if not caller.is_agent or agent_id == caller.id]
    routines: dict[str, list[Row]] = {}
    async with db.read() as reader:
        for row in await reader.rows(_OF_AGENTS, caller.org_id, storable(seen)):
            routines.setdefault(row.agent_id, []).append(row)
    return routines


def _unknown(schedule_id: str) -> NotFound:
    return NotFound(f"unknown routine {printable(schedule_id)[:200]}")
