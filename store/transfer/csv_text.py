"""CSV as PostgreSQL's COPY reads and writes it: a cell that is empty without quotes is missing, a quoted empty one is an empty text."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

Cell: TypeAlias = str | None

DELIMITERS = (",", ";", "\t", "|")
_INSIDE = re.compile(r'(?:[^"]+|"")*+')
_PLAIN = {delimiter: re.compile(f"[^{re.escape(delimiter)}]*+") for delimiter in DELIMITERS}
_NEEDS_QUOTES = re.compile(r'[",;\t|\r\n]|^\s|\s$|^\ufeff')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# What spreadsheets take for a formula: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class CsvFault(Exception):
    """The text is no CSV; the message says where."""


def delimiter_of(lines: Sequence[str]) -> str:
    """Return what separates the cells of a file with these first lines: what occurs in the header, and as often in the most other lines."""
    # Separators within quotes are part of a name or a value.
    header, *others = [Counter(_QUOTED.sub("", line)) for line in lines]
    return max(DELIMITERS, key=lambda mark: (header[mark] > 0, sum(line[mark] == header[mark] for line in others), header[mark]))


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
            place, self._cells = len(self._cells), []
            raise CsvFault(f"text follows the closing quote of value {place}; a quote within quotes is written twice")
        return position


def written(cells: list[Cell], *, for_spreadsheet: bool = False) -> str:
    """Return a row, with its line ending. `for_spreadsheet` puts an apostrophe before a text that a spreadsheet would run."""
    if for_spreadsheet:
        cells = [f"'{cell}" if cell and cell.startswith(_FORMULA) and not _is_number(cell) else cell for cell in cells]
    return ",".join(_cell(cell) for cell in cells) + "\n"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not cell or _NEEDS_QUOTES.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell
