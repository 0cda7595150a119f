"""Records of a collection, one at a time.

A write is first tried as one statement against the table as it was read. Where something overtook it, or an add meets a record with
its identity, the table's row is locked and the same is done again under the lock.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import asyncpg

from models import columns as dialect
from models.caller import Caller
from models.columns import ColumnDef, unique_column
from models.errors import Conflict, LimitExceeded, MunimentError, NotFound, Problem, VersionConflict
from models.identity import indexed_fault
from models.json_text import canonical, shown
from models.numbers import version_fault
from models.text import printable
from models.values import checked_body, checked_patch, merged, rejected, warnings
from store import access, idempotency, record_batch, record_plan, record_rows
from store.database import Database, Row, Writer
from store.idempotency import Answer
from store.known_tables import KnownTables
from store.record_rows import Forms

_NUMBER_DIGITS = 18
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class RecordAdded:
    """The record after an add; `merged` is its id where the body went into a live record as a patch, and `note` says so."""

    record: Row
    merged: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class RecordUpdated:
    """The record after an update, and what its other columns hold that the table would not accept now."""

    record: Row
    warnings: list[Problem]


class _Update(NamedTuple):
    """What an update asks for."""

    record_id: str | int
    body: Any
    expected_version: int | None


async def add(db: Database, caller: Caller, collection: str, body: Any, *, idempotency_key: str | None = None) -> RecordAdded:
    """A new record, or the live one with the same unique value after taking the body as a patch.

    Raises Unprocessable with every problem, LimitExceeded, Conflict for a reused key; NotFound and Forbidden as access.for_write.
    """
    # A key is looked up under the lock, so that of two that come at once one answers as the other did.
    if idempotency_key is not None:
        idempotency.check_key(idempotency_key)
        return await _add_locked(db, caller, collection, body, idempotency_key)
    async with db.write_once() as writer:
        record = await _add_once(db.tables, writer, caller, collection, body)
    if record is not None:
        return RecordAdded(record, None, None)
    return await _add_locked(db, caller, collection, body, None)


async def update(
    db: Database, caller: Caller, collection: str, record_id: str | int, body: Any, *, expected_version: int | None = None
) -> RecordUpdated:
    """The record with the columns that the body names changed, null clearing one.

    Raises as `add`, NotFound for an unknown id, Conflict naming the record that has the unique value, VersionConflict.
    """
    request = _Update(record_id, body, expected_version)
    async with db.write_once() as writer:
        row = await access.for_write(writer, caller, collection)
        done = None
        with _overtaken():
            done = await _update(writer, caller, row, request)
    if done is not None:
        return done
    async with db.write() as writer:
        row = await access.locked_for_write(writer, caller, collection)
        return _certain(await _update(writer, caller, row, request))


async def remove(db: Database, caller: Caller, collection: str, record_id: str | int, *, expected_version: int | None = None) -> str:
    """The id of the record that is now gone.

    Raises NotFound and Forbidden as access.for_write, NotFound for an unknown id, VersionConflict.
    """
    async with db.write_once() as writer:
        row = await access.for_write(writer, caller, collection)
        gone = await _remove(writer, caller, row, record_id, expected_version)
    if gone is None:
        async with db.write() as writer:
            row = await access.locked_for_write(writer, caller, collection)
            gone = _certain(await _remove(writer, caller, row, record_id, expected_version))
    return str(gone.id)


async def _remove(writer: Writer, caller: Caller, collection: Row, record_id: str | int, expected: int | None) -> Row | None:
    current = await _present(writer, caller, collection, record_id)
    if expected is not None and expected != current.version:
        raise VersionConflict(current.display_path, expected=expected, current=current.version)
    return await record_rows.remove(writer, caller, collection, current)


async def get(db: Database, caller: Caller, collection: str, record_id: str | int) -> Row | None:
    """The live record, or None where the caller reads no such collection or record."""
    number = _number(record_id)
    async with db.read() as reader:
        row = await access.find(reader, caller, collection)
        return None if row is None or number is None else await record_rows.one(reader, caller.org_id, row.id, number)


async def _add_once(tables: KnownTables, writer: Writer, caller: Caller, collection: str, body: Any) -> Row | None:
    """The new record by one statement; None where the table needs a closer look."""
    known, record = tables.get(caller.org_id, collection), None
    if known is not None:
        try:
            record = await _insert(writer, caller, known, body)
        except MunimentError:
            known = None  # what is wrong is told of the table as it is now
    if record is None:
        row = await access.for_write(writer, caller, collection)
        if known is None or (row.id, row.version) != (known.id, known.version):
            tables.keep(caller.org_id, row)
            record = await _insert(writer, caller, row, body)
    return record


async def _insert(writer: Writer, caller: Caller, table: Row, body: Any) -> Row | None:
    columns = dialect.load(table.columns)
    stored = _fitting(columns, merged({}, _body(columns, body)))
    with _overtaken():
        return await record_rows.insert(writer, caller, table, stored)
    return None


async def _add_locked(db: Database, caller: Caller, collection: str, body: Any, key: str | None) -> RecordAdded:
    async with db.write() as writer:
        row = await access.locked_for_write(writer, caller, collection)
        known = await idempotency.recall(writer, caller, row.id, key, body) if key is not None else None
        if known is None:
            known = await _add(writer, caller, row, body)
            if key is not None:
                await idempotency.keep(writer, caller, key, body, known)
        note = None if known.merged is None else f"merged into existing record {known.merged}"
        return RecordAdded(known.record, known.merged, note)


async def _add(writer: Writer, caller: Caller, collection: Row, body: Any) -> Answer:
    columns = dialect.load(collection.columns)
    _body(columns, body)
    made = await record_plan.plan(writer, caller.org_id, collection.id, columns, [body])
    if made.problems:
        # The body itself was accepted, so it is the size of the record that it makes.
        raise LimitExceeded(made.problems[0].message)
    await record_batch.carry_out(writer, caller, collection, made)
    [record] = await record_batch.written(writer, caller, collection, made)
    return Answer(record, record.id if made.merged else None)


async def _update(writer: Writer, caller: Caller, collection: Row, request: _Update) -> RecordUpdated | None:
    columns = dialect.load(collection.columns)
    current = await _present(writer, caller, collection, request.record_id)
    patch, problems = checked_patch(columns, request.body)
    if reason := version_fault(request.expected_version):
        problems.append(Problem("expectedVersion", reason))
    if problems:
        raise rejected(problems)
    # As exact as it is stored: an integer beyond 2^53 goes through a patch of another column unchanged.
    before = json.loads(current.body)
    after = merged(before, patch)
    found = warnings(columns, after, patch)
    # A client that lost the answer to its write and repeats it finds it done.
    expected = request.expected_version
    if expected is not None and expected != current.version:
        if canonical(after) != canonical(before):
            raise VersionConflict(current.display_path, expected=expected, current=current.version)
        return RecordUpdated(current, found)
    stored = _fitting(columns, after)
    await _require_free(writer, caller, collection, current, stored)
    record = await record_rows.update(writer, caller, collection, current, stored)
    return None if record is None else RecordUpdated(record, found)


async def _present(writer: Writer, caller: Caller, collection: Row, record_id: str | int) -> Row:
    number = _number(record_id)
    found = None if number is None else await record_rows.one(writer, caller.org_id, collection.id, number)
    if found is None:
        raise NotFound(f"unknown record {printable(str(record_id))[:80]} in collection {collection.name}")
    return found


async def _require_free(writer: Writer, caller: Caller, collection: Row, current: Row, stored: Forms) -> None:
    column = unique_column(dialect.load(collection.columns))
    # A record without the value, or with a blank one, stands in nobody's way.
    if column is None or stored.digest is None:
        return
    holder = await record_rows.holder(writer, caller.org_id, collection.id, stored.digest)
    if holder is not None and holder.id != current.id:
        value = shown(json.loads(stored.body)[column.name])
        reason = f"record {holder.id} has the value {value} already, and it is unique"
        raise Conflict(f'column "{column.name}": {reason}', problems=[Problem(column.name, reason)])


def _body(columns: tuple[ColumnDef, ...], body: Any) -> Mapping[str, Any]:
    values, problems = checked_body(columns, body)
    if problems:
        raise rejected(problems)
    return values


def _fitting(columns: tuple[ColumnDef, ...], body: dict[str, Any]) -> Forms:
    stored = record_rows.forms(columns, body)
    if reason := indexed_fault(stored.blob):
        raise LimitExceeded(reason)
    return stored


def _number(record_id: str | int) -> int | None:
    """The number that an id means, or None where it can be no record's: digits without a leading zero."""
    text = str(record_id)
    known = text.isascii() and text.isdigit() and not text.startswith("0") and len(text) <= _NUMBER_DIGITS
    return int(text) if known else None


@contextlib.contextmanager
def _overtaken() -> Iterator[None]:
    """Let pass that another write took the identity first: the statement did nothing, and is tried again under the lock."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != "artifacts_live_identity":
            raise


def _certain(done: Done | None) -> Done:
    if done is None:
        raise RuntimeError("a write was overtaken under the lock of its table")
    return done
