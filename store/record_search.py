"""Searching records by words, in one collection or in all that the caller reads."""

from typing import Any

from models import columns as dialect
from models.caller import Caller
from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.limits import DEFAULT_PAGE
from store import access, record_match, record_order, record_rows
from store.database import Database, Row
from store.parameters import Parameters
from store.record_match import HEADING, Match, limit_problem

# The caller's rights are part of the statement; only the hits are read whole.
_SEARCH = f"""WITH k AS MATERIALIZED ({access.SELECT} AND {access.effective()} <> 'NONE' AND ($4::text IS NULL OR k.id = $4)){{first}}
    SELECT {{columns}}
    FROM ({{hits}}) hit
    JOIN artifacts a ON a.org_id = $1 AND a.id = hit.id
    JOIN k ON k.id = a.collection_id
    ORDER BY {{outer}}, a.id LIMIT {{limit}}"""

_HITS = """SELECT a.id, {keys} FROM artifacts a
    WHERE {gate}a.org_id = $1 AND a.kind = 'OBJECT' AND a.deleted_at IS NULL AND {within} AND {conditions}
    ORDER BY {inner}, a.id LIMIT {limit}"""

# Where the words alone fill the answer, nothing looks at every text for the token.
_FIRST = ", by_words AS MATERIALIZED ({by_words})"
_IN_TURNS = "SELECT * FROM by_words UNION ALL ({others})"
_ROOM = "(SELECT count(*) FROM by_words) < {limit} AND "

_COLLECTION = 3  # the place of $4 among the parameters
_WITHIN_ALL = "a.collection_id = ANY(ARRAY(SELECT k.id FROM k))"
# Said outright, so that the planner knows how few records that are; the join with `k` still decides.
_WITHIN_ONE = "a.collection_id = $4"


async def search(
    db: Database,
    caller: Caller,
    *,
    query: str,
    collection: str | None = None,
    where: Any = None,
    limit: int = DEFAULT_PAGE,
    read: frozenset[str] | None = None,
) -> list[Row]:
    """The records that match the query, best first. `where` narrows within a collection; `read` as in record_list.

    Raises NotFound as access.for_read, and Unprocessable with every problem of the other arguments.
    """
    async with db.read() as reader:
        found = None if collection is None else await access.for_read(reader, caller, collection)
        match = _checked(found, query, where, limit)
        parameters = Parameters([caller.org_id, *access.subject(caller), found.id if found else None])
        return await reader.rows(_statement(match, limit, read, parameters), *parameters.values)


def _checked(collection: Row | None, query: str, where: Any, limit: int) -> Match:
    problems = [problem] if (problem := limit_problem(limit)) else []
    columns: tuple[ColumnDef, ...] = () if collection is None else dialect.load(collection.columns)
    if collection is None and where:
        problems.append(Problem(None, "where needs a collection, whose columns say how its terms match"))
        where = None
    match = record_match.read(columns, problems, collection=collection.id if collection else "", query=query, where=where)
    if problems:
        raise Unprocessable.listing(HEADING, problems)
    return match


def _statement(match: Match, limit: int, read: frozenset[str] | None, parameters: Parameters) -> str:
    keys = match.best_first(parameters)
    asked = {
        "within": _WITHIN_ALL if parameters.values[_COLLECTION] is None else _WITHIN_ONE,
        "keys": record_order.selected(keys),
        "inner": record_order.by(keys),
        "limit": parameters.add(limit, "bigint"),
    }
    first = ""
    if (turns := match.in_turns(parameters)) is not None:
        words, others = turns
        first = _FIRST.format(by_words=_HITS.format(gate="", conditions=words, **asked))
        hits = _IN_TURNS.format(others=_HITS.format(gate=_ROOM.format(**asked), conditions=others, **asked))
    else:
        hits = _HITS.format(gate="", conditions=" AND ".join(match.conditions(parameters)), **asked)
    outer = record_order.by(keys, "hit.")
    return _SEARCH.format(columns=record_rows.columns(read), first=first, hits=hits, outer=outer, limit=asked["limit"])
