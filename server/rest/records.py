"""The routes of a collection's records."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from models.errors import NotFound
from models.limits import DEFAULT_PAGE
from models.text import printable
from server.rest import models, shapes
from server.rest.arguments import Body, Query
from server.rest.collections import found
from server.rest.fields import Json, Limit, Moment, Offset, OrderText, Words
from server.rest.route import Answer, Call, Guard, NoQuery, Route, Tag
from store import collections, record_batch, record_list, records

Values = Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": True})]
IDEMPOTENCY_KEY = "Idempotency-Key"


class RecordsQuery(Query):
    """Which records, in which order."""

    query: Words | None = Field(default=None, description="Words to find, as a web search takes them; runs a search, the best first.")
    where: Json = Field(
        default=None,
        description='JSON object of columns and terms, 8 at most: {"email": {"eq": "ada@example.org"}, "score": {"gte": 40}}.',
    )
    since: Moment | None = Field(default=None, description="Only records created or updated at or after this time.")
    order: OrderText = Field(default=None, description='JSON {"column": …, "direction": "asc" or "desc"}, or the words `column desc`.')
    limit: Limit = Field(default=DEFAULT_PAGE, description="1 to 100.")
    offset: Offset = Field(default=0, description="0 or more.")


class RecordBody(Body):
    """The values of declared columns."""

    body: Values


class RecordBodies(Body):
    """Several records, 500 at most."""

    bodies: list[Any] = Field(description="The values of each record.")
    dry_run: bool = Field(default=False, description="Say what would happen and write nothing.")


async def listed(call: Call, args: RecordsQuery) -> Answer:
    """The records that match, a page at a time; narrowed to nothing, with a hint why."""
    table = await found(call, call.path["id"])
    page = await record_list.for_collection(
        call.db,
        call.caller,
        table,
        query=args.query,
        where=args.where,
        since=args.since,
        order=args.order,
        limit=args.limit,
        offset=args.offset,
    )
    hint = {} if page.hint is None else {"hint": page.hint}
    shown = [shapes.record(row) for row in page.records]
    return Answer({"total": page.total, "records": shown, "columns": shapes.columns(table), **hint})


async def add(call: Call, args: RecordBody) -> Answer:
    """Add a record. A body with the unique value of a live record is merged into that as a patch.

    The same Idempotency-Key and body again within 24 hours answer as the first did and write nothing.
    """
    table = await found(call, call.path["id"])
    key = call.headers.get(IDEMPOTENCY_KEY)
    done = await records.add(call.db, call.caller, table.name, args.body, idempotency_key=key)
    place = f"/api/collections/{table.id}/records/{done.record.id}"
    return Answer({"record": shapes.record(done.record), "merged": done.merged, "note": done.note}, location=place)


async def add_many(call: Call, args: RecordBodies) -> Answer:
    """Add up to 500 records, all or none. With problems the answer lists them, by the index of the body, and nothing is written."""
    table = await found(call, call.path["id"])
    done = await record_batch.add_many(call.db, call.caller, table.name, args.bodies, dry_run=args.dry_run)
    content = {
        "added": done.added,
        "merged": done.merged,
        "records": [shapes.record(row) for row in done.records],
        "problems": [shapes.plain(problem, "index", "column", "message") for problem in done.problems],
    }
    # Nothing was made then; problems are the answer to a batch and no error, so that they keep their index.
    return Answer(content, status=200 if args.dry_run or done.problems else 201)


async def clear(call: Call, _args: NoQuery) -> Answer:
    """Remove every live record; the table, its grants and the counter of ids stay."""
    await collections.clear(call.db, call.caller, call.path["id"])
    return Answer()


async def get(call: Call, _args: NoQuery) -> Answer:
    """One record."""
    table = await found(call, call.path["id"])
    row = await records.get(call.db, call.caller, table.name, call.path["record_id"])
    if row is None:
        raise NotFound(f"unknown record {printable(call.path['record_id'])[:80]} in collection {table.name}")
    return Answer(shapes.record(row), row.version)


async def update(call: Call, args: RecordBody) -> Answer:
    """Change the columns that the body names; null clears an optional one."""
    table = await found(call, call.path["id"])
    record_id = call.path["record_id"]
    done = await records.update(call.db, call.caller, table.name, record_id, args.body, expected_version=call.expected)
    return Answer({"record": shapes.record(done.record), "warnings": [problem.as_json() for problem in done.warnings]})


async def remove(call: Call, _args: NoQuery) -> Answer:
    """Remove a record; its id is not used again."""
    table = await found(call, call.path["id"])
    await records.remove(call.db, call.caller, table.name, call.path["record_id"], expected_version=call.expected)
    return Answer()


_GROUP = "records"
_ALL = "/api/collections/{id}/records"
_ONE = "/api/collections/{id}/records/{record_id}"
_KEY = {IDEMPOTENCY_KEY: "Makes a repeated add answer as the first did, for 24 hours."}
ROUTES = (
    Route("GET", _ALL, listed, _GROUP, query=RecordsQuery, answer=models.RecordPage),
    Route("POST", _ALL, add, _GROUP, body=RecordBody, answer=models.RecordAdded, status=201, headers=_KEY),
    Route("DELETE", _ALL, clear, _GROUP, status=204),
    Route("POST", f"{_ALL}/batch", add_many, _GROUP, body=RecordBodies, answer=models.RecordBatch, status=201),
    Route("GET", _ONE, get, _GROUP, answer=models.Record, tag=Tag.CONTENT),
    Route("PATCH", _ONE, update, _GROUP, body=RecordBody, answer=models.RecordUpdated, guard=Guard.MATCH),
    Route("DELETE", _ONE, remove, _GROUP, status=204, guard=Guard.MATCH),
)
