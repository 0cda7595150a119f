"""Notes that tasks embed stay where they are."""

import unicodedata

from models import embeds
from models.errors import Conflict
from models.paths import parse
from store.database import Writer
from store.display_paths import ARTIFACT_PATH
from store.notes.columns import WRITER
from store.notes.rights import agent_reads
from store.query import contains

_NAMED_AGENTS = 20

_TARGETS_OF_TASK = f"""(SELECT btrim(m[1], '{embeds.BLANKS}') FROM regexp_matches(g.task, '{embeds.PATTERN}', 'g') m)"""
_TARGETS_OF_NOTE = f"""(SELECT btrim(m[1], '{embeds.BLANKS}') FROM regexp_matches(a.content, '{embeds.PATTERN}', 'g') m)"""
# $1 organisation, $2 the note's path, $3 the pattern that finds the path in the notes' search text, which is indexed, $4 level, $5 owner.
_EMBEDDING_AGENTS = f"""WITH carriers AS MATERIALIZED (
        SELECT {ARTIFACT_PATH} AS path FROM artifacts a
        LEFT JOIN agents w ON w.org_id = $1 AND w.id = {WRITER} AND w.deleted_at IS NULL
        WHERE a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL
            AND a.search_blob LIKE $3 AND strpos(a.content, $2) > 0 AND $2 IN {_TARGETS_OF_NOTE}
            AND ({WRITER} IS NULL OR {agent_reads("w", "$4::text", "$5::text")}))
    SELECT g.name FROM agents g
    WHERE g.org_id = $1 AND g.deleted_at IS NULL AND strpos(g.task, '![[') > 0
        AND CASE WHEN strpos(g.task, $2) > 0 OR EXISTS (SELECT FROM carriers c WHERE strpos(g.task, c.path) > 0)
            THEN EXISTS (SELECT FROM {_TARGETS_OF_TASK} t(target) WHERE t.target = $2 OR t.target IN (SELECT path FROM carriers)) END
    ORDER BY g.name, g.id"""


async def refuse_if_embedded(writer: Writer, org_id: str, path: str) -> None:
    """Keep a note at its path while a living agent's task shows it, itself or within a note. Raises Conflict naming the agents."""
    if not embeds.can_be_embedded(path):
        return
    note = parse(path, org_id)
    pattern = contains(unicodedata.normalize("NFC", path))
    agents = [row.name for row in await writer.rows(_EMBEDDING_AGENTS, org_id, path, pattern, note.level, note.owner_id)]
    if agents:
        more = f" and {len(agents) - _NAMED_AGENTS} more" if len(agents) > _NAMED_AGENTS else ""
        whose = f"the {'task' if len(agents) == 1 else 'tasks'} of {', '.join(agents[:_NAMED_AGENTS])}{more}"
        raise Conflict(f"{path} is embedded in {whose}; take it out there first", agents=agents[:_NAMED_AGENTS])
