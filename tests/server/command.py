"""The command `muniment`, run in this process against one database."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from server.cli import main
from store.database import Database


class Answer(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Command:
    """Runs the command, and looks at what it did."""

    dsn: str
    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> Answer:
        self.captured.readouterr()
        self.patch.setenv("MUNIMENT_DATABASE_URL", self.dsn)
        self.patch.setattr(sys, "argv", ["muniment", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self.captured.readouterr()
        return Answer(int(ended.value.code or 0), out, err)

    def database(self, work: Callable[[Database], Awaitable[Any]]) -> Any:
        async def within() -> Any:
            db = await Database(self.dsn, size=4).open()
            try:
                return await work(db)
            finally:
                await db.close()

        return asyncio.run(within())
