"""The records of a table as a file, a piece at a time however many there are."""

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from models import columns as dialect
from models.columns import RESERVED
from models.datetimes import stored
from models.errors import Conflict
from models.json_text import to_json
from store import record_rows
from store.database import Database, Reader, Row
from store.transfer import cells, csv_text
from store.transfer.source import Format

_LIVE = f"{record_rows.SELECT} AND a.collection_id = $2"
_ALL = f"{_LIVE} ORDER BY a.number"
_NEXT = f"{_LIVE} AND a.number > $3 ORDER BY a.number LIMIT $4"
_COLUMNS = "SELECT columns FROM artifact_collections WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_FACTS = ("id", "created_at", "updated_at", "created_by", "updated_by")
_ROWS = 200

if set(_FACTS) != RESERVED:
    raise RuntimeError("the facts of an export and the reserved names of columns must be the same")


class ExportInterrupted(Conflict):
    """A table was deleted, or its columns changed, while its records were being written out: what was written is no whole export."""


async def export_lines(
    reader: Reader, collection: Row, kind: Format, *, facts: bool = False, for_spreadsheet: bool = False
) -> AsyncIterator[bytes]:
    """Yield the live records of a collection that the caller was found to read, by id, as of one moment, in pieces of whole lines.

    A line has the declared columns in their order; with `facts` before them id, created_at, updated_at, created_by and updated_by,
    which an import passes over. An import into a collection with these columns makes records with equal bodies, unless the file is
    `for_spreadsheet`: then texts that a spreadsheet would run begin with an apostrophe.
    """
    lines = _Lines(collection, kind, facts=facts, for_spreadsheet=for_spreadsheet)
    if lines.header:
        yield lines.header
    piece: list[Row] = []
    async for row in reader.stream(_ALL, lines.org_id, collection.id, batch=_ROWS):
        piece.append(row)
        if len(piece) == _ROWS:
            yield lines.of(piece)
            piece = []
    if piece:
        yield lines.of(piece)


async def export_collection(
    db: Database, collection: Row, kind: Format, *, facts: bool = False, for_spreadsheet: bool = False
) -> AsyncIterator[bytes]:
    """The same lines for a reader of any speed: a connection is held only while a piece is read, not while it is sent.

    A record that lives throughout is there once, as it is when its piece is read. Raises ExportInterrupted, midway, for a table that is
    deleted or whose columns change meanwhile.
    """
    lines = _Lines(collection, kind, facts=facts, for_spreadsheet=for_spreadsheet)
    if lines.header:
        yield lines.header
    last = 0
    while rows := await _next(db, lines.org_id, collection, last):
        last = int(rows[-1].id)
        yield lines.of(rows)


async def _next(db: Database, org_id: str, collection: Row, after: int) -> list[Row]:
    async with db.snapshot() as reader:
        # Lines under the columns of before and of after a change would look like one whole file and be none.
        if await reader.value(_COLUMNS, org_id, collection.id) != collection.columns:
            raise ExportInterrupted(f"collection {collection.name} was changed or deleted during its export; export it again")
        return await reader.rows(_NEXT, org_id, collection.id, after, _ROWS)


class _Lines:
    """How the rows of one export are written."""

    def __init__(self, collection: Row, kind: Format, *, facts: bool, for_spreadsheet: bool = False) -> None:
        self.org_id: str = collection.display_path.split("/", 2)[1]
        self._facts = facts
        self._names = [*(_FACTS if facts else ()), *(column.name for column in dialect.load(collection.columns))]
        self._write: Callable[[dict[str, Any], list[str]], str] = (
            partial(_csv_line, for_spreadsheet=for_spreadsheet) if kind is Format.CSV else _json_line
        )
        self.header = csv_text.written(list(self._names)).encode() if kind is Format.CSV else b""

    def of(self, rows: list[Row]) -> bytes:
        """The rows' lines."""
        return "".join(self._write({**_known(row, self._facts), **json.loads(row.body)}, self._names) for row in rows).encode()


def _known(row: Row, facts: bool) -> dict[str, Any]:
    if not facts:
        return {}
    times = {"created_at": stored(row.created_at), "updated_at": stored(row.updated_at)}
    return {"id": row.id, **times, "created_by": row.created_by_name, "updated_by": row.updated_by_name}


def _json_line(values: dict[str, Any], names: list[str]) -> str:
    return to_json({name: values[name] for name in names if name in values}) + "\n"


def _csv_line(values: dict[str, Any], names: list[str], *, for_spreadsheet: bool) -> str:
    return csv_text.written([cells.cell_of(values.get(name)) for name in names], for_spreadsheet=for_spreadsheet)
