"""CSV: a header, then rows of cells, separated by commas, semicolons, tabs or pipes, with lines that end in any way."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from models.errors import Problem, Unprocessable
from store.transfer import csv_text
from store.transfer.csv_text import Cell, CsvFault, Splitter
from store.transfer.source import ROW_CHARACTERS, TOO_LONG, RawRow, Source, decoded, doubled, refused, too_many

# A line that ends with a carriage return alone, as old Macintosh programs write it.
_RETURN = re.compile(rb"(?<=\r)(?!\n|\Z)")
_SEPARATOR = re.compile(r"sep=(.)\s*\Z", re.IGNORECASE)
_SAMPLED_LINES = 20

Numbered = Iterable[tuple[int, bytes]]


def read_csv(lines: Iterable[bytes]) -> Source:
    """Return the rows of a file that is given line by line. One row at a time is held. Raises Unprocessable for an empty file."""
    numbered = enumerate(_single(lines), 1)
    first = next(((number, raw) for number, raw in numbered if raw.strip(b" \t\r\n\xef\xbb\xbf")), None)
    if first is None:
        raise Unprocessable("the file is empty; a CSV begins with a line that names its columns")
    sample = [first, *islice(numbered, _SAMPLED_LINES)]
    try:
        header = decoded(first[1], first[0])
    except ValueError as error:
        return Source(iter(()), [], [Problem(None, str(error))])
    delimiter = csv_text.delimiter_of([header, *(raw.decode(errors="replace") for _, raw in sample[1:])])
    if said := _SEPARATOR.match(header):
        delimiter = said[1] if said[1] in csv_text.DELIMITERS else delimiter
        sample = sample[1:]
    rows = _cells(chain(sample, numbered), delimiter)
    _, cells, reason = next(rows, (1, [], "names no columns"))
    names = [(cell or "").strip() for cell in cells]
    while names and not names[-1]:  # programs write empty cells behind the last column
        names.pop()
    return Source(_named(rows, names), names, [Problem(None, reason)] if reason else _header_faults(names))


def _single(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if b"\r" in line[:-2]:
            yield from _RETURN.split(line)
        else:
            yield line


def _header_faults(names: list[str]) -> list[Problem]:
    if problem := too_many(len(names)):
        return [problem]
    problems = [Problem(None, f"column {place} has no name") for place, name in enumerate(names, 1) if not name]
    return problems + doubled([name for name in names if name], "occurs twice in the header")


def _cells(lines: Numbered, delimiter: str) -> Iterator[tuple[int, list[Cell], str | None]]:
    """Yield each row's first line, its cells, and what is wrong with it."""
    splitter, begun, size, number = Splitter(delimiter), 0, 0, 0
    for number, raw in lines:
        begun, size = (begun, size) if splitter.within else (number, 0)
        try:
            cells = splitter.feed(decoded(raw, number))
        except CsvFault as fault:
            yield begun, [], str(fault)
            continue
        except ValueError as error:
            yield number, [], str(error)
            return  # whether a quote is open is unknown from here on
        size += len(raw)
        if size > ROW_CHARACTERS:
            yield begun, [], f"{TOO_LONG}; is a closing quote missing?"
            return
        if cells is not None:
            yield begun, cells, None
    if splitter.within:
        yield begun, [], "begins a quoted value that does not end; the closing quote is missing"


def _named(rows: Iterator[tuple[int, list[Cell], str | None]], names: list[str]) -> Iterator[RawRow]:
    for line, cells, reason in rows:
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if reason:
            yield refused(line, reason)
        elif len(names) > 1 and all(cell is None for cell in cells):
            yield RawRow(line, {}, empty=True)
        elif len(cells) != len(names):
            yield refused(line, f"has {len(cells)} values, but the header names {len(names)} columns")
        else:
            yield RawRow(line, dict(zip(names, cells, strict=True)))
