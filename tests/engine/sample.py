"""A small schema whose resolvers return whatever rows the context holds."""
# ruff: noqa: ARG002, A002 - the arguments are there to be sent and counted, not to be obeyed

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from types import SimpleNamespace
from typing import Any

import asyncpg
import strawberry
from strawberry.scalars import JSON

from engine import EngineSchema, column, embedded, raw_json


class Row(asyncpg.Record):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@strawberry.enum
class Kind(Enum):
    USER = "user"
    AGENT = "agent"


@strawberry.type
class Actor:
    kind: Kind
    id: strawberry.ID | None
    name: str

    @column
    def label(self) -> str:
        return f"{self.kind}:{self.name}"


@strawberry.type
class Run:
    id: strawberry.ID
    status: str
    by: Actor = embedded("by_")


@strawberry.type
class Part:
    name: str
    size: int | None


@strawberry.type
class Change:
    at: datetime
    operation: str


@strawberry.type
class Note:
    id: strawberry.ID
    key: str
    version: int
    score: float | None
    done: bool | None
    at: datetime
    seen: datetime | None
    kind: Kind | None
    tags: list[str] | None
    body: JSON = raw_json()
    extra: JSON | None = raw_json("extra_text")
    updated_by: Actor = embedded("updated_by_")
    run: Run | None = embedded("run_", absent="run_id")
    parts: list[Part]
    first: Part | None

    @column
    def values(self) -> list[str]:
        return self.tags or []

    @column(description="The key twice.")
    def twice(self) -> str:
        return self.key * 2

    @strawberry.field
    async def change(self, info: strawberry.Info) -> Change:
        return await info.context.change(self)

    @strawberry.field
    def slow(self, suffix: str = "!") -> str | None:
        return self.key + suffix


@strawberry.type
class Page:
    total: int
    notes: list[Note]


@dataclass
class Context:
    rows: Any
    closed: list[str] = field(default_factory=list)
    events: Callable[[], AsyncGenerator[Any, None]] | None = None

    async def change(self, row: Any) -> Any:
        if row.version == 13:
            raise RuntimeError("unlucky")
        return SimpleNamespace(at=row.at, operation="UPDATE")


@strawberry.type
class Query:
    @strawberry.field
    async def notes(self, info: strawberry.Info, limit: int = 20) -> list[Note]:
        return info.context.rows

    @strawberry.field
    async def maybe(self, info: strawberry.Info) -> list[Note | None] | None:
        return info.context.rows

    @strawberry.field
    async def page(self, info: strawberry.Info, limit: int = 20, since: datetime | None = None) -> Page:
        return SimpleNamespace(total=len(info.context.rows), notes=info.context.rows)

    @strawberry.field
    async def note(self, info: strawberry.Info, id: strawberry.ID = "1") -> Note | None:
        return info.context.rows[0] if info.context.rows else None

    @strawberry.field
    def fail(self, info: strawberry.Info) -> str:
        raise info.context.rows

    @strawberry.field
    def echo(self, value: JSON) -> JSON:
        return value


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def touch(self, info: strawberry.Info) -> Note:
        info.context.closed.append("touched")
        return info.context.rows[0]


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def changed(self, info: strawberry.Info) -> AsyncGenerator[Note, None]:
        async with _noted(info.context):
            async for row in info.context.events():
                yield row


@asynccontextmanager
async def _noted(context: Context) -> Any:
    try:
        yield
    finally:
        context.closed.append("closed")


def build(**options: Any) -> EngineSchema:
    numbers: Iterator[int] = count(1)
    options.setdefault("new_id", lambda: f"e{next(numbers)}")
    return EngineSchema(Query, Mutation, Subscription, **options)


def row(**values: Any) -> SimpleNamespace:
    return SimpleNamespace(**{**PLAIN, **values})


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
PLAIN: dict[str, Any] = {
    "id": "1",
    "key": "a.md",
    "version": 3,
    "score": 1.5,
    "done": True,
    "at": NOON,
    "seen": None,
    "kind": "user",
    "tags": ["x", "y"],
    "body": '{"n": 9007199254740993}',
    "extra_text": None,
    "updated_by_kind": "agent",
    "updated_by_id": "7",
    "updated_by_name": "Ada",
    "run_id": None,
    "run_status": "running",
    "run_by_kind": "user",
    "run_by_id": None,
    "run_by_name": "Bob",
    "parts": [SimpleNamespace(name="p", size=1), SimpleNamespace(name="q", size=None)],
    "first": None,
}
