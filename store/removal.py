"""The files that go with a guild or an agent that is deleted, each with its change."""

from datetime import datetime

from models.caller import Caller
from models.paths import MEMORY_KEY
from store.changes import INSERT_COLUMNS
from store.database import Writer

# Embedded notes go with their owner all the same: a task shows a mark in their place.
# $1 organisation, $2 owner, $3 time, $4-$6 actor, $7-$9 run and tool call. The rows keep the version of their deletion.
_FILES = f"""WITH gone AS (UPDATE artifacts SET deleted_at = $3::timestamptz, version = version + 1
        WHERE org_id = $1 AND owner_id = $2 AND kind <> 'OBJECT' AND deleted_at IS NULL RETURNING id, kind, level, owner_id, key, version),
    named AS (SELECT d.*, 'org/' || $1 || CASE d.level WHEN 'GUILD' THEN '/guilds/' ELSE '/agents/' END || d.owner_id ||
        CASE d.kind WHEN 'SCRIPT' THEN '/scripts/' || d.key WHEN 'MEMORY' THEN '/{MEMORY_KEY}' ELSE '/' || d.key END AS path FROM gone d)
    INSERT INTO file_changes ({INSERT_COLUMNS})
    SELECT $1, n.id, n.path, n.path, NULL, n.kind, 'DELETE', n.version, n.level, n.owner_id, NULL, $4, $5, $6, $7, $8, $9, $3
    FROM named n ORDER BY n.path"""


async def files(writer: Writer, caller: Caller, owner_id: str, at: datetime) -> int:
    """Delete the notes of a guild, or the notes, memory and scripts of an agent; how many."""
    writer.touched.add(caller.org_id)
    who = (caller.kind, caller.id, caller.name, caller.run_id, caller.tool_call_id, caller.tool_name)
    return await writer.execute(_FILES, caller.org_id, owner_id, at, *who)
