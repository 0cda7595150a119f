from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def grouped(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return the rows by a key, in their order. Keys without rows are left out."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
