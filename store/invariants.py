"""What must hold of everything that is stored, whoever wrote it and in whatever order. Each check names what breaks it."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from models import columns as dialect
from models import identity
from models.text import printable
from store.database import Database, Reader, Row

_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is broken: which invariant, whose organisation, and what about it."""

    invariant: str
    org_id: str
    message: str


_NEWEST = """(SELECT DISTINCT ON (org_id, file_id, display_path) org_id, file_id, display_path, version FROM file_changes
        WHERE kind = '{kind}' AND ($1::text IS NULL OR org_id = $1) ORDER BY org_id, file_id, display_path, id DESC)"""
_NEWEST_OF_FILE = """(SELECT DISTINCT ON (org_id, file_id) org_id, file_id, version FROM file_changes
        WHERE kind = '{kind}' AND ($1::text IS NULL OR org_id = $1) ORDER BY org_id, file_id, id DESC)"""
_OWNED = """'org/' || a.org_id || CASE a.level WHEN 'GUILD' THEN '/guilds/' || a.owner_id WHEN 'AGENT' THEN '/agents/' || a.owner_id
    ELSE '' END || CASE a.kind WHEN 'SCRIPT' THEN '/scripts/' ELSE '/' END || a.key"""
_RECORDED = "coalesce('its newest change has version ' || c.version, 'no change of it is recorded')"


def _versions(kind: str, file_kind: str, path: str) -> str:
    by_path = "" if kind == "OBJECT" else f"AND c.display_path = {path}"
    newest = (_NEWEST_OF_FILE if kind == "OBJECT" else _NEWEST).format(kind=file_kind)
    return f"""SELECT a.org_id, {path} || ' is at version ' || a.version || ', but ' || {_RECORDED} AS message
        FROM artifacts a LEFT JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
        LEFT JOIN {newest} c ON c.org_id = a.org_id AND c.file_id = a.id {by_path}
        WHERE a.kind = '{kind}' AND a.deleted_at IS NULL AND ($1::text IS NULL OR a.org_id = $1) AND c.version IS DISTINCT FROM a.version"""


_RECORD = "'org/' || a.org_id || '/collections/' || k.name || '/' || a.number"
_MINE = "($1::text IS NULL OR {}.org_id = $1)"

# Each answers (org_id, message) for what is broken; $1 is an organisation, or NULL for all.
_CHECKS: dict[str, tuple[str, ...]] = {
    "versions match the newest change": (
        *(_versions(kind, kind, _OWNED) for kind in ("NOTE", "MEMORY", "SCRIPT")),
        _versions("OBJECT", "RECORD", _RECORD),
        f"""SELECT k.org_id, 'collection ' || k.name || ' is at version ' || k.version || ', but ' || {_RECORDED} AS message
        FROM artifact_collections k LEFT JOIN {_NEWEST_OF_FILE.format(kind="COLLECTION")} c ON c.org_id = k.org_id AND c.file_id = k.id
        WHERE k.deleted_at IS NULL AND {_MINE.format("k")} AND c.version IS DISTINCT FROM k.version""",
        f"""SELECT g.org_id, 'the task of agent ' || g.name || ' is at version ' || g.task_version || ', but ' || {_RECORDED} AS message
        FROM agents g LEFT JOIN {_NEWEST_OF_FILE.format(kind="TASK")} c ON c.org_id = g.org_id AND c.file_id = g.id
        WHERE g.deleted_at IS NULL AND {_MINE.format("g")} AND coalesce(c.version, 0) <> g.task_version""",
    ),
    "no id is used twice": (
        f"""SELECT a.org_id, 'collection ' || max(k.name) || ' has record ' || a.number || ' ' || count(*) || ' times' AS message
        FROM artifacts a JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
        WHERE a.kind = 'OBJECT' AND {_MINE.format("a")} GROUP BY a.org_id, a.collection_id, a.number HAVING count(*) > 1""",
        f"""SELECT c.org_id, c.display_path || ' was created ' || count(*) || ' times' AS message FROM file_changes c
        WHERE c.kind = 'RECORD' AND c.operation = 'CREATE' AND {_MINE.format("c")}
        GROUP BY c.org_id, c.collection_id, c.display_path HAVING count(*) > 1""",
        f"""SELECT a.org_id, {_OWNED} || ' is live ' || count(*) || ' times' AS message FROM artifacts a
        WHERE a.kind <> 'OBJECT' AND a.deleted_at IS NULL AND {_MINE.format("a")}
        GROUP BY a.org_id, a.level, a.owner_id, a.kind, a.key HAVING count(*) > 1""",
    ),
    "counters match the records": (
        f"""SELECT k.org_id, 'collection ' || k.name || ' counts ' || k.record_count || ' records and has ' || count(a.id)
            FILTER (WHERE a.deleted_at IS NULL) AS message
        FROM artifact_collections k LEFT JOIN artifacts a ON a.org_id = k.org_id AND a.collection_id = k.id
        WHERE {_MINE.format("k")} GROUP BY k.org_id, k.id, k.name, k.record_count
        HAVING k.record_count <> count(a.id) FILTER (WHERE a.deleted_at IS NULL)""",
        f"""SELECT k.org_id, 'collection ' || k.name || ' would give the id ' || k.next_id || ' next, but has record ' || max(a.number)
            AS message
        FROM artifact_collections k JOIN artifacts a ON a.org_id = k.org_id AND a.collection_id = k.id
        WHERE {_MINE.format("k")} GROUP BY k.org_id, k.id, k.name, k.next_id HAVING max(a.number) >= k.next_id""",
    ),
    "identities of live records are unique": (
        f"""SELECT a.org_id, 'collection ' || max(k.name) || ' has the same unique value in records ' ||
            string_agg(a.number::text, ', ' ORDER BY a.number) AS message
        FROM artifacts a JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
        WHERE a.deleted_at IS NULL AND a.identity IS NOT NULL AND {_MINE.format("a")}
        GROUP BY a.org_id, a.collection_id, a.identity HAVING count(*) > 1""",
    ),
    "nothing is orphaned": (
        f"""SELECT a.org_id, 'record ' || a.number || ' is live in ' || k.name || ', which is deleted' AS message
        FROM artifacts a JOIN artifact_collections k ON k.org_id = a.org_id AND k.id = a.collection_id
        WHERE a.deleted_at IS NULL AND k.deleted_at IS NOT NULL AND {_MINE.format("a")}""",
        f"""SELECT a.org_id, {_OWNED} || ' is live, but its ' || lower(a.level) || ' is not' AS message FROM artifacts a
        WHERE a.kind <> 'OBJECT' AND a.deleted_at IS NULL AND {_MINE.format("a")} AND NOT CASE a.level
            WHEN 'ORG' THEN a.owner_id = a.org_id
            WHEN 'GUILD' THEN EXISTS (SELECT FROM guilds o WHERE o.org_id = a.org_id AND o.id = a.owner_id AND o.deleted_at IS NULL)
            ELSE EXISTS (SELECT FROM agents o WHERE o.org_id = a.org_id AND o.id = a.owner_id AND o.deleted_at IS NULL) END""",
        f"""SELECT k.org_id, 'collection ' || k.name || ' is live, but its guild is not' AS message
        FROM artifact_collections k JOIN guilds g ON g.org_id = k.org_id AND g.id = k.guild_id
        WHERE k.deleted_at IS NULL AND g.deleted_at IS NOT NULL AND {_MINE.format("k")}""",
        f"""SELECT a.org_id, 'agent ' || a.name || ' is in guild ' || g.name || ', which is deleted' AS message
        FROM agents a JOIN guilds g ON g.org_id = a.org_id AND g.id = a.guild_id
        WHERE a.deleted_at IS NULL AND g.deleted_at IS NOT NULL AND {_MINE.format("a")}""",
        f"""SELECT a.org_id, 'agent ' || a.name || ' is deleted, but ' || o.what AS message FROM agents a JOIN (
            SELECT org_id, agent_id, 'a token of it is valid' AS what FROM tokens WHERE revoked_at IS NULL
            UNION ALL SELECT org_id, agent_id, 'its routine ' || name || ' is live' FROM schedules WHERE deleted_at IS NULL
            UNION ALL SELECT org_id, agent_id, 'its run ' || id || ' is unfinished' FROM runs WHERE finished_at IS NULL
        ) o ON o.org_id = a.org_id AND o.agent_id = a.id WHERE a.deleted_at IS NOT NULL AND {_MINE.format("a")}""",
    ),
    "grants are of the living": (
        f"""SELECT c.org_id, 'a grant on ' || k.name || ' stays although it is deleted' AS message
        FROM collection_access c JOIN artifact_collections k ON k.org_id = c.org_id AND k.id = c.collection_id
        WHERE k.deleted_at IS NOT NULL AND {_MINE.format("c")}""",
        f"""SELECT c.org_id, 'collection ' || k.name || ' has a grant for ' || lower(c.subject_type) || ' ' || c.subject_id ||
            ', which does not exist' AS message
        FROM collection_access c JOIN artifact_collections k ON k.org_id = c.org_id AND k.id = c.collection_id
        WHERE {_MINE.format("c")} AND NOT CASE c.subject_type
            WHEN 'GUILD' THEN EXISTS (SELECT FROM guilds g WHERE g.org_id = c.org_id AND g.id = c.subject_id AND g.deleted_at IS NULL)
            ELSE EXISTS (SELECT FROM agents a WHERE a.org_id = c.org_id AND a.id = c.subject_id AND a.deleted_at IS NULL) END""",
        f"""SELECT c.org_id, 'collection ' || k.name || ' is a guild''s own, but has a grant for ' || lower(c.subject_type) || ' ' ||
            coalesce(a.name, c.subject_id) AS message
        FROM collection_access c JOIN artifact_collections k ON k.org_id = c.org_id AND k.id = c.collection_id
        LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.subject_id
        WHERE k.guild_id IS NOT NULL AND {_MINE.format("c")} AND (c.subject_type = 'GUILD' OR a.guild_id IS DISTINCT FROM k.guild_id)""",
    ),
    "nothing crosses organisations": (
        f"""SELECT c.org_id, 'change ' || c.id || ' tells of ' || c.display_path || ', which is not of this organisation' AS message
        FROM file_changes c WHERE {_MINE.format("c")} AND c.display_path NOT LIKE 'vault/%'
            AND NOT starts_with(c.display_path, 'org/' || c.org_id || '/')""",
        f"""SELECT c.org_id, 'change ' || c.id || ' names run ' || c.run_id || ', which is none of its actor''s here' AS message
        FROM file_changes c WHERE c.run_id IS NOT NULL AND {_MINE.format("c")} AND NOT EXISTS (
            SELECT FROM runs r WHERE r.org_id = c.org_id AND r.id = c.run_id AND r.agent_id = c.actor_id)""",
        f"""SELECT c.org_id, 'change ' || c.id || ' was made by agent ' || c.actor_id || ', which is not of this organisation' AS message
        FROM file_changes c WHERE c.actor_kind = 'AGENT' AND {_MINE.format("c")} AND NOT EXISTS (
            SELECT FROM agents a WHERE a.org_id = c.org_id AND a.id = c.actor_id)""",
    ),
    "the feed's positions belong to this database": (
        """SELECT c.org_id, 'changes carry transaction ids that are still to come; a start of the server counts them anew' AS message
        FROM file_changes c WHERE ($1::text IS NULL OR c.org_id = $1) GROUP BY c.org_id
        HAVING max(c.xid) >= pg_snapshot_xmax(pg_current_snapshot())""",
    ),
}

INVARIANTS = (*_CHECKS, "search text and identity are those of the content")

_COLLECTIONS = "SELECT org_id, id, name, columns FROM artifact_collections WHERE deleted_at IS NULL AND ($1::text IS NULL OR org_id = $1)"
_RECORDS = """SELECT number, content_json, identity, identity_hash, search_blob FROM artifacts
    WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL ORDER BY number"""
_FILES = f"""SELECT a.org_id, a.kind, a.key, a.content, a.search_blob, {_OWNED} AS path FROM artifacts a
    WHERE a.kind <> 'OBJECT' AND a.deleted_at IS NULL AND {_MINE.format("a")} ORDER BY a.org_id, a.id"""


async def findings(db: Database, org_id: str | None = None) -> list[Finding]:
    """Everything that is broken in one organisation or in all, as of one moment; of each invariant the first hundred."""
    found: list[Finding] = []
    async with db.snapshot() as reader:
        for invariant, statements in _CHECKS.items():
            for statement in statements:
                rows = await reader.rows(f"{statement} LIMIT {_SHOWN}", org_id)
                found += [Finding(invariant, row.org_id, printable(row.message)) for row in rows]
        derived = 0
        async for finding in _derived(reader, org_id):
            found.append(finding)
            if (derived := derived + 1) == _SHOWN:
                break
    return found


async def _derived(reader: Reader, org_id: str | None) -> AsyncIterator[Finding]:
    for collection in await reader.rows(_COLLECTIONS, org_id):
        columns = dialect.load(collection.columns)
        async for record in reader.stream(_RECORDS, collection.org_id, collection.id):
            for fault in _record_faults(columns, record):
                yield Finding(INVARIANTS[-1], collection.org_id, f"record {record.number} of {collection.name}: {fault}")
    async for file in reader.stream(_FILES, org_id):
        expected = identity.note_blob(file.key, file.content) if file.kind == "NOTE" else None
        if file.search_blob != expected:
            yield Finding(INVARIANTS[-1], file.org_id, f"{file.path} is searched by another text than its content")


def _record_faults(columns: tuple[dialect.ColumnDef, ...], record: Row) -> list[str]:
    body = json.loads(record.content_json)
    own = identity.identity(columns, body)
    undeclared = sorted(body.keys() - {column.name for column in columns})
    checks = (
        (undeclared, f"has values of undeclared columns: {', '.join(undeclared)}"),
        (record.identity != own, "its identity is not that of its unique value"),
        (record.identity_hash != identity.digest(record.identity), "its identity's digest does not match"),
        (record.search_blob != identity.search_blob(columns, body), "is searched by another text than its values"),
    )
    return [fault for broken, fault in checks if broken]
