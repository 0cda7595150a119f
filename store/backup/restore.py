"""An organisation's rows into a database that does not have it, in one transaction."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg

from models.cursor import START, Cursor
from models.errors import Conflict, Unprocessable
from store import search_index
from store.backup.dump import TABLES, columns_of
from store.database import Database, Writer
from store.feed import retention

_ROWS = 500
_BYTES = 4 * 1024 * 1024
_KNOWN = "SELECT name FROM organisations WHERE org_id = $1"
_HORIZON = "INSERT INTO feed_horizons (org_id, xid, id, rebased) VALUES ($1, $2, $3, true)"
_BEYOND = """SELECT setval(pg_get_serial_sequence('file_changes', 'id'),
    greatest((SELECT max(id) FROM file_changes WHERE org_id = $1), nextval(pg_get_serial_sequence('file_changes', 'id'))))"""


@dataclass(frozen=True, slots=True)
class Part:
    """One table's rows as `dump` wrote them: the columns that they have, and their lines, which can be gone through more than once."""

    columns: list[str]
    lines: Iterable[bytes]


async def restore(db: Database, org_id: str, parts: Mapping[str, Part], *, progress: Callable[[int], None] = lambda _rows: None) -> None:
    """Bring the organisation in; `progress` is told of rows as they are written.

    Changes keep their ids and their order, and stand in the feed as of now; cursors that were given out before go on to work.
    Raises Conflict where the organisation is here already, Unprocessable for rows that do not fit; nothing is written then.
    """
    steps = sum(1 for _ in _falls(parts["file_changes"].lines))
    # Positions are ids of transactions, which must lie below those to come.
    await retention.spend(db, steps + 3)
    try:
        async with db.write() as writer:
            await _require_new(writer, org_id)
            for table in TABLES:
                await _columns_known(writer, table, parts[table])
            for table, part in parts.items():
                if table not in {"file_changes", "feed_horizons"}:
                    await _insert(writer, org_id, table, part.columns, part.lines, progress)
            await search_index.rebuild(writer, org_id)
            await _changes(writer, org_id, parts, steps, progress)
            writer.touched.add(org_id)
    except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError) as error:
        raise Unprocessable(f"the rows do not fit together: {error}") from error


async def _require_new(writer: Writer, org_id: str) -> None:
    # Two imports of one folder at once: the second waits, then finds the organisation there.
    await writer.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", org_id)
    if (name := await writer.value(_KNOWN, org_id)) is not None:
        raise Conflict(f'organisation {org_id} ("{name}") is in this database already; a whole organisation is only brought in anew')


async def _columns_known(writer: Writer, table: str, part: Part) -> None:
    # Fewer columns than here are an older version's export: the others get their defaults.
    unknown = set(part.columns) - set(await columns_of(writer, table))
    if unknown:
        raise Unprocessable(f"{table} has columns that this version does not know: {', '.join(sorted(unknown))}; use a newer version")


async def _insert(
    writer: Writer, org_id: str, table: str, columns: list[str], lines: Iterable[bytes], progress: Callable[[int], None]
) -> None:
    named = ", ".join(f'"{name}"' for name in columns)
    # Only rows of this organisation are let in, whatever the lines say.
    statement = f"INSERT INTO {table} ({named}) SELECT {named} FROM json_populate_recordset(NULL::{table}, $2::json) WHERE org_id = $1"
    for piece in _pieces(lines):
        written = await writer.execute(statement, org_id, "[" + ",".join(piece) + "]")
        if written != len(piece):
            raise Unprocessable(f"{table} holds rows of another organisation than {org_id}")
        progress(written)


def _pieces(lines: Iterable[bytes]) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for line in lines:
        piece.append(line.decode())
        size += len(line)
        if len(piece) == _ROWS or size > _BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


async def _changes(writer: Writer, org_id: str, parts: Mapping[str, Part], steps: int, progress: Callable[[int], None]) -> None:
    part = parts["file_changes"]
    old = next((json.loads(line) for line in parts["feed_horizons"].lines), None)
    renumbered = _Renumbered(part.lines, await writer.value("SELECT pg_current_xact_id()") - steps, _position(old) if old else None)
    await _insert(writer, org_id, "file_changes", part.columns, renumbered, progress)
    # A position that no change is left at still says whether changes were pruned.
    place = renumbered.horizon or Cursor(0, 1 if old else 0)
    await writer.execute(_HORIZON, org_id, place.xid, place.id)
    await writer.value(_BEYOND, org_id)


class _Renumbered:
    """The changes' lines with transaction ids of this database: within one of these the changes' own ids give the order."""

    def __init__(self, lines: Iterable[bytes], first: int, horizon: Cursor | None) -> None:
        self._lines = lines
        self._xid = first
        self._old_horizon = horizon
        self.horizon: Cursor | None = None

    def __iter__(self) -> Iterator[bytes]:
        last = START
        for line in self._lines:
            change = json.loads(line)
            position = _position(change)
            self._xid += position.id < last.id
            last = position
            if self._old_horizon is not None and position <= self._old_horizon:
                self.horizon = Cursor(self._xid, position.id)
            yield json.dumps({**change, "xid": str(self._xid)}, ensure_ascii=False).encode()


def _falls(lines: Iterable[bytes]) -> Iterator[int]:
    """Where, in the feed's order, a change has a lower id than the one before it."""
    last = 0
    for line in lines:
        change_id = _position(json.loads(line)).id
        if change_id < last:
            yield change_id
        last = change_id


def _position(row: Mapping[str, Any]) -> Cursor:
    return Cursor(int(row["xid"]), int(row["id"]))
