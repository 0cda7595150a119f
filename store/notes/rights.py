"""Whose notes a caller may read and write: an agent's own always, its guild's and the organisation's by the four bindings."""

from models.caller import Caller
from models.errors import Forbidden, NotFound, Unprocessable
from models.kinds import NoteLevel
from models.paths import Path
from models.text import check, printable


def unknown(path: str) -> NotFound:
    """The refusal of a note that does not exist, or not for this caller."""
    return NotFound(f"unknown note {printable(path)[:500]}")


def reads(caller: Caller, level: NoteLevel, owner_id: str) -> bool:
    """Whether the caller may read the notes of this owner."""
    return _reaches(caller, level, owner_id, guild=caller.read_guild, org=caller.read_org)


def writes(caller: Caller, level: NoteLevel, owner_id: str) -> bool:
    """Whether the caller may write the notes of this owner."""
    return _reaches(caller, level, owner_id, guild=caller.write_guild, org=caller.write_org)


def _reaches(caller: Caller, level: NoteLevel, owner_id: str, *, guild: bool, org: bool) -> bool:
    if not caller.is_agent:
        return True
    match level:
        case NoteLevel.AGENT:
            return owner_id == caller.id
        case NoteLevel.GUILD:
            return guild and owner_id == caller.guild_id
        case NoteLevel.ORG:
            return org and owner_id == caller.org_id


def agent_reads(agent: str, level: str, owner: str) -> str:
    """The same in SQL for an agent's row: whether it is there and reads the notes of an owner."""
    return f"""({agent}.id IS NOT NULL AND CASE {level} WHEN 'AGENT' THEN {owner} = {agent}.id
        WHEN 'GUILD' THEN {agent}.read_guild AND {owner} = {agent}.guild_id ELSE {agent}.read_org END)"""


def require_write(caller: Caller, level: NoteLevel, owner_id: str) -> None:
    """Refuse a caller without the binding. Raises Forbidden naming it."""
    if not writes(caller, level, owner_id):
        binding = f"write_{level.lower()}"
        raise Forbidden(f"{caller.name} may not write notes at {level.lower()} level: its binding {binding} is off")


def require_write_at(caller: Caller, path: Path) -> None:
    """Refuse to change the note at a path. Raises NotFound where the caller may not read it, Forbidden where it may only read."""
    # First whether it may be read: a refusal to write would tell that the note is there.
    if not reads(caller, path.level, path.owner_id):
        raise unknown(path.text)
    require_write(caller, path.level, path.owner_id)


def owner_of(caller: Caller, level: NoteLevel, owner_id: str | None) -> str:
    """The id of the owner that a request at a level means.

    Raises Unprocessable where an agent names an owner or an operator does not, Forbidden for an agent without guild at guild level.
    """
    if caller.is_agent:
        return _own(caller, level, owner_id)
    check(ownerId=owner_id)
    if level is NoteLevel.ORG:
        if owner_id not in (None, caller.org_id):
            raise Unprocessable("at org level the owner is the organisation itself; leave ownerId out")
        return caller.org_id
    if not owner_id:
        raise Unprocessable(f"ownerId is required at {level.lower()} level: the id of the {level.lower()} whose note it is")
    return owner_id


def _own(caller: Caller, level: NoteLevel, owner_id: str | None) -> str:
    if owner_id is not None:
        raise Unprocessable("ownerId is for operators; an agent's notes are its own, its guild's or the organisation's by level alone")
    match level:
        case NoteLevel.AGENT:
            return caller.id
        case NoteLevel.ORG:
            return caller.org_id
        case NoteLevel.GUILD:
            if caller.guild_id is None:
                raise Forbidden(f"{caller.name} is in no guild, so it has no notes at guild level")
            return caller.guild_id
