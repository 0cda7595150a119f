"""Grants: a guild's base for a table of the organisation, and an agent's own mode over it."""

from collections import defaultdict
from collections.abc import Sequence

from models.caller import Caller
from models.errors import Forbidden, NotFound, Unprocessable
from models.kinds import AccessMode, FileOperation, SubjectType
from models.text import check, fault, printable
from store import access, collections
from store.database import Database, Reader, Row, Writer

_SET = """INSERT INTO collection_access (org_id, collection_id, subject_type, subject_id, mode) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (org_id, collection_id, subject_type, subject_id) DO UPDATE SET mode = excluded.mode"""
_DROP = "DELETE FROM collection_access WHERE org_id = $1 AND collection_id = $2 AND subject_type = $3 AND subject_id = $4"
_OF_COLLECTIONS = """SELECT c.collection_id, c.subject_type, c.subject_id, coalesce(g.name, a.name, c.subject_id) AS subject_name, c.mode
    FROM collection_access c
    LEFT JOIN guilds g ON g.org_id = c.org_id AND c.subject_type = 'GUILD' AND g.id = c.subject_id
    LEFT JOIN agents a ON a.org_id = c.org_id AND c.subject_type = 'AGENT' AND a.id = c.subject_id
    WHERE c.org_id = $1 AND c.collection_id = ANY($2::text[]) ORDER BY c.subject_type DESC, subject_name, c.subject_id"""

# For each subject its guild's own tables, then every table of the organisation; `s` has id and guild_id of the live subjects.
_REACH = """SELECT s.id AS subject_id, k.id AS collection_id, CASE WHEN k.guild_id IS NULL THEN 'ORG' ELSE 'GUILD' END AS scope,
        {base} AS base, {grant} AS "grant", coalesce({own} {base}, 'NONE') AS effective
    FROM {subjects} s JOIN artifact_collections k ON k.org_id = s.org_id AND (k.guild_id IS NULL OR k.guild_id = s.guild_id)
    LEFT JOIN collection_access base ON base.org_id = k.org_id AND base.collection_id = k.id
        AND base.subject_type = 'GUILD' AND base.subject_id = s.guild_id AND k.guild_id IS NULL
    LEFT JOIN collection_access own ON own.org_id = k.org_id AND own.collection_id = k.id
        AND own.subject_type = 'AGENT' AND own.subject_id = s.id
    WHERE s.org_id = $1 AND s.id = ANY($2::text[]) AND s.deleted_at IS NULL AND k.deleted_at IS NULL
    ORDER BY s.id, k.guild_id IS NULL, k.name"""
_BASE = "CASE WHEN k.guild_id IS NULL THEN base.mode ELSE 'WRITE' END"
_OF_GUILDS = _REACH.format(subjects="(SELECT org_id, id, id AS guild_id, deleted_at FROM guilds)", base=_BASE, grant="base.mode", own="")
_OF_AGENTS = _REACH.format(subjects="agents", base=_BASE, grant="own.mode", own="own.mode,")
_LOCK_SUBJECT = {
    SubjectType.GUILD: "SELECT id, id AS guild_id FROM guilds WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE",
    SubjectType.AGENT: "SELECT id, guild_id FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE",
}


async def set_grant(
    db: Database, caller: Caller, *, collection_id: str, subject_type: SubjectType, subject_id: str, mode: AccessMode | None
) -> Row:
    """Give a guild or an agent its mode on a table, or take the row away with None; what the subject then has there.

    The answer is (subject_id, collection_id, scope, base, grant, effective). Raises NotFound for an unknown table or subject,
    Unprocessable for a row that the table does not take, Forbidden for agents.
    """
    caller.require_operator("granting access")
    check(collection_id=collection_id, subject_id=subject_id)
    async with db.write() as writer:
        # Subjects are locked before tables wherever both are, so that two writers never wait for each other.
        subject = await writer.row(_LOCK_SUBJECT[subject_type], caller.org_id, subject_id)
        collection = await access.locked_id(writer, caller, collection_id)
        if subject is None:
            raise NotFound(f"unknown {subject_type.lower()} {printable(subject_id)[:200]}")
        _require_allowed(collection, subject_type, subject, mode)
        row = (caller.org_id, collection_id, subject_type, subject_id)
        await (writer.execute(_DROP, *row) if mode is None else writer.execute(_SET, *row, mode))
        # Counting a version of the table stops statements that were begun against it as it was before.
        await collections.touch(writer, caller, collection, FileOperation.GRANT)
        statement = _OF_GUILDS if subject_type is SubjectType.GUILD else _OF_AGENTS
        return next(row for row in await _reach(writer, caller, statement, [subject_id]) if row.collection_id == collection_id)


async def of_collections(db: Database, caller: Caller, collection_ids: Sequence[str]) -> dict[str, list[Row]]:
    """The grants of each table, guilds first: (collection_id, subject_type, subject_id, subject_name, mode). Forbidden for agents."""
    caller.require_operator("reading grants")
    found: defaultdict[str, list[Row]] = defaultdict(list)
    async with db.read() as reader:
        for row in await reader.rows(_OF_COLLECTIONS, caller.org_id, _storable(collection_ids)):
            found[row.collection_id].append(row)
    return dict(found)


async def guild_access(db: Database, caller: Caller, guild_ids: Sequence[str]) -> dict[str, list[Row]]:
    """For each guild its own tables, then every table of the organisation, with what its agents have there before overrides.

    Rows are (subject_id, collection_id, scope, base, grant, effective). Raises Forbidden for agents.
    """
    caller.require_operator("reading a guild's access")
    async with db.read() as reader:
        return _by_subject(await _reach(reader, caller, _OF_GUILDS, guild_ids))


async def agent_access(db: Database, caller: Caller, agent_ids: Sequence[str]) -> dict[str, list[Row]]:
    """For each agent its guild's own tables, then every table of the organisation: the guild's base, its own row, and what holds.

    An agent may ask for itself, and learns of the tables that it reads. Raises Forbidden where it asks for others.
    """
    if caller.is_agent and set(agent_ids) - {caller.id}:
        raise Forbidden("reading the access of other agents is for operators")
    async with db.read() as reader:
        rows = await _reach(reader, caller, _OF_AGENTS, agent_ids)
    return _by_subject([row for row in rows if not caller.is_agent or row.effective != AccessMode.NONE])


async def drop_subject(writer: Writer, caller: Caller, subject_type: SubjectType, subject_id: str, *, guild_id: str | None = None) -> None:
    """Take a subject's rows away, in the transaction that deletes it and has locked it; each table concerned counts a version.

    With `guild_id` only the rows on that guild's own tables go: an agent leaves the guild.
    """
    concerned = """SELECT k.id FROM collection_access c JOIN artifact_collections k ON k.org_id = c.org_id AND k.id = c.collection_id
        WHERE c.org_id = $1 AND c.subject_type = $2 AND c.subject_id = $3 AND k.deleted_at IS NULL
            AND ($4::text IS NULL OR k.guild_id = $4) ORDER BY k.id"""
    for row in await writer.rows(concerned, caller.org_id, subject_type, subject_id, guild_id):
        collection = await access.locked_if_live(writer, caller, row.id)
        if collection is not None and await writer.execute(_DROP, caller.org_id, row.id, subject_type, subject_id):
            await collections.touch(writer, caller, collection, FileOperation.GRANT)


def _require_allowed(collection: Row, subject_type: SubjectType, subject: Row, mode: AccessMode | None) -> None:
    if subject_type is SubjectType.GUILD:
        if collection.guild_id is not None:
            raise Unprocessable(f"collection {collection.name} is a guild's own table and takes no guild grant; its guild writes to it")
        if mode is AccessMode.NONE:
            raise Unprocessable("a guild's grant is READ or WRITE; null takes it away, and NONE is for agents")
    # Taking a row away is refused as well: where none can be, there is none to take.
    elif collection.guild_id is not None and collection.guild_id != subject.guild_id:
        raise Unprocessable(f"collection {collection.name} is a guild's own table; only agents of that guild take a grant on it")


async def _reach(reader: Reader, caller: Caller, statement: str, ids: Sequence[str]) -> list[Row]:
    return await reader.rows(statement, caller.org_id, _storable(ids))


def _by_subject(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.subject_id].append(row)
    return dict(found)


def _storable(ids: Sequence[str]) -> list[str]:
    return [item for item in ids if fault(item) is None]
