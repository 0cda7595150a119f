"""Which column a field of a file belongs to: by its very name, or by that name as a column would be spelled."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from models.columns import RESERVED, ColumnDef
from models.errors import Problem
from models.text import printable

_NAME_CHARACTERS = 64
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER = re.compile(r"[^a-z0-9]+")


def column_name(field: str) -> str:
    """A field's name spelled as a column: `Signed up (at)` and `signedUpAt` are signed_up_at. A reserved name gets `source_` before it."""
    plain = unicodedata.normalize("NFKD", _HUMP.sub("_", field).casefold()).encode("ascii", "ignore").decode()
    name = _OTHER.sub("_", plain).strip("_")
    if not name or not name[0].isalpha():
        name = f"column_{name}".rstrip("_")
    return f"source_{name}" if name in RESERVED else name[:_NAME_CHARACTERS].rstrip("_")


class Fields:
    """Finds the columns of a table for the fields of a file, and keeps what it found."""

    def __init__(self, columns: Sequence[ColumnDef]) -> None:
        self._names = {column.name for column in columns}
        self._known: dict[str, str | None] = {}

    def column(self, field: str) -> str | None:
        """The name that a body has for the field: a column's, the field's own where there is none, None for a fact that the store sets."""
        if field not in self._known:
            self._known[field] = self._find(field)
        return self._known[field]

    def _find(self, field: str) -> str | None:
        if field in self._names:
            return field
        if (spelled := column_name(field)) in self._names:
            return spelled
        # An export with facts can be imported as it is; what is unknown keeps its name for the refusal.
        return None if field.strip().lower() in RESERVED else field

    def faults(self, header: Iterable[str]) -> list[Problem]:
        """What is wrong with the names of a header."""
        problems: list[Problem] = []
        taken: dict[str, str] = {}
        for field in header:
            name = self.column(field)
            if name is None:
                continue
            if name in taken:
                problems.append(Problem(printable(field), f"names the same column as {printable(taken[name])!r}"))
            elif name not in self._names:
                problems.append(Problem(printable(field), f"unknown column; declared columns are {', '.join(sorted(self._names))}"))
            taken[name] = field
        return problems
