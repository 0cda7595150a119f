"""Agents: creating, changing and deleting them, and reading them by id or guild."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.kinds import FileKind, FileOperation, NoteLevel, SubjectType
from models.limits import NAME_CHARACTERS, TASK_BYTES
from models.paths import TASK_KEY, agent_path
from models.text import check, check_name, check_size, printable, storable
from models.unset import UNSET, Unset
from store import changes, grants, guilds, removal
from store.changes import Change
from store.database import Database, Row, Writer

COLUMNS = """id, name, guild_id, read_guild, read_org, write_guild, write_org, task, task_version, deleted_at,
    created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name"""
_CREATE = f"""INSERT INTO agents (org_id, id, name, guild_id, task, task_version,
        created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $7, $8, $9, $10) RETURNING {COLUMNS}"""
_LISTED = f"SELECT {COLUMNS} FROM agents WHERE org_id = $1 AND deleted_at IS NULL ORDER BY name, id"
_BY_IDS = f"SELECT {COLUMNS} FROM agents WHERE org_id = $1 AND id = ANY($2::text[])"
_OF_GUILDS = f"SELECT {COLUMNS} FROM agents WHERE org_id = $1 AND guild_id = ANY($2::text[]) AND deleted_at IS NULL ORDER BY name, id"
_LOCK = f"SELECT {COLUMNS} FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE"
# Only what was sent is written; the task's saver and time stay.
_UPDATE = f"""UPDATE agents SET name = coalesce($3, name), guild_id = CASE WHEN $4::boolean THEN $5 ELSE guild_id END,
        read_guild = coalesce($6, read_guild), read_org = coalesce($7, read_org),
        write_guild = coalesce($8, write_guild), write_org = coalesce($9, write_org)
    WHERE org_id = $1 AND id = $2 RETURNING {COLUMNS}"""
_GUILD = "SELECT 1 FROM guilds WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE"

_DELETE = "UPDATE agents SET deleted_at = $3, guild_id = NULL WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_WITH_IT = (
    "UPDATE tokens SET revoked_at = $3 WHERE org_id = $1 AND agent_id = $2 AND revoked_at IS NULL",
    "UPDATE schedules SET deleted_at = $3 WHERE org_id = $1 AND agent_id = $2 AND deleted_at IS NULL",
    "UPDATE runs SET status = 'cancelled', finished_at = $3 WHERE org_id = $1 AND agent_id = $2 AND finished_at IS NULL",
)


async def create(db: Database, caller: Caller, *, name: str, guild_id: str | None = None, task: str | None = None) -> Row:
    """A new agent; a task that is given is its version 1.

    Raises Forbidden, Unprocessable, LimitExceeded, NotFound for an unknown guild, Conflict where the name is taken.
    """
    caller.require_operator("agentCreate")
    check_name("an agent", name, NAME_CHARACTERS)
    check(guildId=guild_id, task=task)
    check_size("this task", task or "", TASK_BYTES)
    at, agent_id = now(), new_id()
    async with db.write() as writer:
        await _require_guild(writer, caller.org_id, guild_id)
        who = (caller.kind, caller.id, caller.name)
        row = await writer.row(_CREATE, caller.org_id, agent_id, name, guild_id, task or "", 1 if task else 0, at, *who)
        if row is None:
            raise RuntimeError("an insert returned no row")
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
) -> Row:
    """Change what is given of an agent; `guild_id` None takes it out of its guild. Leaving a guild drops its grants on the guild's tables.

    Raises Forbidden, NotFound for an unknown agent or guild, Unprocessable, Conflict where the name is taken.
    """
    caller.require_operator("agentUpdate")
    target = None if guild_id is UNSET else guild_id
    check(id=agent_id, guildId=target)
    if name is not UNSET:
        check_name("an agent", name, NAME_CHARACTERS)
    bindings = (read_guild, read_org, write_guild, write_org)
    async with db.write() as writer:
        # The guild before the agent, as a guild's deletion locks them.
        await _require_guild(writer, caller.org_id, target)
        before = await writer.row(_LOCK, caller.org_id, agent_id)
        if before is None:
            raise unknown(agent_id)
        # Its rows on tables of the organisation stay: a member that was held back must not come free by moving.
        if guild_id is not UNSET and before.guild_id not in (None, target):
            await grants.drop_subject(writer, caller, SubjectType.AGENT, agent_id, guild_id=before.guild_id)
        moved = (guild_id is not UNSET, target)
        given = (None if value is UNSET else value for value in bindings)
        after = await writer.row(_UPDATE, caller.org_id, agent_id, name or None, *moved, *given)
    if after is None:
        raise RuntimeError("an agent vanished while its row was locked")
    return after


async def _require_guild(writer: Writer, org_id: str, guild_id: str | None) -> None:
    """Hold the guild until the transaction ends. Raises NotFound unless it lives."""
    if guild_id is not None and not await writer.value(_GUILD, org_id, guild_id):
        raise guilds.unknown(guild_id)


async def delete(db: Database, caller: Caller, agent_id: str) -> bool:
    """Delete an agent with its files, tokens, routines and grants; its open runs end. What it wrote elsewhere keeps its name.

    Raises Forbidden, NotFound.
    """
    caller.require_operator("agentDelete")
    check(id=agent_id)
    at = now()
    async with db.write() as writer:
        if not await writer.execute(_DELETE, caller.org_id, agent_id, at):
            raise unknown(agent_id)
        # A token that outlived its agent would keep its open sockets alive.
        for statement in _WITH_IT:
            await writer.execute(statement, caller.org_id, agent_id, at)
        await grants.drop_subject(writer, caller, SubjectType.AGENT, agent_id)
        await removal.files(writer, caller, agent_id, at)
    return True


async def listed(db: Database, org_id: str) -> list[Row]:
    """The living agents of an organisation by name."""
    async with db.read() as reader:
        return await reader.rows(_LISTED, org_id)


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, Row]:
    """Agents by id, deleted ones too, since their runs outlive them; unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id, storable(ids))}


async def of_guilds(db: Database, org_id: str, guild_ids: Sequence[str]) -> Mapping[str, list[Row]]:
    """The living agents of each guild by name; guilds without any are left out."""
    members: dict[str, list[Row]] = {}
    async with db.read() as reader:
        for row in await reader.rows(_OF_GUILDS, org_id, storable(guild_ids)):
            members.setdefault(row.guild_id, []).append(row)
    return members


def unknown(agent_id: str) -> NotFound:
    """The refusal of an agent that does not exist."""
    return NotFound(f"unknown agent {printable(agent_id)[:200]}")
