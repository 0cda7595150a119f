"""What a narrowed list that found nothing says of itself, so that its reader neither repeats it nor asks for more of it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from models.columns import ColumnDef, unique_column
from models.datetimes import stored
from models.json_text import to_json
from models.kinds import ColumnType
from store.database import Reader, Row

_NEWEST = """SELECT max(updated_at) FROM artifacts
    WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL"""

_MATCHING = """How where matches: text by substring and, when the term has no digit, by similar spelling; text with values exactly; \
number and datetime exactly; boolean and id exactly; array by an item's substring and, when the term has no digit, its similar spelling; \
array with values by an exact item; null by a missing value. Operators ask exactly: {"eq": v}, {"ne": v}, {"in": [v, …]}, \
{"missing": true} on every column; {"contains": v}, {"startsWith": v} on text and array items; {"gt": v}, {"gte": v}, {"lt": v}, \
{"lte": v} on numbers and datetimes. record_search matches words in the values."""


async def explain(reader: Reader, org_id: str, collection: Row, columns: Sequence[ColumnDef], asked: dict[str, Any]) -> str:
    """The hint for a list of the collection's records that was narrowed by `asked` (where, since, query) and matched nothing."""
    newest = await reader.value(_NEWEST, org_id, collection.id)
    return "\n".join(
        [
            f"No record matches {' and '.join(f'{name} {_shown(value)}' for name, value in asked.items())}.",
            _holding(collection, newest),
            f"Columns: {'; '.join(_described(column) for column in columns)}.",
            "A larger limit does not change this answer: the total counts every match.",
            _advice(columns) if "since" in asked else _MATCHING,
        ]
    )


def _shown(value: Any) -> str:
    return stored(value) if isinstance(value, datetime) else to_json(value)


def _holding(collection: Row, newest: datetime | None) -> str:
    if newest is None:
        return f"The collection {collection.name} holds no records."
    many = "1 record" if collection.record_count == 1 else f"{collection.record_count} records"
    return f"The collection {collection.name} holds {many}; the newest change was at {stored(newest.astimezone(UTC))}."


def _described(column: ColumnDef) -> str:
    flags = [flag for flag, is_set in (("required", column.required), ("unique", column.unique)) if is_set]
    allowed = [] if column.values is None else [f"one of {', '.join(column.values)}"]
    if column.type is ColumnType.ARRAY and column.values is not None:
        allowed = [f"items of {', '.join(column.values)}"]
    return f"{column.name} ({', '.join([column.type.lower(), *flags, *allowed])})"


def _advice(columns: Sequence[ColumnDef]) -> str:
    unique = unique_column(columns)
    where = "" if unique is None else f'where {{"{unique.name}": {{"eq": v}}}} on the unique column {unique.name}, or '
    return f"since keeps what was created or updated at or after that time; to check whether a record exists use {where}record_search."
