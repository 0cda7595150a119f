"""Guilds: teams of agents."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.kinds import SubjectType
from models.limits import NAME_CHARACTERS
from models.text import check, check_name, printable, storable
from store import collections, grants, removal
from store.database import Database, Row

_COLUMNS = "id, name, created_at, deleted_at"
_CREATE = f"INSERT INTO guilds (org_id, id, name, created_at) VALUES ($1, $2, $3, $4) RETURNING {_COLUMNS}"
_LISTED = f"SELECT {_COLUMNS} FROM guilds WHERE org_id = $1 AND deleted_at IS NULL ORDER BY name, id"
_BY_IDS = f"SELECT {_COLUMNS} FROM guilds WHERE org_id = $1 AND id = ANY($2::text[])"
_DELETE = "UPDATE guilds SET deleted_at = $3 WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_HOLD_MEMBERS = "SELECT id FROM agents WHERE org_id = $1 AND guild_id = $2 ORDER BY id FOR NO KEY UPDATE"
_RELEASE = "UPDATE agents SET guild_id = NULL WHERE org_id = $1 AND guild_id = $2"


async def create(db: Database, caller: Caller, name: str) -> Row:
    """A new guild: id, name, created_at, deleted_at. Raises Forbidden, Unprocessable, Conflict where the name is taken."""
    caller.require_operator("guildCreate")
    check_name("a guild", name, NAME_CHARACTERS)
    async with db.write() as writer:
        row = await writer.row(_CREATE, caller.org_id, new_id(), name, now())
    if row is None:
        raise RuntimeError("an insert returned no row")
    return row


async def delete(db: Database, caller: Caller, guild_id: str) -> bool:
    """Delete a guild with its notes, its own tables and its grants; its agents stay, without guild. Raises Forbidden, NotFound."""
    caller.require_operator("guildDelete")
    check(id=guild_id)
    at = now()
    async with db.write() as writer:
        if not await writer.execute(_DELETE, caller.org_id, guild_id, at):
            raise unknown(guild_id)
        # By id, as whoever moves notes between two of them locks them; an update takes them as they lie in the table.
        await writer.rows(_HOLD_MEMBERS, caller.org_id, guild_id)
        await writer.execute(_RELEASE, caller.org_id, guild_id)
        await collections.delete_of_guild(writer, caller, guild_id)
        await grants.drop_subject(writer, caller, SubjectType.GUILD, guild_id)
        await removal.files(writer, caller, guild_id, at)
    return True


async def listed(db: Database, org_id: str) -> list[Row]:
    """The living guilds of an organisation by name."""
    async with db.read() as reader:
        return await reader.rows(_LISTED, org_id)


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, Row]:
    """Guilds by id, deleted ones too, since a run keeps the guild that it had; unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id, storable(ids))}


def unknown(guild_id: str) -> NotFound:
    """The refusal of a guild that does not exist."""
    return NotFound(f"unknown guild {printable(guild_id)[:200]}")
