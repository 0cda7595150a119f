"""The records of a table as a file, a piece at a time however many there are."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from models import columns as dialect
from models.columns import RESERVED
from models.datetimes import stored
from models.json_text import to_json
from store import record_rows
from store.database import Database, Reader, Row
from store.transfer import cells, csv_text
from store.transfer.source import Format

_LIVE = f"{record_rows.SELECT} AND a.collection_id = $2 ORDER BY a.number"
_FACTS = ("id", "created_at", "updated_at", "created_by", "updated_by")
_ROWS = 200

if set(_FACTS) != RESERVED:
    raise RuntimeError("the facts of an export and the reserved names of columns must be the same")


async def export_lines(reader: Reader, collection: Row, kind: Format, *, facts: bool = False) -> AsyncIterator[bytes]:
    """The live records of a table that the caller was found to read, by id, as of one moment, in pieces of whole lines.

    A line has the declared columns in their order; with `facts` before them id, created_at, updated_at, created_by and updated_by, which
    an import passes over. An import into a table with these columns makes records with equal bodies.
    """
    names = [column.name for column in dialect.load(collection.columns)]
    write: Callable[[dict[str, Any], list[str]], str] = _csv_line if kind is Format.CSV else _json_line
    named = [*(_FACTS if facts else ()), *names]
    if kind is Format.CSV:
        yield csv_text.written(list(named)).encode()
    piece: list[str] = []
    async for row in reader.stream(_LIVE, collection.display_path.split("/", 2)[1], collection.id, batch=_ROWS):
        piece.append(write({**_known(row, facts), **json.loads(row.body)}, named))
        if len(piece) == _ROWS:
            yield "".join(piece).encode()
            piece.clear()
    if piece:
        yield "".join(piece).encode()


async def export_collection(db: Database, collection: Row, kind: Format, *, facts: bool = False) -> AsyncIterator[bytes]:
    """The same, with a connection of its own for as long as the reader takes."""
    async with db.read() as reader:
        async for piece in export_lines(reader, collection, kind, facts=facts):
            yield piece


def _known(row: Row, facts: bool) -> dict[str, Any]:
    if not facts:
        return {}
    times = {"created_at": stored(row.created_at), "updated_at": stored(row.updated_at)}
    return {"id": row.id, **times, "created_by": row.created_by_name, "updated_by": row.updated_by_name}


def _json_line(values: dict[str, Any], names: list[str]) -> str:
    return to_json({name: values[name] for name in names if name in values}) + "\n"


def _csv_line(values: dict[str, Any], names: list[str]) -> str:
    return csv_text.written([cells.cell_of(values.get(name)) for name in names])
