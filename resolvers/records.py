from datetime import datetime
from types import SimpleNamespace
from typing import Any

from strawberry.scalars import JSON

from models.kinds import SortDirection
from models.limits import DEFAULT_PAGE
from resolvers.context import Info
from resolvers.inputs import ID, RecordOrder, or_default
from resolvers.selection import asked
from store import record_batch, record_list, record_search, records
from store.database import Row

_READ_BY = {
    "__typename": frozenset[str](),
    "id": frozenset({"id"}),
    "collection": frozenset({"collection"}),
    "displayPath": frozenset({"display_path"}),
    "body": frozenset({"body"}),
    "version": frozenset({"version"}),
    "createdAt": frozenset({"created_at"}),
    "updatedAt": frozenset({"updated_at"}),
    "createdBy": frozenset({"created_by_kind", "created_by_id", "created_by_name"}),
    "updatedBy": frozenset({"updated_by_kind", "updated_by_id", "updated_by_name"}),
}


def _read(info: Info) -> frozenset[str] | None:
    """The columns that the fields asked of `records` read; None, for all, where one of them has more to do than to read columns."""
    names = asked(info, "records")
    return frozenset[str]().union(*(_READ_BY[name] for name in names)) if names <= _READ_BY.keys() else None


def _order(order: RecordOrder | None) -> tuple[str, SortDirection] | None:
    return None if order is None else (order.column, order.direction)


async def search(
    info: Info, query: str, collection: str | None = None, where: JSON | None = None, limit: int | None = DEFAULT_PAGE
) -> SimpleNamespace:
    found = await record_search.search(
        info.context.db,
        info.context.caller,
        query=query,
        collection=collection,
        where=where,
        limit=or_default(limit, DEFAULT_PAGE),
        read=_read(info),
    )
    return SimpleNamespace(records=found)


async def listed(
    info: Info,
    collection: str,
    where: JSON | None = None,
    since: datetime | None = None,
    order: RecordOrder | None = None,
    limit: int | None = DEFAULT_PAGE,
    offset: int | None = 0,
) -> record_list.RecordPage:
    return await record_list.list_records(
        info.context.db,
        info.context.caller,
        collection=collection,
        where=where,
        since=since,
        order=_order(order),
        limit=or_default(limit, DEFAULT_PAGE),
        offset=or_default(offset, 0),
        read=_read(info),
    )


async def of_collection(
    root: Row,
    info: Info,
    query: str | None = None,
    where: JSON | None = None,
    since: datetime | None = None,
    order: RecordOrder | None = None,
    limit: int | None = DEFAULT_PAGE,
    offset: int | None = 0,
) -> record_list.RecordPage:
    if query is None and where is None and since is None and order is None:
        page: record_list.RecordPage = await info.context.load.records(or_default(limit, DEFAULT_PAGE), or_default(offset, 0)).load(root)
        return page
    # Filters and orders depend on the table's own columns: one statement each, of at most as many tables as there may be.
    return await record_list.for_collection(
        info.context.db,
        info.context.caller,
        root,
        query=query,
        where=where,
        since=since,
        order=_order(order),
        limit=or_default(limit, DEFAULT_PAGE),
        offset=or_default(offset, 0),
        read=_read(info),
    )


async def get(info: Info, collection: str, id: ID) -> Row | None:
    return await records.get(info.context.db, info.context.caller, collection, id)


async def add(info: Info, collection: str, body: JSON, idempotency_key: str | None = None) -> records.RecordAdded:
    return await records.add(info.context.db, info.context.caller, collection, body, idempotency_key=idempotency_key)


async def update(info: Info, collection: str, id: ID, body: JSON, expected_version: int | None = None) -> records.RecordUpdated:
    return await records.update(info.context.db, info.context.caller, collection, id, body, expected_version=expected_version)


async def remove(info: Info, collection: str, id: ID) -> SimpleNamespace:
    return SimpleNamespace(removed=await records.remove(info.context.db, info.context.caller, collection, id))


async def add_many(info: Info, collection: str, bodies: list[JSON], dry_run: bool | None = False) -> Any:
    return await record_batch.add_many(info.context.db, info.context.caller, collection, bodies, dry_run=bool(dry_run))
