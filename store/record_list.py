"""Lists of one collection's records: narrowed, ordered, paged, with an exact total."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from models import columns as dialect
from models.caller import Caller
from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.limits import DEFAULT_PAGE
from store import access, hint, record_match, record_order, record_rows
from store.database import Database, Reader, Row
from store.parameters import Parameters
from store.record_match import HEADING, Match, limit_problem
from store.record_order import BY_ID, BY_UPDATE, Order
from store.record_order import parse as parse_order

__all__ = ["RecordPage", "for_collection", "list_records", "parse_order"]

# No table holds as many, and PostgreSQL takes no more than a bigint.
FURTHEST = 2**31
_LIVE = "a.org_id = $1 AND a.collection_id = $2 AND a.kind = 'OBJECT' AND a.deleted_at IS NULL"

_PLAIN = f"""SELECT k.record_count AS total, {{columns}}
    FROM artifacts a JOIN artifact_collections k ON k.org_id = $1 AND k.id = $2 AND k.deleted_at IS NULL{{joins}}
    WHERE {_LIVE}{{guard}} ORDER BY {{order}} LIMIT {{bounds}}"""
_ALL = "SELECT record_count FROM artifact_collections WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"

# Matches are counted and ordered as ids and keys; only the page's are then read whole.
_NARROWED = f"""SELECT page.total, {{columns}}
    FROM (
        SELECT a.id, count(*) OVER () AS total, {{keys}}
        FROM artifacts a WHERE {_LIVE} AND {{conditions}} ORDER BY {{inner}} LIMIT {{limit}} OFFSET {{offset}}
    ) page
    JOIN artifacts a ON a.org_id = $1 AND a.id = page.id
    JOIN artifact_collections k ON k.org_id = $1 AND k.id = $2 AND k.deleted_at IS NULL
    ORDER BY {{outer}}"""

_COUNT = f"SELECT count(*) FROM artifacts a WHERE {_LIVE} AND {{conditions}}"


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some of the records that match, how many do, and what to know when none does although the list was narrowed."""

    total: int
    records: list[Row]
    hint: str | None = None


async def list_records(
    db: Database,
    caller: Caller,
    *,
    collection: str,
    where: Any = None,
    since: datetime | None = None,
    order: Any = None,
    limit: int = DEFAULT_PAGE,
    offset: int = 0,
    read: frozenset[str] | None = None,
) -> RecordPage:
    """A page of the collection's live records; by id, or with `since` by when they were updated, unless ordered otherwise.

    `read` names the columns that are needed, where not all are (see record_rows.columns).
    Raises NotFound as access.for_read, and Unprocessable with every problem of the other arguments.
    """
    async with db.read() as reader:
        if where is None and since is None and (known := db.tables.get(caller.org_id, collection)) is not None:
            page = await _known_page(reader, caller, known, order=order, limit=limit, offset=offset, read=read)
            if page is not None:
                return page
        found = await access.for_read(reader, caller, collection)
        db.tables.keep(caller.org_id, found)
        asked = _checked(found, query=None, where=where, since=since, order=order, limit=limit, offset=offset)
        return await _page(reader, caller.org_id, found, asked, read)


async def for_collection(
    db: Database,
    caller: Caller,
    collection_row: Row,
    *,
    query: str | None = None,
    where: Any = None,
    since: datetime | None = None,
    order: Any = None,
    limit: int = DEFAULT_PAGE,
    offset: int = 0,
    read: frozenset[str] | None = None,
) -> RecordPage:
    """A page of the records of a collection that the caller was found to read; with a query those that match it, best first.

    Raises Unprocessable with every problem.
    """
    asked = _checked(collection_row, query=query, where=where, since=since, order=order, limit=limit, offset=offset)
    async with db.read() as reader:
        return await _page(reader, caller.org_id, collection_row, asked, read)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What is asked of a collection, found to make sense."""

    columns: tuple[ColumnDef, ...]
    match: Match
    order: Order | None
    limit: int
    offset: int
    shown: dict[str, Any]


def _checked(collection: Row, *, query: str | None, where: Any, since: datetime | None, order: Any, limit: int, offset: int) -> _Request:
    columns = dialect.load(collection.columns)
    problems = [problem for problem in (limit_problem(limit), _offset_problem(offset)) if problem]
    match = record_match.read(columns, problems, collection=collection.id, query=query, where=where, since=since)
    parsed = _order(order, columns, problems)
    if problems:
        raise Unprocessable.listing(HEADING, problems)
    if parsed is None and match.query is None:
        parsed = BY_ID if since is None else BY_UPDATE
    given = {"query": query, "where": where or None, "since": since}
    shown = {name: value for name, value in given.items() if value is not None}
    return _Request(columns=columns, match=match, order=parsed, limit=limit, offset=min(offset, FURTHEST), shown=shown)


def check_bounds(limit: int, offset: int) -> None:
    """Raise Unprocessable with every problem of a page's bounds."""
    problems = [problem for problem in (limit_problem(limit), _offset_problem(offset)) if problem]
    if problems:
        raise Unprocessable.listing(HEADING, problems)


def _offset_problem(offset: int) -> Problem | None:
    return None if offset >= 0 else Problem(None, f"offset must be 0 or more; got {offset}")


def _order(order: Any, columns: Sequence[ColumnDef], problems: list[Problem]) -> Order | None:
    try:
        parsed = parse_order(order)
    except Unprocessable as error:
        problems += error.problems
        return None
    if parsed is not None and (problem := record_order.problem(parsed, columns)):
        problems.append(problem)
    return parsed


async def _known_page(
    reader: Reader, caller: Caller, table: Row, *, order: Any, limit: int, offset: int, read: frozenset[str] | None
) -> RecordPage | None:
    """Some of all records by one statement; None where none are, or the table or the caller's rights want a closer look."""
    try:
        asked = _checked(table, query=None, where=None, since=None, order=order, limit=limit, offset=offset)
    except Unprocessable:
        return None  # what is wrong is told of the table as it is now, to those who may know of it
    parameters = Parameters([caller.org_id, table.id])
    agent, guild = (f"${parameters.take(value)}" for value in access.subject(caller))
    guard = f" AND k.version = {parameters.add(table.version, 'int')} AND {access.effective(agent, guild)} <> 'NONE'"
    statement = _statement(asked, "", read, parameters, joins=access.joins(agent, guild), guard=guard)
    rows = await reader.rows(statement, *parameters.values)
    return RecordPage(rows[0].total, rows) if rows else None


async def _page(reader: Reader, org_id: str, collection: Row, asked: _Request, read: frozenset[str] | None) -> RecordPage:
    parameters = Parameters([org_id, collection.id])
    conditions = " AND ".join(asked.match.conditions(parameters))
    narrowed_by = list(parameters.values)
    rows = await reader.rows(_statement(asked, conditions, read, parameters), *parameters.values)
    if rows:
        return RecordPage(rows[0].total, rows)
    total = await reader.value(_COUNT.format(conditions=conditions) if conditions else _ALL, *narrowed_by) or 0 if asked.offset else 0
    explained = total == 0 and ("where" in asked.shown or "since" in asked.shown)
    return RecordPage(total, [], await hint.explain(reader, org_id, collection, asked.columns, asked.shown) if explained else None)


def _statement(
    asked: _Request, conditions: str, read: frozenset[str] | None, parameters: Parameters, *, joins: str = "", guard: str = ""
) -> str:
    """The statement of a page; `joins` and `guard` say on what terms all records are listed."""
    keys = record_order.keys(asked.order, asked.columns, parameters) if asked.order else asked.match.best_first(parameters)
    columns = record_rows.columns(read)
    if not conditions:
        # A limit that is a parameter is unknown to a plan that is kept, which PostgreSQL then never prefers: it would plan each time.
        bounds = f"{asked.limit:d} OFFSET {parameters.add(asked.offset, 'bigint')}" if asked.offset else f"{asked.limit:d}"
        return _PLAIN.format(columns=columns, joins=f" {joins}", guard=guard, order=record_order.expressions(keys), bounds=bounds)
    limit, offset = parameters.add(asked.limit, "bigint"), parameters.add(asked.offset, "bigint")
    return _NARROWED.format(
        columns=columns,
        conditions=conditions,
        keys=record_order.selected(keys),
        inner=record_order.by(keys),
        outer=record_order.by(keys, "page."),
        limit=limit,
        offset=offset,
    )
