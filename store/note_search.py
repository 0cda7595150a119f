"""Finding notes by their words: ranked by how well they match, each with the text around its first match."""

from models.caller import Caller
from models.errors import Unprocessable
from models.kinds import NoteLevel
from models.limits import DEFAULT_PAGE, MAX_PAGE
from store.database import Database, Row
from store.display_paths import ARTIFACT_PATH
from store.parameters import Parameters
from store.query import Query, contains, parse

_BEFORE, _SHOWN = 80, 240
_TERMS = 16

# $1 organisation, $2 levels, $3 owners or null for all, $4 limit, $5 the query's terms in lower case. The conditions bring the rest.
# A match in the key counts like a good match of the words. Snippets are cut only for the hits that are shown.
_FIND = f"""WITH hits AS MATERIALIZED (
        SELECT a.id, a.org_id, a.kind, a.level, a.owner_id, a.key, a.version, a.updated_at,
            coalesce(ts_rank_cd(a.search, {{tsquery}}), 0) + CASE WHEN a.key ILIKE {{pattern}} THEN 1 ELSE 0 END AS rank
        FROM artifacts a
        WHERE a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL AND a.level = ANY($2::text[])
            AND ($3::text[] IS NULL OR a.owner_id = ANY($3)) AND {{predicate}}
        ORDER BY rank DESC, a.updated_at DESC, a.id LIMIT $4)
    SELECT {ARTIFACT_PATH} AS display_path, a.level, a.key, a.version, a.updated_at, a.id,
        CASE WHEN cut.start > 1 THEN '…' ELSE '' END || btrim(regexp_replace(substr(body.text, cut.start, {_SHOWN}), '\\s+', ' ', 'g'))
            || CASE WHEN cut.start + {_SHOWN} <= length(body.text) THEN '…' ELSE '' END AS snippet
    FROM hits a JOIN artifacts f ON f.org_id = a.org_id AND f.id = a.id
    CROSS JOIN LATERAL (SELECT normalize(f.content, NFC) AS text OFFSET 0) body
    CROSS JOIN LATERAL (SELECT lower(body.text) AS text OFFSET 0) low
    CROSS JOIN LATERAL (SELECT greatest(1, coalesce((SELECT strpos(low.text, t.term) FROM unnest($5::text[]) WITH ORDINALITY t (term, n)
        WHERE strpos(low.text, t.term) > 0 ORDER BY t.n LIMIT 1), 1) - {_BEFORE}) AS start) cut
    ORDER BY a.rank DESC, a.updated_at DESC, a.id"""


async def find(db: Database, caller: Caller, query: str, level: NoteLevel | None = None, limit: int = DEFAULT_PAGE) -> list[Row]:
    """The notes that match and that the caller reads, best first: path, level, key, version, time and a plain snippet.

    Raises Unprocessable for an empty or too long query and for a limit outside 1 to 100.
    """
    parsed = parse(query)
    if not 1 <= limit <= MAX_PAGE:
        raise Unprocessable(f"limit must be from 1 to {MAX_PAGE}; got {limit}")
    levels, owners = _reach(caller, level)
    parameters = Parameters([caller.org_id, levels, owners, limit, terms(parsed)])
    statement = _FIND.format(
        tsquery=parsed.tsquery(parameters),
        pattern=parameters.add(parsed.token and contains(parsed.token), "text"),
        predicate=parsed.predicate("a", parameters),
    )
    async with db.read() as reader:
        return await reader.rows(statement, *parameters.values)


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
    """Return what a snippet should show, in lower case and the best first: phrases and joined words as typed, then single words."""
    wanted = [operand for operands in query.alternatives for operand in operands if not operand.excluded]
    typed = [operand.text.strip().lower() if len(operand.words) > 1 else operand.words[0] for operand in wanted]
    # The parts of a phrase may stand in different lines, where the phrase as typed is not found.
    texts = sorted(typed, key=lambda text: " " not in text) + [word for operand in wanted for word in operand.words]
    return list(dict.fromkeys([query.token.lower()] if query.token else texts))[:_TERMS]
