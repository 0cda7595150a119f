"""Finding notes by their words: ranked by how well they match, each with the text around its first match."""

import re

from models.caller import Caller
from models.errors import Unprocessable
from models.kinds import NoteLevel
from models.limits import DEFAULT_PAGE, MAX_PAGE
from store.database import Database, Row
from store.display_paths import ARTIFACT_PATH
from store.query import Query, parse, predicate, tsquery

_BEFORE, _SHOWN = 80, 240
_TERMS = 16

# $1 organisation, $2 and $3 the query, $4 levels, $5 owners or null for all, $6 limit, $7 the query's terms in lower case.
# A match in the key counts like a good match of the words. Snippets are cut only for the hits that are shown.
_FIND = f"""WITH hits AS MATERIALIZED (
        SELECT a.id, a.org_id, a.kind, a.level, a.owner_id, a.key, a.version, a.updated_at,
            ts_rank_cd(a.search, {tsquery(2)}) + CASE WHEN a.key ILIKE $3::text THEN 1 ELSE 0 END AS rank
        FROM artifacts a
        WHERE a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL AND a.level = ANY($4::text[])
            AND ($5::text[] IS NULL OR a.owner_id = ANY($5)) AND {predicate("a", 2, 3)}
        ORDER BY rank DESC, a.updated_at DESC, a.id LIMIT $6)
    SELECT {ARTIFACT_PATH} AS display_path, a.level, a.key, a.version, a.updated_at, a.id,
        CASE WHEN cut.start > 1 THEN '…' ELSE '' END || btrim(regexp_replace(substr(body.text, cut.start, {_SHOWN}), '\\s+', ' ', 'g'))
            || CASE WHEN cut.start + {_SHOWN} <= length(body.text) THEN '…' ELSE '' END AS snippet
    FROM hits a JOIN artifacts f ON f.org_id = a.org_id AND f.id = a.id
    CROSS JOIN LATERAL (SELECT substr(f.search_blob, strpos(f.search_blob, E'\\n') + 1) AS text OFFSET 0) body
    CROSS JOIN LATERAL (SELECT lower(body.text) AS text OFFSET 0) low
    CROSS JOIN LATERAL (SELECT greatest(1, coalesce((SELECT strpos(low.text, t.term) FROM unnest($7::text[]) WITH ORDINALITY t (term, n)
        WHERE strpos(low.text, t.term) > 0 ORDER BY t.n LIMIT 1), 1) - {_BEFORE}) AS start) cut
    ORDER BY a.rank DESC, a.updated_at DESC, a.id"""

# What the query's grammar does not look for: excluded words and phrases, and the word that joins alternatives.
_EXCLUDED = re.compile(r'(?<!\S)-("[^"]*"|\S+)')
_PARTS = re.compile(r'"([^"]*)"|(\S+)')
_AROUND_WORDS = ".,;:!?()[]{}<>'\""


async def find(db: Database, caller: Caller, query: str, level: NoteLevel | None = None, limit: int = DEFAULT_PAGE) -> list[Row]:
    """The notes that match and that the caller reads, best first: path, level, key, version, time and a plain snippet.

    Raises Unprocessable for an empty or too long query and for a limit outside 1 to 100.
    """
    parsed = parse(query)
    if not 1 <= limit <= MAX_PAGE:
        raise Unprocessable(f"limit must be from 1 to {MAX_PAGE}; got {limit}")
    levels, owners = _reach(caller, level)
    async with db.read() as reader:
        return await reader.rows(_FIND, caller.org_id, parsed.words, parsed.pattern, levels, owners, limit, terms(parsed))


def _reach(caller: Caller, level: NoteLevel | None) -> tuple[list[str], list[str] | None]:
    """The levels to look at, and the owners; None stands for all."""
    levels = list(NoteLevel) if level is None else [level]
    if not caller.is_agent:
        return [*levels], None
    # As the owners of notes, so that the bindings are decided before anything is matched.
    owners = [caller.id]
    if caller.read_guild and caller.guild_id is not None:
        owners.append(caller.guild_id)
    if caller.read_org:
        owners.append(caller.org_id)
    return [*levels], owners


def terms(query: Query) -> list[str]:
    """What a snippet should show, in lower case and the best first: phrases, then single words."""
    if query.token is not None:
        return [query.token.lower()]
    parts = _PARTS.findall(_EXCLUDED.sub(" ", query.words.lower()))
    phrases = [phrase for phrase, _ in parts]
    words = [word for _, word in parts if word != "or"]
    # The words of a phrase may stand in different lines, where the phrase as typed is not found.
    stripped = (part.strip(_AROUND_WORDS) for part in [*phrases, *words, *(word for phrase in phrases for word in phrase.split())])
    return [part for part in dict.fromkeys(stripped) if part][:_TERMS]
