"""Agents: creating, changing and deleting them, and reading them by id or guild."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.kinds import FileKind, FileOperation, NoteLevel, SubjectType
from models.limits import NAME_CHARACTERS, TASK_BYTES
from models.paths import TASK_KEY, agent_path
from models.tables import Agent, Guild, Run, Schedule, Token
from models.text import check, check_name, check_size, printable, storable
from models.unset import UNSET, Unset
from store import changes, grants, guilds, removal, saver
from store.changes import Change
from store.database import Database, Writer
from store.grouping import grouped
from store.saver import SavedShape
from store.sql import TEXTS, arg, columns, command, query


class AgentRow(SavedShape):
    """An agent with its bindings and its task; `updated_*` says who last saved the task."""

    id: str
    name: str
    guild_id: str | None
    read_guild: bool
    read_org: bool
    write_guild: bool
    write_org: bool
    task: str
    task_version: int
    deleted_at: datetime | None


_COLUMNS = columns(Agent, AgentRow)
_IN_ORG = col(Agent.org_id) == arg("org_id")
_LIVE = col(Agent.deleted_at).is_(None)
_THIS = (_IN_ORG, col(Agent.id) == arg("id"))
_BY_NAME = (col(Agent.name), col(Agent.id))

_CREATE = query(
    AgentRow,
    sa.insert(Agent)
    .values(
        org_id=arg("org_id"),
        id=arg("id"),
        name=arg("name"),
        guild_id=arg("guild_id"),
        task=arg("task"),
        task_version=arg("task_version"),
        **saver.CREATED,
    )
    .returning(*_COLUMNS),
)
_LIST = query(AgentRow, sa.select(*_COLUMNS).where(_IN_ORG, _LIVE).order_by(*_BY_NAME))
_BY_IDS = query(AgentRow, sa.select(*_COLUMNS).where(_IN_ORG, col(Agent.id) == sa.func.any(arg("ids", TEXTS))))
_OF_GUILDS = query(
    AgentRow, sa.select(*_COLUMNS).where(_IN_ORG, col(Agent.guild_id) == sa.func.any(arg("guilds", TEXTS)), _LIVE).order_by(*_BY_NAME)
)
_LOCK = query(AgentRow, sa.select(*_COLUMNS).where(*_THIS, _LIVE).with_for_update(key_share=True))
# Write only what was sent. The task's saver and time stay.
_UPDATE = query(
    AgentRow,
    sa.update(Agent)
    .where(*_THIS)
    .values(
        name=sa.func.coalesce(arg("name", sa.String), col(Agent.name)),
        guild_id=sa.case((arg("moves", sa.Boolean), arg("guild_id", sa.String)), else_=col(Agent.guild_id)),
        read_guild=sa.func.coalesce(arg("read_guild", sa.Boolean), col(Agent.read_guild)),
        read_org=sa.func.coalesce(arg("read_org", sa.Boolean), col(Agent.read_org)),
        write_guild=sa.func.coalesce(arg("write_guild", sa.Boolean), col(Agent.write_guild)),
        write_org=sa.func.coalesce(arg("write_org", sa.Boolean), col(Agent.write_org)),
    )
    .returning(*_COLUMNS),
)
_LOCK_GUILD = command(
    sa.select(sa.literal(1))
    .where(col(Guild.org_id) == arg("org_id"), col(Guild.id) == arg("id"), col(Guild.deleted_at).is_(None))
    .with_for_update(read=True)
)

_DELETE = command(sa.update(Agent).where(*_THIS, _LIVE).values(deleted_at=arg("at"), guild_id=None))
# What ends with the agent. A token that outlived it would keep its open sockets alive.
_END_WITH_AGENT = (
    command(
        sa.update(Token)
        .where(col(Token.org_id) == arg("org_id"), col(Token.agent_id) == arg("id"), col(Token.revoked_at).is_(None))
        .values(revoked_at=arg("at"))
    ),
    command(
        sa.update(Schedule)
        .where(col(Schedule.org_id) == arg("org_id"), col(Schedule.agent_id) == arg("id"), col(Schedule.deleted_at).is_(None))
        .values(deleted_at=arg("at"))
    ),
    command(
        sa.update(Run)
        .where(col(Run.org_id) == arg("org_id"), col(Run.agent_id) == arg("id"), col(Run.finished_at).is_(None))
        .values(status="cancelled", finished_at=arg("at"))
    ),
)


async def create(db: Database, caller: Caller, *, name: str, guild_id: str | None = None, task: str | None = None) -> AgentRow:
    """Create an agent. A task that is given becomes version 1.

    Raises: Forbidden, Unprocessable, LimitExceeded, NotFound for an unknown guild, Conflict if the name is taken.
    """
    caller.require_operator("agentCreate")
    check_name("an agent", name, NAME_CHARACTERS)
    check(guildId=guild_id, task=task)
    check_size("this task", task or "", TASK_BYTES)
    at, agent_id = now(), new_id()
    async with db.write() as writer:
        await _require_guild(writer, caller.org_id, guild_id)
        row = await writer.one(
            _CREATE,
            org_id=caller.org_id,
            id=agent_id,
            name=name,
            guild_id=guild_id,
            task=task or "",
            task_version=1 if task else 0,
            **saver.arguments(caller, at),
        )
        if task:
            await changes.record(writer, caller, _task_saved(caller, agent_id, at))
    return row


def _task_saved(caller: Caller, agent_id: str, at: datetime) -> Change:
    return Change(
        kind=FileKind.TASK,
        operation=FileOperation.CREATE,
        file_id=agent_id,
        path=agent_path(caller.org_id, agent_id, TASK_KEY),
        version=1,
        at=at,
        level=NoteLevel.AGENT,
        owner_id=agent_id,
    )


async def update(
    db: Database,
    caller: Caller,
    agent_id: str,
    *,
    name: str | Unset = UNSET,
    guild_id: str | Unset | None = UNSET,
    read_guild: bool | Unset = UNSET,
    read_org: bool | Unset = UNSET,
    write_guild: bool | Unset = UNSET,
    write_org: bool | Unset = UNSET,
) -> AgentRow:
    """Change what is given of an agent. `guild_id` None takes it out of its guild, which drops its grants on the guild's collections.

    Raises: Forbidden, NotFound for an unknown agent or guild, Unprocessable, Conflict if the name is taken.
    """
    caller.require_operator("agentUpdate")
    target = None if guild_id is UNSET else guild_id
    check(id=agent_id, guildId=target)
    if name is not UNSET:
        check_name("an agent", name, NAME_CHARACTERS)
    bindings = {"read_guild": read_guild, "read_org": read_org, "write_guild": write_guild, "write_org": write_org}
    async with db.write() as writer:
        # The guild before the agent, as a guild's deletion locks them.
        await _require_guild(writer, caller.org_id, target)
        before = await writer.row(_LOCK, org_id=caller.org_id, id=agent_id)
        if before is None:
            raise unknown(agent_id)
        # Grants on collections of the organisation stay, so that a member that was held back does not gain access by moving.
        if guild_id is not UNSET and before.guild_id not in (None, target):
            await grants.drop_subject(writer, caller, SubjectType.AGENT, agent_id, guild_id=before.guild_id)
        given = {binding: None if value is UNSET else value for binding, value in bindings.items()}
        moved = {"moves": guild_id is not UNSET, "guild_id": target}
        return await writer.one(_UPDATE, org_id=caller.org_id, id=agent_id, name=name or None, **moved, **given)


async def _require_guild(writer: Writer, org_id: str, guild_id: str | None) -> None:
    """Lock the guild until the transaction ends. Raises NotFound unless it is live."""
    if guild_id is not None and not await writer.value(_LOCK_GUILD, org_id=org_id, id=guild_id):
        raise guilds.unknown(guild_id)


async def delete(db: Database, caller: Caller, agent_id: str) -> bool:
    """Delete an agent with its files, tokens, routines and grants. Its open runs end. What it wrote elsewhere keeps its name.

    Raises: Forbidden, NotFound.
    """
    caller.require_operator("agentDelete")
    check(id=agent_id)
    at = now()
    async with db.write() as writer:
        if not await writer.execute(_DELETE, org_id=caller.org_id, id=agent_id, at=at):
            raise unknown(agent_id)
        for statement in _END_WITH_AGENT:
            await writer.execute(statement, org_id=caller.org_id, id=agent_id, at=at)
        await grants.drop_subject(writer, caller, SubjectType.AGENT, agent_id)
        await removal.files(writer, caller, agent_id, at)
    return True


async def listed(db: Database, org_id: str) -> list[AgentRow]:
    """Return the live agents of an organisation, by name."""
    async with db.read() as reader:
        return await reader.rows(_LIST, org_id=org_id)


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, AgentRow]:
    """Return agents by id, including deleted ones, since their runs outlive them. Unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id=org_id, ids=storable(ids))}


async def of_guilds(db: Database, org_id: str, guild_ids: Sequence[str]) -> Mapping[str, list[AgentRow]]:
    """Return the live agents of each guild, by name. Guilds without agents are left out."""
    async with db.read() as reader:
        return grouped(await reader.rows(_OF_GUILDS, org_id=org_id, guilds=storable(guild_ids)), lambda agent: str(agent.guild_id))


def unknown(agent_id: str) -> NotFound:
    """Return the error for an agent that does not exist."""
    return NotFound(f"unknown agent {printable(agent_id)[:200]}")
