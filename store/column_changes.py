"""Changing the columns of a live table: its records follow in the same transaction."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from models import identity
from models.columns import ColumnDef, unique_column
from models.errors import Conflict, Problem, Unprocessable
from models.json_text import shown
from store import record_rows
from store.database import Row, Writer

_LIVE = """SELECT id, number, content_json, identity, search_blob FROM artifacts
    WHERE org_id = $1 AND collection_id = $2 AND kind = 'OBJECT' AND deleted_at IS NULL ORDER BY number"""
_FORGET = """UPDATE artifacts SET identity = NULL, identity_hash = NULL
    WHERE org_id = $1 AND collection_id = $2 AND id = ANY($3::text[])"""
_REWRITE = """UPDATE artifacts a SET content_json = n.body::jsonb, identity = n.identity, identity_hash = n.digest, search_blob = n.blob,
        search = n.search, search_words = n.search_words
    FROM unnest($3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::tsvector[], $9::text[])
        AS n (id, body, identity, digest, blob, search, search_words)
    WHERE a.org_id = $1 AND a.collection_id = $2 AND a.id = n.id"""
_SHOWN_CONFLICTS = 5


def sources(old: Sequence[ColumnDef], new: Sequence[ColumnDef]) -> dict[str, str]:
    """For each new column that keeps values, the present column that it takes them from. All renames happen at once.

    Raises Unprocessable for a source that is no column, or that two columns claim.
    """
    names = {column.name for column in old}
    taken: dict[str, str] = {}
    claims: defaultdict[str, list[str]] = defaultdict(list)
    problems = []
    for column in new:
        # Each new column looks at the old ones only, which lets two columns change their names with each other.
        source = column.rename_from or column.name
        if source in names:
            taken[column.name] = source
            claims[source].append(column.name)
        elif column.rename_from is not None:
            present = ", ".join(column.name for column in old)
            problems.append(Problem(column.name, f"rename_from {shown(source)} is no column; present columns are {present}"))
    for source, claimants in claims.items():
        if len(claimants) > 1:
            problems += [Problem(name, f"takes its values from {source}, as {_others(claimants, name)} does") for name in claimants]
    if problems:
        raise Unprocessable.listing("columns rejected", problems)
    return taken


async def apply(writer: Writer, org_id: str, collection_id: str, old: tuple[ColumnDef, ...], new: tuple[ColumnDef, ...]) -> None:
    """Bring the live records of a locked table to its new columns: keys moved and dropped, identity and search text made anew.

    Raises Unprocessable as `sources`, Conflict where records repeat a value of a column that is to be unique.
    """
    taken = sources(old, new)
    # New descriptions, required flags and listed values leave every record as it is.
    if _shape(old, {column.name: column.name for column in old}) == _shape(new, taken):
        return
    # The table is locked, so the records that are read here are those that are written below.
    before = await writer.rows(_LIVE, org_id, collection_id)
    after = [(row, _carried(json.loads(row.content_json), taken)) for row in before]
    _require_distinct(new, after)
    rows = [(row, record_rows.forms(new, body)) for row, body in after]
    changed = [(row, stored) for row, stored in rows if (json.loads(stored.body), stored.identity, stored.blob) != _present(row)]
    if not changed:
        return
    ids = [row.id for row, _ in changed]
    # Identities may change places between records, which the unique index would refuse row by row.
    await writer.execute(_FORGET, org_id, collection_id, ids)
    await writer.execute(
        _REWRITE, org_id, collection_id, ids, *(list(part) for part in zip(*(stored for _, stored in changed), strict=True))
    )


def _shape(columns: Sequence[ColumnDef], taken: Mapping[str, str]) -> list[tuple[object, ...]]:
    unique = unique_column(columns)
    kind = unique.type if unique else None
    return [(column.name, taken.get(column.name), column.unique, kind) for column in columns]


def _carried(body: dict[str, Any], taken: Mapping[str, str]) -> dict[str, Any]:
    return {name: body[source] for name, source in taken.items() if source in body}


def _present(row: Row) -> tuple[Any, str | None, str | None]:
    return json.loads(row.content_json), row.identity, row.search_blob


def _require_distinct(columns: Sequence[ColumnDef], records: Sequence[tuple[Row, dict[str, Any]]]) -> None:
    column = unique_column(columns)
    if column is None:
        return
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for row, body in records:
        if (value := identity.identity_of(column, body.get(column.name))) is not None:
            holders[value].append(str(row.number))
    repeated = {value: numbers for value, numbers in holders.items() if len(numbers) > 1}
    if repeated:
        raise _not_unique(column, repeated)


def _not_unique(column: ColumnDef, repeated: Mapping[str, list[str]]) -> Conflict:
    told = [f"{shown(value)} in records {', '.join(numbers[:10])}" for value, numbers in list(repeated.items())[:_SHOWN_CONFLICTS]]
    more = f"; and {len(repeated) - len(told)} more values" if len(repeated) > len(told) else ""
    reason = f"cannot be unique, since live records repeat its values: {'; '.join(told)}{more}"
    return Conflict(f'column "{column.name}" {reason}', problems=[Problem(column.name, reason)])


def _others(claimants: Sequence[str], name: str) -> str:
    return ", ".join(other for other in claimants if other != name)
