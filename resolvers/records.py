from datetime import datetime
from types import SimpleNamespace
from typing import Any

from strawberry.scalars import JSON

from models.kinds import SortDirection
from models.limits import DEFAULT_PAGE
from resolvers.context import Info
from resolvers.inputs import ID, RecordOrder, or_default
from store import record_batch, record_list, record_search, records
from store.database import Row


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
