"""Guilds: teams of agents."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import NotFound
from models.kinds import SubjectType
from models.limits import NAME_CHARACTERS
from models.tables import Agent, Guild
from models.text import check, check_name, printable, storable
from store import collections, grants, removal
from store.database import Database
from store.sql import TEXTS, Shape, arg, columns, command, query


class GuildRow(Shape):
    """A guild; a deleted one has `deleted_at`."""

    id: str
    name: str
    created_at: datetime
    deleted_at: datetime | None


_COLUMNS = columns(Guild, GuildRow)
_IN_ORG = col(Guild.org_id) == arg("org_id")
_LIVE = col(Guild.deleted_at).is_(None)
_MEMBERS = (col(Agent.org_id) == arg("org_id"), col(Agent.guild_id) == arg("guild_id"))

_CREATE = query(
    GuildRow,
    sa.insert(Guild).values(org_id=arg("org_id"), id=arg("id"), name=arg("name"), created_at=arg("at")).returning(*_COLUMNS),
)
_LIST = query(GuildRow, sa.select(*_COLUMNS).where(_IN_ORG, _LIVE).order_by(col(Guild.name), col(Guild.id)))
_BY_IDS = query(GuildRow, sa.select(*_COLUMNS).where(_IN_ORG, col(Guild.id) == sa.func.any(arg("ids", TEXTS))))
_DELETE = command(sa.update(Guild).where(_IN_ORG, col(Guild.id) == arg("id"), _LIVE).values(deleted_at=arg("at")))
_LOCK_MEMBERS = command(sa.select(col(Agent.id)).where(*_MEMBERS).order_by(col(Agent.id)).with_for_update(key_share=True))
_RELEASE_MEMBERS = command(sa.update(Agent).where(*_MEMBERS).values(guild_id=None))


async def create(db: Database, caller: Caller, name: str) -> GuildRow:
    """Create a guild.

    Raises:
        Forbidden: the caller is no operator.
        Unprocessable: the name is not valid.
        Conflict: a guild of this name exists.
    """
    caller.require_operator("guildCreate")
    check_name("a guild", name, NAME_CHARACTERS)
    async with db.write() as writer:
        return await writer.one(_CREATE, org_id=caller.org_id, id=new_id(), name=name, at=now())


async def delete(db: Database, caller: Caller, guild_id: str) -> bool:
    """Delete a guild with its notes, its own collections and its grants. Its agents stay, without a guild.

    Raises: Forbidden, NotFound.
    """
    caller.require_operator("guildDelete")
    check(id=guild_id)
    at = now()
    async with db.write() as writer:
        if not await writer.execute(_DELETE, org_id=caller.org_id, id=guild_id, at=at):
            raise unknown(guild_id)
        # Lock the members in the order of their ids, as a move of notes does. An update alone locks them in any order and can deadlock.
        await writer.execute(_LOCK_MEMBERS, org_id=caller.org_id, guild_id=guild_id)
        await writer.execute(_RELEASE_MEMBERS, org_id=caller.org_id, guild_id=guild_id)
        await collections.delete_of_guild(writer, caller, guild_id)
        await grants.drop_subject(writer, caller, SubjectType.GUILD, guild_id)
        await removal.files(writer, caller, guild_id, at)
    return True


async def listed(db: Database, org_id: str) -> list[GuildRow]:
    """Return the live guilds of an organisation, by name."""
    async with db.read() as reader:
        return await reader.rows(_LIST, org_id=org_id)


async def by_ids(db: Database, org_id: str, ids: Sequence[str]) -> Mapping[str, GuildRow]:
    """Return guilds by id, including deleted ones, since a run keeps its guild. Unknown ids are left out."""
    async with db.read() as reader:
        return {row.id: row for row in await reader.rows(_BY_IDS, org_id=org_id, ids=storable(ids))}


def unknown(guild_id: str) -> NotFound:
    """Return the error for a guild that does not exist."""
    return NotFound(f"unknown guild {printable(guild_id)[:200]}")
