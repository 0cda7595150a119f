"""The same page of many collections at once, for lists of collections that show their records."""

from collections.abc import Mapping, Sequence

from models.caller import Caller
from store import record_list, record_rows
from store.database import Database, Row
from store.record_list import RecordPage

_EACH = f"""SELECT k.id AS listed, k.record_count AS total, {record_rows.COLUMNS}
    FROM artifact_collections k LEFT JOIN LATERAL (
        SELECT a.* FROM artifacts a
        WHERE a.org_id = $1 AND a.collection_id = k.id AND a.kind = 'OBJECT' AND a.deleted_at IS NULL
        ORDER BY a.number LIMIT $3 OFFSET $4
    ) a ON true
    WHERE k.org_id = $1 AND k.id = ANY($2::text[]) AND k.deleted_at IS NULL ORDER BY k.id, a.number"""


async def of_collections(db: Database, caller: Caller, collections: Sequence[Row], limit: int, offset: int) -> Mapping[str, RecordPage]:
    """The page of each collection, all of which the caller was found to read, by id and as record_list.for_collection has it.

    Raises Unprocessable with every problem of the bounds.
    """
    record_list.check_bounds(limit, offset)
    async with db.read() as reader:
        ids = [collection.id for collection in collections]
        rows = await reader.rows(_EACH, caller.org_id, ids, limit, min(offset, record_list.FURTHEST))
    pages = {collection.id: RecordPage(0, []) for collection in collections}
    for row in rows:
        page = pages[row.listed]
        if row.file_id is not None:
            page.records.append(row)
        pages[row.listed] = page if page.total else RecordPage(row.total, page.records)
    return pages
