"""Tables as they were last read, so that a record can be added, and a page listed, by one statement.

Nothing may be answered from here: a statement that uses a row must itself demand that the table's id and version are still the row's,
and that the caller has the right. Where it finds nothing, the table is read anew.
"""

from collections import OrderedDict
from typing import Any

_KEPT = 1_000


class KnownTables:
    """The tables last read, by organisation and name; the least recently used leave first."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def get(self, org_id: str, name: str) -> Any:
        """The table's row as it was, or None."""
        if (row := self._rows.get((org_id, name))) is not None:
            self._rows.move_to_end((org_id, name))
        return row

    def keep(self, org_id: str, row: Any) -> None:
        """Keep a table's row in place of the one before."""
        self._rows[org_id, row.name] = row
        self._rows.move_to_end((org_id, row.name))
        if len(self._rows) > _KEPT:
            self._rows.popitem(last=False)
