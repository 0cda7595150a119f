"""Runs of agents: their start, their end, and reading them by id."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.clock import new_id, now
from models.errors import Conflict, NotFound, Unprocessable
from models.limits import NAME_CHARACTERS
from models.text import check, check_name, printable, storable
from store.agents import unknown as unknown_agent
from store.database import Database, Row, Writer

RUNNING = "running"

_COLUMNS = "r.id, r.agent_id, r.guild_id, r.schedule_id, r.kind, r.status, r.routine, r.started_at, r.finished_at"
_AGENT = "SELECT guild_id FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE"
_FIRE = """UPDATE schedules s SET previous_run_at = $4
    FROM (SELECT id, previous_run_at FROM schedules
        WHERE org_id = $1 AND agent_id = $2 AND name = $3 AND deleted_at IS NULL FOR UPDATE) before
    WHERE s.org_id = $1 AND s.id = before.id RETURNING s.id, s.instruction, before.previous_run_at"""
_START = f"""INSERT INTO runs AS r (org_id, id, agent_id, guild_id, schedule_id, kind, status, routine, started_at)
    VALUES ($1, $2, $3, $4, $5, $6, '{RUNNING}', $7, $8)
    RETURNING {_COLUMNS}, $9::text AS instruction, $10::timestamptz AS previous_run_at"""
_FINISH = f"""UPDATE runs r SET status = $3, finished_at = $4 WHERE org_id = $1 AND id = $2 AND finished_at IS NULL RETURNING {_COLUMNS}"""
_BY_IDS = f"SELECT {_COLUMNS} FROM runs r WHERE r.org_id = $1 AND r.id = ANY($2::text[])"


async def start(db: Database, caller: Caller, *, agent_id: str, kind: str, routine: str | None = None) -> Row:
    """A new run of an agent, running.

    If the agent has a routine of this name, that has fired: the row carries its `instruction` and `previous_run_at`, when it fired before.
    Raises Forbidden, Unprocessable, NotFound for an unknown agent.
    """
    caller.require_operator("runStart")
    check(agentId=agent_id)
    check_name("a run's kind", kind, NAME_CHARACTERS)
    if routine is not None:
        check_name("a routine", routine, NAME_CHARACTERS)
    async with db.write() as writer:
        return await begin(writer, caller.org_id, agent_id=agent_id, kind=kind, routine=routine)


async def begin(writer: Writer, org_id: str, *, agent_id: str, kind: str, routine: str | None) -> Row:
    """As `start`, within a transaction and with checked arguments."""
    at = now()
    agent = await writer.row(_AGENT, org_id, agent_id)
    if agent is None:
        raise unknown_agent(agent_id)
    fired = await writer.row(_FIRE, org_id, agent_id, routine, at)
    schedule, instruction, before = fired or (None, None, None)
    facts = (agent_id, agent.guild_id, schedule, kind, routine, at, instruction, before)
    run = await writer.row(_START, org_id, new_id(), *facts)
    if run is None:
        raise RuntimeError("an insert returned no row")
    return run


async def finish(db: Database, caller: Caller, run_id: str, status: str) -> Row:
    """The run, ended with this status. Raises Forbidden, NotFound, Unprocessable, Conflict where it has ended already."""
    caller.require_operator("runFinish")
    check(id=run_id)
    check_name("a run's final status", status, NAME_CHARACTERS)
    if status == RUNNING:
        raise Unprocessable(f'a run ends with another status than "{RUNNING}", such as completed, failed or cancelled')
    async with db.write() as writer:
        if run := await writer.row(_FINISH, caller.org_id, run_id, status, now()):
            return run
        ended = await writer.row(_BY_IDS, caller.org_id, [run_id])
    if ended is None:
        raise NotFound(f"unknown run {printable(run_id)[:200]}")
    # Ending twice is told apart from an unknown run, since the first end may have been another's.
    raise Conflict(f"run {run_id} has ended already; its status is {ended.status}")


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, Row]:
    """Runs by id; unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id, storable(ids))}
