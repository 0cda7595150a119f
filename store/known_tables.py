"""Tables as they were last read, so that a record can be added, and a page listed, by one statement.

Nothing may be answered from here: a statement that uses a row must itself demand that the table's id and version are still the row's,
and that the caller has the right. Where it finds nothing, the table is read anew.
"""

from collections import OrderedDict
from typing import Any

_MOST_BYTES = 16 * 1024 * 1024
# Of a row and its key without the column definitions, whose text alone can be long.
_ROW_BYTES = 4_000


class KnownTables:
    """The tables last read, by organisation and name."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._bytes = 0

    def get(self, org_id: str, name: str) -> Any:
        """The table's row as it was, or None."""
        if (row := self._rows.get((org_id, name))) is not None:
            self._rows.move_to_end((org_id, name))
        return row

    def keep(self, org_id: str, row: Any) -> None:
        """Keep a table's row in place of the one before; the least recently used leave once all weigh too much."""
        if (before := self._rows.pop((org_id, row.name), None)) is not None:
            self._bytes -= _weight(before)
        self._rows[org_id, row.name] = row
        self._bytes += _weight(row)
        while self._bytes > _MOST_BYTES:
            self._bytes -= _weight(self._rows.popitem(last=False)[1])


def _weight(row: Any) -> int:
    return _ROW_BYTES + 2 * len(row.columns)
