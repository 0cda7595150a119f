"""What tasks embed: inlining it, and offering what can be embedded. That embedded notes stay where they are is the notes' own matter."""

import unicodedata
from collections.abc import Iterable, Sequence

from models import embeds
from models.caller import Caller
from models.embeds import Foreign, Found, Key, Note, Table
from models.errors import NotFound, Unprocessable
from models.limits import DEFAULT_PAGE, EMBED_BYTES, MAX_PAGE, QUERY_CHARACTERS
from models.paths import Family, Path, parse
from models.text import check
from store import access
from store.database import Database, Reader, Row
from store.display_paths import ARTIFACT_PATH, COLLECTION_PATH
from store.notes.columns import WRITER
from store.notes.rights import agent_reads
from store.query import contains

# So much text is read at most, in the order of the embeds; markup that shrinks to a name or a mark makes it more than the budget.
_READ_BYTES = 16 * EMBED_BYTES

_LIVE_NOTE = "a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL"
# An operator's embeds show everything, those in a note that an agent wrote what this agent, `w`, may read just now.
_READS_NOTE = f"(asked.writer IS NULL OR {agent_reads('w', 'a.level', 'a.owner_id')})"
_READS_TABLE = f"(asked.writer IS NULL OR (w.id IS NOT NULL AND {access.effective('w.id', 'w.guild_id')} <> 'NONE'))"

# $1 organisation; then for each embed its writer, level, owner and key, or its table's name; $7 how many bytes of text to read.
_TARGETS = f"""WITH asked AS (
        SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
            AS asked(writer, level, owner, key, collection, n)),
    found AS MATERIALIZED (
        SELECT asked.n, a.id, k.name, octet_length(a.content) AS size FROM asked
        LEFT JOIN agents w ON w.org_id = $1 AND w.id = asked.writer AND w.deleted_at IS NULL
        LEFT JOIN artifacts a ON {_LIVE_NOTE} AND a.kind <> 'OBJECT' AND a.owner_id = asked.owner AND a.level = asked.level
            AND a.key = asked.key AND {_READS_NOTE}
        LEFT JOIN artifact_collections k ON k.org_id = $1 AND k.deleted_at IS NULL AND k.name = asked.collection
        {access.joins("w.id", "w.guild_id")}
        WHERE a.id IS NOT NULL OR (k.id IS NOT NULL AND {_READS_TABLE})),
    summed AS (SELECT found.*, coalesce(sum(size) OVER (ORDER BY n), 0) - coalesce(size, 0) AS before FROM found)
    SELECT s.n, s.name, CASE WHEN s.before < $7::bigint THEN a.content END AS content,
        {WRITER} AS writer
    FROM summed s LEFT JOIN artifacts a ON a.org_id = $1 AND a.id = s.id"""

# $1 organisation, $2 the pattern of the name or null for all, $3 limit.
_EMBEDDABLE = f"""SELECT display_path, name, kind, '![[' || display_path || ']]' AS markup FROM (
        SELECT {ARTIFACT_PATH} AS display_path, a.key AS name, 'NOTE' AS kind FROM artifacts a
        WHERE {_LIVE_NOTE} AND ($2::text IS NULL OR normalize(a.key, NFC) ILIKE $2)
            AND a.key NOT LIKE '%[[%' AND a.key NOT LIKE '%]]%'
        UNION ALL
        SELECT {COLLECTION_PATH}, k.name, 'COLLECTION' FROM artifact_collections k
        WHERE k.org_id = $1 AND k.deleted_at IS NULL AND ($2::text IS NULL OR k.name ILIKE $2)) found
    ORDER BY lower(name), name, display_path LIMIT $3"""


async def render(db: Database, org_id: str, task_content: str) -> str:
    """The task with its embeds inlined: notes by their text and one level of what they embed, tables by name; 64 KB at most in all.

    What is missing, cut, circular or no note is a mark in its place. It takes at most two statements.
    """
    if not embeds.targets(task_content):
        return task_content
    async with db.read() as reader:
        return await inlined(reader, org_id, task_content)


async def inlined(reader: Reader, org_id: str, task_content: str) -> str:
    """As `render`, on a connection that is open."""
    direct = await _found(reader, org_id, [(None, target) for target in embeds.targets(task_content)])
    notes = [note for note in direct.values() if isinstance(note, Note) and note.text is not None]
    nested = [(note.writer, target) for note in notes for target in embeds.targets(note.text or "")]
    wanted = [key for key in dict.fromkeys(nested) if key not in direct]
    return embeds.inlined(task_content, {**direct, **await _found(reader, org_id, wanted)})


async def _found(reader: Reader, org_id: str, keys: Sequence[Key]) -> dict[Key, Found]:
    """What stands at each target; those where nothing does are left out."""
    found: dict[Key, Found] = {}
    asked: list[tuple[Key, Path]] = []
    for key in keys:
        try:
            path = parse(key[1], org_id)
        except NotFound:
            continue
        except Unprocessable:
            found[key] = Foreign()
            continue
        if path.family in (Family.NOTE, Family.COLLECTION):
            asked.append((key, path))
        else:
            found[key] = Foreign()
    if asked:
        for row in await reader.rows(_TARGETS, org_id, *_columns(asked), _READ_BYTES):
            found[asked[row.n - 1][0]] = Table(row.name) if row.name is not None else Note(row.content, row.writer)
    return found


def _columns(asked: Iterable[tuple[Key, Path]]) -> list[list[str | None]]:
    """The arrays that `_TARGETS` takes apart."""
    rows = [
        (writer, path.level, path.owner_id, path.key, None) if path.family is Family.NOTE else (writer, None, None, None, path.collection)
        for (writer, _), path in asked
    ]
    return [list(column) for column in zip(*rows, strict=True)]


async def embeddable(db: Database, caller: Caller, query: str | None = None, limit: int = DEFAULT_PAGE) -> list[Row]:
    """The notes and tables whose name contains the query, by name: display_path, name, kind (NOTE or COLLECTION) and markup.

    For operators. Raises Forbidden, and Unprocessable for a limit outside 1 to 100 or a query that is no text or too long.
    """
    caller.require_operator("the list of what a task can embed")
    check(query=query)
    if not 1 <= limit <= MAX_PAGE:
        raise Unprocessable(f"limit must be from 1 to {MAX_PAGE}; got {limit}")
    if query and len(query) > QUERY_CHARACTERS:
        raise Unprocessable(f"the query has {len(query):,} characters; at most {QUERY_CHARACTERS:,} are allowed")
    words = unicodedata.normalize("NFC", query or "").strip()
    async with db.read() as reader:
        return await reader.rows(_EMBEDDABLE, caller.org_id, contains(words) if words else None, limit)
