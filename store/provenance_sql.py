"""The statements that read `file_changes`.

At one path the order is that of the changes' ids: writers of one file wait for each other, so its ids grow with its versions.
Across files it is the feed's order, (xid, id), so that a cursor means the same in both.
"""

from store.changes import COLUMNS

_NEWEST_FIRST = "ORDER BY c.xid DESC, c.id DESC LIMIT $2"
_BEFORE = "(c.xid, c.id) < ($3::xid8, $4::bigint)"

# $1 organisation, $2 limit, $3 and $4 the position before which to read.
CHANGES = f"SELECT {COLUMNS} FROM file_changes c WHERE c.org_id = $1 AND {_BEFORE} {_NEWEST_FIRST}"
CHANGES_OF_RUN = f"SELECT {COLUMNS} FROM file_changes c WHERE c.org_id = $1 AND c.run_id = $5 AND {_BEFORE} {_NEWEST_FIRST}"

# A move stands at its new path, and ends the history of the old one.
_AT_PATH = """(SELECT c.* FROM file_changes c WHERE c.org_id = $1 AND c.display_path = {path} AND {narrowed}
        ORDER BY c.id DESC LIMIT {limit})
    UNION ALL
    (SELECT c.* FROM file_changes c WHERE c.org_id = $1 AND c.previous_path = {path} AND c.display_path <> {path} AND {narrowed}
        ORDER BY c.id DESC LIMIT {limit})"""


def _at_path(*, path: str, narrowed: str, limit: str) -> str:
    return _AT_PATH.format(path=path, narrowed=narrowed, limit=limit)


_NARROWED_TO_RUN = "c.id < $3::bigint AND ($5::text IS NULL OR c.run_id = $5)"
_NARROWED_TO_TABLE = "c.id < $3::bigint AND (asked.collection IS NULL OR c.collection_id = asked.collection_id)"

# $1 organisation, $2 limit, $3 the id before which to read, $4 path, $5 run or NULL.
CHANGES_AT_PATH = f"""SELECT {COLUMNS}
    FROM ({_at_path(path="$4", narrowed=_NARROWED_TO_RUN, limit="$2")}) c
    ORDER BY c.id DESC LIMIT $2"""

# $1 organisation, $2 limit, $3 the id before which to read, $4 paths, $5 for a record's path its collection's name.
# A path of a record names the table that has the name now: whoever reads that one need not have read the one before it.
CHANGES_OF_PATHS = f"""SELECT {COLUMNS}, asked.path AS asked_path
    FROM (
        SELECT u.path, u.collection, t.id AS collection_id FROM unnest($4::text[], $5::text[]) AS u(path, collection)
        LEFT JOIN artifact_collections t ON t.org_id = $1 AND t.name = u.collection AND t.deleted_at IS NULL
    ) asked
    CROSS JOIN LATERAL (
        SELECT c.* FROM ({_at_path(path="asked.path", narrowed=_NARROWED_TO_TABLE, limit="$2")}) c ORDER BY c.id DESC LIMIT $2
    ) c
    ORDER BY asked.path, c.id DESC"""


def _columns(alias: str, names: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in names.split(", "))


# The last-saved facts of a live file, as the columns of a change that was not recorded.
_FACTS = """0::bigint AS change_id, '0'::xid8 AS xid, {f}.file_id, {f}.path AS display_path, {f}.path AS event_path,
    NULL::text AS previous_path, {f}.kind, CASE {f}.version WHEN 1 THEN 'CREATE' ELSE 'UPDATE' END AS operation, {f}.version,
    {f}.level, {f}.owner_id, {f}.collection_id, {f}.updated_by_kind AS actor_kind, {f}.updated_by_id AS actor_id,
    {f}.updated_by_name AS actor_name, NULL::text AS run_id, NULL::text AS tool_call_id, NULL::text AS tool_name,
    {f}.updated_at AS at, false AS recorded"""

_SAVED = "updated_at, updated_by_kind, updated_by_id, updated_by_name"
_ARTIFACT = f"""a.id AS file_id, CASE a.kind WHEN 'OBJECT' THEN 'RECORD' ELSE a.kind END AS kind, a.version, a.level, a.owner_id,
    a.collection_id, {_columns("a", _SAVED)}"""
_TABLE = f"t.id, 'COLLECTION', t.version, NULL, NULL, t.id, {_columns('t', _SAVED)}"
_VAULT = f"v.display_path, 'VAULT', v.version, NULL, NULL, NULL, {_columns('v', _SAVED)}"
_ARCHIVED = """asked.id, 'MEMORY', m.version, 'AGENT', m.agent_id, NULL, m.saved_at, m.saved_by_kind, m.saved_by_id, m.saved_by_name"""
_TASK = f"g.id, 'TASK', g.task_version, 'AGENT', g.id, NULL, {_columns('g', _SAVED)}"

# A task that nobody has saved yet is no file.
_LIVE_TASK = "g.deleted_at IS NULL AND g.task_version > 0"

_FILES_AT_PATHS = f"""SELECT asked.n, asked.path, f.*
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]) WITH ORDINALITY
        AS asked(path, kind, owner, key, collection, number, n)
    LEFT JOIN LATERAL (
        SELECT {_ARTIFACT} FROM artifacts a
        WHERE asked.kind IN ('NOTE', 'MEMORY', 'SCRIPT') AND a.org_id = $1 AND a.owner_id = asked.owner AND a.kind = asked.kind
            AND a.key = asked.key AND a.deleted_at IS NULL AND a.kind <> 'OBJECT'
        UNION ALL
        SELECT {_ARTIFACT} FROM artifact_collections t JOIN artifacts a ON a.org_id = $1 AND a.collection_id = t.id AND a.kind = 'OBJECT'
        WHERE asked.kind = 'RECORD' AND t.org_id = $1 AND t.name = asked.collection AND t.deleted_at IS NULL
            AND a.number = asked.number AND a.deleted_at IS NULL
        UNION ALL
        SELECT {_TABLE} FROM artifact_collections t
        WHERE asked.kind = 'COLLECTION' AND t.org_id = $1 AND t.name = asked.collection AND t.deleted_at IS NULL
        UNION ALL
        SELECT {_VAULT} FROM vault_files v
        WHERE asked.kind = 'VAULT' AND v.org_id = $1 AND v.display_path = asked.path AND v.digest IS NOT NULL
        UNION ALL
        SELECT {_TASK} FROM agents g WHERE asked.kind = 'TASK' AND g.org_id = $1 AND g.id = asked.owner AND {_LIVE_TASK}
    ) f ON true"""

# Those that were deleted since their reader had them are there too: what a field promises of a file must not depend on a race.
_FILES_BY_ID = f"""SELECT asked.n, asked.path, f.*
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked(id, path, n)
    LEFT JOIN LATERAL (
        SELECT {_ARTIFACT} FROM artifacts a WHERE a.org_id = $1 AND a.id = asked.id
        UNION ALL
        SELECT {_TABLE} FROM artifact_collections t WHERE t.org_id = $1 AND t.id = asked.id
        UNION ALL
        SELECT {_ARCHIVED} FROM memory_revisions m WHERE starts_with(asked.id, 'memory-') AND m.org_id = $1
            AND m.agent_id = split_part(asked.id, '-', 2) AND m.version::text = split_part(asked.id, '-', 3)
        UNION ALL
        SELECT {_TASK} FROM agents g WHERE g.org_id = $1 AND g.id = asked.id AND {_LIVE_TASK}
    ) f ON true"""

# A live file's change carries its id, since another file may have stood at its path, and its version, since a table that was
# renamed and named back has records that changed elsewhere in between.
_ITS_CHANGE = """SELECT c.id FROM file_changes c WHERE c.org_id = $1 AND c.display_path = files.path AND c.file_id = files.file_id
    AND c.version >= files.version ORDER BY c.id DESC LIMIT 1"""
_LAST_CHANGE = f"""SELECT c.id FROM ({_at_path(path="files.path", narrowed="true", limit="1")}) c ORDER BY c.id DESC LIMIT 1"""


def _latest(files: str, change: str) -> str:
    return f"""WITH files AS MATERIALIZED ({files}),
    found AS MATERIALIZED (SELECT files.*, ({change}) AS change_id FROM files)
    SELECT n, {COLUMNS} FROM found JOIN file_changes c ON c.org_id = $1 AND c.id = found.change_id
    UNION ALL
    SELECT n, {_FACTS.format(f="found")} FROM found WHERE found.change_id IS NULL AND found.file_id IS NOT NULL
    ORDER BY n"""


# $1 organisation, $2 paths, then what finds the live file at each: kind, owner, key, collection, number.
LATEST_AT_PATHS = _latest(_FILES_AT_PATHS, f"CASE WHEN files.file_id IS NULL THEN ({_LAST_CHANGE}) ELSE ({_ITS_CHANGE}) END")
# $1 organisation, $2 file ids, $3 their paths.
LATEST_OF_FILES = _latest(_FILES_BY_ID, _ITS_CHANGE)
