from collections.abc import Iterable
from typing import Any


class Parameters:
    """The values of a statement that is put together, in the order of their numbers."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.values = list(values)

    def take(self, value: Any) -> int:
        """Take a value; its number."""
        self.values.append(value)
        return len(self.values)

    def add(self, value: Any, kind: str) -> str:
        """Take a value of a PostgreSQL type; how the statement's text names it."""
        return f"${self.take(value)}::{kind}"
