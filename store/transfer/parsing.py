"""The bodies that a file holds for a collection."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from models.columns import ColumnDef, unique_column
from models.errors import LimitExceeded, Problem
from models.limits import RECORDS_PER_COLLECTION
from models.text import printable
from store.database import Row
from store.transfer import cells
from store.transfer.csv_source import read_csv
from store.transfer.fields import Fields, has_facts
from store.transfer.json_source import read_json
from store.transfer.source import Format, RawRow, Source


class ParsedRow(NamedTuple):
    """One row of a file: the line that it begins on, and its body, or the problems that keep it from having one; or it is empty."""

    line: int
    body: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read: `mapped` has columns by field, `missing` the texts that stand for no value beside those that always do."""

    mapped: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()


PLAIN = Reading()


def read(lines: Iterable[bytes], kind: Format) -> Source:
    """Return the rows of a file that is given line by line, each with its ending. Raises Unprocessable for a CSV without a header."""
    return read_csv(lines) if kind is Format.CSV else read_json(lines)


def count_rows(lines: Iterable[bytes], kind: Format) -> int:
    """Return how many rows a file has. Raises as `read`."""
    return sum(not row.empty for row in read(lines, kind).rows)


def require_room(table: Row, columns: Sequence[ColumnDef], file: IO[bytes], kind: Format) -> None:
    """Raise LimitExceeded, before any work is done, if the rows of a file are more than the collection has room for.

    With a unique column rows can become one record, so that only the import itself can tell.
    """
    if unique_column(columns) is not None:
        return
    file.seek(0)
    rows = count_rows(file, kind)
    file.seek(0)
    if table.record_count + rows > RECORDS_PER_COLLECTION:
        raise LimitExceeded(
            f"the file has {rows:,} rows, and collection {table.name} has {table.record_count:,} records; "
            f"a collection holds at most {RECORDS_PER_COLLECTION:,}"
        )


def parse(lines: Iterable[bytes], kind: Format, columns: Sequence[ColumnDef], reading: Reading = PLAIN) -> Iterator[ParsedRow]:
    """Yield the rows of a file as bodies for a collection with these columns, one at a time.

    The lines come with their endings. A header that does not fit is the only row. Raises Unprocessable for no header.
    """
    source = read(lines, kind)
    if source.header is None:
        plain, exported = (Fields(columns, reading.mapped, with_facts=with_facts) for with_facts in (False, True))
        yield from (_object(row, exported if has_facts(row.fields) else plain) for row in source.rows)
        return
    fields = Fields(columns, reading.mapped, with_facts=has_facts(source.header))
    problems = source.header_problems or [*fields.faults(source.header), *_missing(source.header, fields, columns)]
    if problems:
        yield ParsedRow(1, {}, tuple(problems))
        return
    yield from _rows(source, fields, columns, reading.missing)


def _missing(header: Sequence[str], fields: Fields, columns: Sequence[ColumnDef]) -> list[Problem]:
    present = {fields.column(name) for name in header}
    return [Problem(column.name, "required; missing in the header") for column in columns if column.required and column.name not in present]


def _rows(source: Source, fields: Fields, columns: Sequence[ColumnDef], missing: frozenset[str]) -> Iterator[ParsedRow]:
    kinds = {column.name: column.type for column in columns}
    taken = [(name, column, kinds[column]) for name in source.header or () if (column := fields.column(name)) is not None]
    for row in source.rows:
        if row.problems or row.empty:
            yield ParsedRow(*row)
        else:
            present = ((column, kind, row.fields[name]) for name, column, kind in taken)
            kept = {column: cells.value(kind, cell) for column, kind, cell in present if not cells.is_missing(kind, cell, missing)}
            yield ParsedRow(row.line, kept)


def _object(row: RawRow, fields: Fields) -> ParsedRow:
    body: dict[str, Any] = {}
    problems = list(row.problems)
    for name, value in row.fields.items():
        column = fields.column(name)
        if column is None:
            continue
        if column in body:
            # Which of the two was meant cannot be known.
            problems.append(Problem(printable(name), f"names the column {column}, which another field of the object names too"))
        if isinstance(value, dict):
            problems.append(Problem(printable(name), "holds an object, and no column does; give its values fields of their own"))
        body[column] = value
    return ParsedRow(row.line, {} if problems else body, tuple(problems))
