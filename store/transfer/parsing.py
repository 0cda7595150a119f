"""The bodies that a file holds for a table."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from models.columns import ColumnDef
from models.errors import Problem
from models.text import printable
from store.transfer import cells
from store.transfer.fields import Fields
from store.transfer.source import Format, RawRow, Source, read


class ParsedRow(NamedTuple):
    """One row of a file: the line that it begins on, and its body, or the problems that keep it from having one."""

    line: int
    body: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def parse(lines: Iterable[bytes], kind: Format, columns: Sequence[ColumnDef]) -> Iterator[ParsedRow]:
    """The rows of a file as bodies for a table with these columns, one at a time.

    The lines come with their endings. Fields match columns by name, or by their name as a column would be spelled; the facts that the
    store itself sets (id, created_at, …) are passed over. A header that does not fit is the only row. Raises Unprocessable for no header.
    """
    source = read(lines, kind)
    fields = Fields(columns)
    if source.header is None:
        yield from (_object(row, fields) for row in source.rows)
        return
    problems = source.header_problems or [*fields.faults(source.header), *_missing(source.header, fields, columns)]
    if problems:
        yield ParsedRow(1, {}, tuple(problems))
        return
    yield from _rows(source, fields, columns)


def _missing(header: Sequence[str], fields: Fields, columns: Sequence[ColumnDef]) -> list[Problem]:
    present = {fields.column(name) for name in header}
    return [Problem(column.name, "required; missing in the header") for column in columns if column.required and column.name not in present]


def _rows(source: Source, fields: Fields, columns: Sequence[ColumnDef]) -> Iterator[ParsedRow]:
    kinds = {column.name: column.type for column in columns}
    taken = [(name, column, kinds[column]) for name in source.header or () if (column := fields.column(name)) is not None]
    for row in source.rows:
        if row.problems:
            yield ParsedRow(*row)
        else:
            present = ((column, kind, row.fields[name]) for name, column, kind in taken)
            yield ParsedRow(row.line, {column: cells.value(kind, cell) for column, kind, cell in present if cell is not None})


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
        body[column] = value
    return ParsedRow(row.line, {} if problems else body, tuple(problems))
