from collections.abc import Mapping, Sequence

from models.caller import Caller
from models.kinds import NoteLevel
from models.paths import Family, Path
from models.text import storable
from store.database import Database, Reader, Row
from store.notes import owners
from store.notes.columns import COLUMNS, COLUMNS_WITHOUT_CONTENT
from store.notes.families import note_to_get
from store.notes.rights import owner_of, reads, unknown

_LIVE = "a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL"
ONE = f"SELECT {COLUMNS} FROM artifacts a WHERE {_LIVE} AND a.owner_id = $2 AND a.key = $3"
_OF_OWNER = f"FROM artifacts a WHERE {_LIVE} AND a.level = $2 AND a.owner_id = $3 ORDER BY lower(a.key), a.key"
# An agent's notes, its guild's and the organisation's, by the parameters that say which; a null agent is an operator.
_OF_OWNERS = f"""FROM artifacts a WHERE {_LIVE} AND a.owner_id = ANY($2::text[]) AND ($3::text IS NULL
    OR (a.level = 'AGENT' AND a.owner_id = $3) OR (a.level = 'GUILD' AND a.owner_id = $4::text) OR (a.level = 'ORG' AND $5::boolean))
    ORDER BY a.owner_id, lower(a.key), a.key"""

# A previous version of a memory in a note's shape, for the one path under which an operator opens it.
_ARCHIVED = """SELECT 'memory-' || m.agent_id || '-' || m.version AS id, $4::text AS display_path, 'AGENT' AS level, m.agent_id AS owner_id,
    'history-archive/' || $3 AS key, m.content, m.version, m.saved_at AS created_at, m.saved_by_kind AS created_by_kind,
    m.saved_by_id AS created_by_id, m.saved_by_name AS created_by_name, m.saved_at AS updated_at, m.saved_by_kind AS updated_by_kind,
    m.saved_by_id AS updated_by_id, m.saved_by_name AS updated_by_name
    FROM memory_revisions m JOIN agents g ON g.org_id = m.org_id AND g.id = m.agent_id AND g.deleted_at IS NULL
    WHERE m.org_id = $1 AND m.agent_id = $2 AND m.stamp || '-' || m.source || '.md' = $3"""


async def get(db: Database, caller: Caller, path: str) -> Row:
    """The note at a display path; for an operator also an archived memory.

    Raises NotFound, or Unprocessable naming the right tool for a path of another family.
    """
    async with db.read() as reader:
        parsed = await note_to_get(reader, caller, path)
        if not reads(caller, parsed.level, parsed.owner_id):
            raise unknown(path)
        found = await _at(reader, caller.org_id, parsed)
    if found is None:
        raise unknown(path)
    return found


async def _at(reader: Reader, org_id: str, path: Path) -> Row | None:
    if path.family is Family.ARCHIVE:
        return await reader.row(_ARCHIVED, org_id, path.owner_id, path.key, path.text)
    return await reader.row(ONE, org_id, path.owner_id, path.key)


async def listed(db: Database, caller: Caller, level: NoteLevel, owner_id: str | None = None, *, content: bool = True) -> list[Row]:
    """The notes of one owner by key, for operators; without `content` their text is None.

    Raises NotFound for an unknown owner, Unprocessable where `owner_id` is missing.
    """
    caller.require_operator("notes")
    owner = owner_of(caller, level, owner_id)
    async with db.read() as reader:
        rows = await reader.rows(f"SELECT {COLUMNS if content else COLUMNS_WITHOUT_CONTENT} {_OF_OWNER}", caller.org_id, level, owner)
        if not rows:
            await owners.require(reader, caller.org_id, level, owner)
    return rows


async def of_owners(db: Database, caller: Caller, owner_ids: Sequence[str], *, content: bool = True) -> Mapping[str, list[Row]]:
    """The notes of each owner (organisation, guild or agent) that the caller reads, by key; owners without any are left out."""
    reach: tuple[str | None, str | None, bool] = (None, None, True)
    if caller.is_agent:
        reach = (caller.id, caller.guild_id if caller.read_guild else None, caller.read_org)
    columns = COLUMNS if content else COLUMNS_WITHOUT_CONTENT
    async with db.read() as reader:
        rows = await reader.rows(f"SELECT {columns} {_OF_OWNERS}", caller.org_id, storable(owner_ids), *reach)
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.owner_id, []).append(row)
    return found
