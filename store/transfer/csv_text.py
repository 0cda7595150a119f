"""CSV as PostgreSQL's COPY reads and writes it: a cell that is empty without quotes is missing, a quoted empty one is an empty text."""

import re
from collections import Counter
from typing import TypeAlias

Cell: TypeAlias = str | None

_DELIMITERS = (",", ";", "\t")
_INSIDE = re.compile(r'(?:[^"]+|"")*+')
_PLAIN = {delimiter: re.compile(f"[^{delimiter}]*+") for delimiter in _DELIMITERS}
_NEEDS_QUOTES = re.compile(r'[",;\t\r\n]|^\s|\s$|^\ufeff')


class CsvFault(Exception):
    """The text is no CSV; the message says where."""


def delimiter_of(header: str) -> str:
    """What separates the cells of a file with this first line: the comma unless semicolons or tabs stand there more often."""
    # Separators within quotes are part of a name.
    counted = Counter(re.sub(r'"(?:[^"]|"")*"', "", header))
    return max(_DELIMITERS, key=lambda delimiter: counted[delimiter])


class Splitter:
    """Takes lines, each with its line ending, and gives the cells of a row once the row is complete."""

    def __init__(self, delimiter: str) -> None:
        self._plain = _PLAIN[delimiter]
        self._cells: list[Cell] = []
        self._open: list[str] | None = None

    @property
    def within(self) -> bool:
        """Whether a quoted value is still open."""
        return self._open is not None

    def feed(self, line: str) -> list[Cell] | None:
        """The row that ends with this line, or None where a quoted value goes on in the next. Raises CsvFault, after which a row begins."""
        end = len(line.removesuffix("\n").removesuffix("\r"))
        position = 0
        while True:
            if self._open is None and not line.startswith('"', position):
                found = self._plain.match(line, position, end)
                self._cells.append(found[0] or None if found else None)
                position = found.end() if found else end
            elif (position := self._quoted(line, position, end)) < 0:
                return None
            if position >= end:
                cells, self._cells = self._cells, []
                return cells
            position += 1

    def _quoted(self, line: str, position: int, end: int) -> int:
        """Where the quoted cell ends, -1 where that is not within this line."""
        if self._open is None:
            self._open = []
            position += 1
        inside = _INSIDE.match(line, position)
        if inside is not None:
            self._open.append(inside[0])
            position = inside.end()
        if position >= len(line):
            return -1
        self._cells.append("".join(self._open).replace('""', '"'))
        self._open = None
        position += 1
        rest = self._plain.match(line, position, end)
        if position < end and rest is not None and rest[0]:
            self._cells = []
            raise CsvFault(f"text follows the closing quote of value {len(self._cells) + 1}; a quote within quotes is written twice")
        return position


def written(cells: list[Cell]) -> str:
    """A row, with its line ending."""
    return ",".join(_cell(cell) for cell in cells) + "\n"


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not cell or _NEEDS_QUOTES.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell
