"""Which column a field of a file belongs to: by its name, by the header that the column keeps, or by its spelling."""

import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence

from models.columns import RESERVED, ColumnDef
from models.errors import Problem
from models.text import printable

_NAME_CHARACTERS = 64
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER = re.compile(r"[^a-z0-9]+")
# What a spelling may drop without confusing two headers.
_DROPPED = re.compile(r"[\s_.,:;/()\[\]'\"?!-]+")
_ASCII_NAME = re.compile(r"[A-Za-z0-9]*")


def column_name(field: str) -> str | None:
    """Return a field's name spelled as a column, `Signed up (at)` and `signedUpAt` as signed_up_at, or None if that cannot be.

    A reserved name gets `source_` before it. Letters other than Latin cannot be spelled, so that a name with them is None.
    """
    plain = unicodedata.normalize("NFKD", _HUMP.sub("_", field).casefold())
    if any(character.isalpha() and not character.isascii() for character in plain):
        return None
    name = _OTHER.sub("_", plain.encode("ascii", "ignore").decode()).strip("_")
    if not name:
        return None
    if not name[0].isalpha():
        name = f"column_{name}"
    return f"source_{name}" if name in RESERVED else name[:_NAME_CHARACTERS].rstrip("_")


def column_names(fields: Iterable[str]) -> dict[str, str]:
    """Return a name for each field of a new collection: spelled or numbered by its place, and with a suffix where two would be the same."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for place, field in enumerate(fields, 1):
        base = column_name(field) or f"column_{place}"
        name, number = base, 1
        while name in taken:
            number += 1
            suffix = f"_{number}"
            name = f"{base[: _NAME_CHARACTERS - len(suffix)]}{suffix}"
        taken.add(name)
        names[field] = name
    return names


def has_facts(fields: Container[str]) -> bool:
    """Return whether these are the fields of an export with facts: all names that no column can have. A file of others may have some."""
    return all(name in fields for name in RESERVED)


def kept_header(field: str) -> str:
    """Return a field's name as a column's description keeps it."""
    return " ".join(printable(field).split())


class Fields:
    """Finds the columns of a collection for the fields of a file, and keeps what it found."""

    def __init__(self, columns: Sequence[ColumnDef], mapped: Mapping[str, str], *, with_facts: bool) -> None:
        self._facts = RESERVED if with_facts else frozenset[str]()
        self._names = {column.name for column in columns}
        self._headers = {kept_header(column.description): column.name for column in columns}
        self._known: dict[str, str | None] = dict(mapped)

    def column(self, field: str) -> str | None:
        """Return the name that a body has for the field: a column's, the field's own if there is none, None for a fact of an export."""
        if field not in self._known:
            self._known[field] = self._find(field)
        return self._known[field]

    def _find(self, field: str) -> str | None:
        if field in self._facts:
            return None
        if field in self._names:
            return field
        if (header := kept_header(field)) in self._headers:
            return self._headers[header]
        # A spelling that loses letters or symbols could be another field's.
        if _ASCII_NAME.fullmatch(_DROPPED.sub("", field)) and (spelled := column_name(field)) in self._names:
            return spelled
        # What is unknown keeps its name for the refusal.
        return None if field.strip().lower() in RESERVED else field

    def faults(self, header: Iterable[str]) -> list[Problem]:
        """Return what is wrong with the names of a header."""
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
