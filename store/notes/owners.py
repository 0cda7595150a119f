"""The owners of notes: whether they live, and how writers of their notes keep out of each other's way.

Whoever creates a note holds its owner's row by FOR SHARE; whoever takes a note away from a path writes that row first. So a note
cannot vanish while another is being created in its place by somebody who does not yet know at which version it ended, nor can an
owner be deleted under a note that is coming into being.
"""

from models.errors import NotFound
from models.kinds import NoteLevel
from models.text import printable
from store.database import Reader, Writer

_TABLE = {NoteLevel.AGENT: "agents", NoteLevel.GUILD: "guilds", NoteLevel.ORG: "organisations"}
_IS = {
    NoteLevel.AGENT: "org_id = $1 AND id = {owner} AND deleted_at IS NULL",
    NoteLevel.GUILD: "org_id = $1 AND id = {owner} AND deleted_at IS NULL",
    NoteLevel.ORG: "org_id = $1 AND org_id = {owner}",
}
_LIVES = {level: f"SELECT 1 FROM {_TABLE[level]} WHERE {_IS[level].format(owner='$2')}" for level in NoteLevel}
_WRITE = {level: f"UPDATE {_TABLE[level]} SET name = name WHERE {_IS[level].format(owner='$2')}" for level in NoteLevel}


def held(level: NoteLevel, owner: str) -> str:
    """A query of one row if the owner lives and has not been written since the statement began; it holds the owner till the commit.

    FOR SHARE waits and then reads the row as it is now, the comparison reads it as of the statement's snapshot.
    """
    row = f"FROM {_TABLE[level]} WHERE {_IS[level].format(owner=owner)}"
    return f"SELECT 1 FROM (SELECT xmin::text AS now {row} FOR SHARE) held WHERE held.now = (SELECT xmin::text {row})"


async def require(reader: Reader, org_id: str, level: NoteLevel, owner_id: str) -> None:
    """Raise NotFound unless the owner lives."""
    if not await reader.value(_LIVES[level], org_id, owner_id):
        raise _unknown(level, owner_id)


async def hold(writer: Writer, org_id: str, level: NoteLevel, owner_id: str) -> None:
    """Keep the owner alive, and its notes from vanishing, until the transaction ends. Raises NotFound unless it lives."""
    if not await writer.value(f"{_LIVES[level]} FOR SHARE", org_id, owner_id):
        raise _unknown(level, owner_id)


async def seize(writer: Writer, org_id: str, *owners: tuple[NoteLevel, str]) -> None:
    """Wait for those who create notes of these owners, and let others wait until the transaction ends. Raises NotFound as `hold`."""
    # In one order for everybody, so that two moves in opposite directions do not wait for each other.
    for level, owner_id in sorted(set(owners), key=_lock_order):
        if not await writer.execute(_WRITE[level], org_id, owner_id):
            raise _unknown(level, owner_id)


def _lock_order(owner: tuple[NoteLevel, str]) -> tuple[int, str]:
    # A guild before its agents and the organisation last, as whoever changes or deletes those locks them.
    return (NoteLevel.GUILD, NoteLevel.AGENT, NoteLevel.ORG).index(owner[0]), owner[1]


def _unknown(level: NoteLevel, owner_id: str) -> NotFound:
    return NotFound(f"unknown {level.lower()} {printable(owner_id)[:200]}")
