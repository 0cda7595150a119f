"""The tools for the records of collections."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from models.caller import Caller
from models.limits import DEFAULT_PAGE, INDEXED_BYTES_PER_RECORD, KB, QUERY_CHARACTERS, QUERY_WORDS, RECORDS_PER_COLLECTION
from models.values import HEADING
from server.mcp import answers
from server.mcp.answers import Answer
from server.mcp.arguments import BODY, LIMIT, OFFSET, ORDER, RECORD_ID, SINCE, TEXT, WHERE
from server.mcp.tool import Tool
from store import record_list, record_search, records
from store.database import Database

_COLLECTION = TEXT.described("The collection's name.")
_ID = RECORD_ID.described("The record's id, like 12.")
_SHAPE = (
    "A record has id, collection, body (the declared columns), created_at, updated_at, updated_by, version and display_path. "
    "NOT_FOUND: there is no such collection, or you may not read it."
)
_REFUSALS = (
    "A refusal lists every problem by column and nothing is written: correct all of them and send it again. NOT_FOUND: unknown "
    "collection or id. FORBIDDEN: you may only read this collection; do not try again."
)


async def _search(
    db: Database,
    caller: Caller,
    *,
    query: str,
    collection: str | None = None,
    where: Mapping[str, Any] | None = None,
    limit: int = DEFAULT_PAGE,
) -> Answer:
    return {
        "records": answers.records(await record_search.search(db, caller, query=query, collection=collection, where=where, limit=limit))
    }


async def _list(
    db: Database,
    caller: Caller,
    *,
    collection: str,
    where: Mapping[str, Any] | None = None,
    since: datetime | None = None,
    order: Any = None,
    limit: int = DEFAULT_PAGE,
    offset: int = 0,
) -> Answer:
    page = await record_list.list_records(
        db, caller, collection=collection, where=where, since=since, order=order, limit=limit, offset=offset
    )
    answer: Answer = {"total": page.total, "records": answers.records(page.records)}
    return answer if page.hint is None else {**answer, "hint": page.hint}


async def _add(db: Database, caller: Caller, *, collection: str, body: Mapping[str, Any]) -> Answer:
    added = await records.add(db, caller, collection, body)
    answer: Answer = {"record": answers.record(added.record)}
    return answer if added.note is None else {**answer, "note": added.note}


async def _update(db: Database, caller: Caller, *, collection: str, id: str, body: Mapping[str, Any]) -> Answer:  # noqa: A002  # the tool's name for it
    updated = await records.update(db, caller, collection, id, body)
    answer: Answer = {"record": answers.record(updated.record)}
    # A list that is nearly always empty would cost a model's attention each time.
    return {**answer, "warnings": answers.problems(updated.warnings)} if updated.warnings else answer


async def _remove(db: Database, caller: Caller, *, collection: str, id: str) -> Answer:  # noqa: A002  # as above
    return {"removed": await records.remove(db, caller, collection, id)}


RECORD_TOOLS = (
    Tool(
        "record_search",
        "Search records",
        "Find records by words in their values, in one collection or in all that you may read, best match first. Words must all occur in "
        'the record, OR widens, "quotes" keep a phrase, -word excludes; a query of one word also matches inside longer words, so a part of '
        "an identifier is found. It is not fuzzy: a misspelled word finds nothing. To list, filter, count or read by id use record_list. "
        f"Returns {{ records }}. {_SHAPE}",
        {
            "collection": _COLLECTION.optional().described("The collection to search; all that you may read if left out."),
            "query": TEXT.described(f"The words to look for, at most {QUERY_CHARACTERS:,} characters and {QUERY_WORDS} words."),
            "where": WHERE.described(f"Needs collection. {WHERE.schema['description']}"),
            "limit": LIMIT,
        },
        _search,
        read_only=True,
    ),
    Tool(
        "record_list",
        "List records",
        "List the records of one collection, narrowed by where and since, ordered and paged. Use it for work queues (where on a status "
        'column), for what changed since a time, for existence checks (where {"eq": v} on the unique column) and to read one record (where '
        '{"id": 12}). Returns { total, records }: total counts every match whatever the page. A narrowed list that finds nothing adds a '
        f"hint that explains it; a larger limit does not help then. {_SHAPE}",
        {
            "collection": _COLLECTION,
            "where": WHERE,
            "since": SINCE.described("Only records created or updated at or after this time: ISO 8601 with a timezone."),
            "order": ORDER,
            "limit": LIMIT,
            "offset": OFFSET,
        },
        _list,
        read_only=True,
    ),
    Tool(
        "record_add",
        "Add a record",
        "Add a record to a collection. Send the declared columns only, each value in its column's type: text, number (not a text), true or "
        "false, an ISO 8601 datetime with a timezone, or a list of distinct texts; the id is assigned. If the collection has a unique "
        "column and a live record has the same value, that record is updated with the body instead and note says so. Limits: "
        f"{RECORDS_PER_COLLECTION:,} records a collection, {INDEXED_BYTES_PER_RECORD // KB} KB of values a record. Returns {{ record }} "
        f"and, if merged, note. {_REFUSALS}",
        {
            "collection": _COLLECTION,
            "body": BODY.described("The values by column. Every required column must be there; leave out what has no value."),
        },
        _add,
        heading=HEADING,
    ),
    Tool(
        "record_update",
        "Update a record",
        "Change some columns of a record; what the body does not name stays, and null clears an optional column. Returns { record } and, "
        "if other columns hold what the collection would not accept now, warnings: those did not stop the update, and another one can "
        f"mend them. CONFLICT: another record has the unique value, and the message says which. {_REFUSALS}",
        {
            "collection": _COLLECTION,
            "id": _ID,
            "body": BODY.described("The columns to change, with their new values, or null to clear one."),
        },
        _update,
        heading=HEADING,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "record_remove",
        "Remove a record",
        "Remove one record by its id; the id is never used again. Returns { removed }. NOT_FOUND: unknown collection or id, perhaps "
        "removed already. FORBIDDEN: you may only read this collection.",
        {"collection": _COLLECTION, "id": _ID},
        _remove,
        destructive=True,
        idempotent=True,
    ),
)
