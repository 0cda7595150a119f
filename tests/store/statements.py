"""How many statements an operation sends to the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from store.database import Reader
from store.sql import Statement


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are read with while the block runs, in order."""
    sent: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("rows", "row", "value"):
            original = getattr(Reader, name)

            async def noting(self: Reader, statement: Statement | str, *arguments: Any, original: Any = original, **named: Any) -> Any:
                sent.append(statement if isinstance(statement, str) else statement.text)
                return await original(self, statement, *arguments, **named)

            patch.setattr(Reader, name, noting)
        yield sent
