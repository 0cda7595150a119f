"""How much the engine saves, as ratios within one run of about half a minute: python -m benchmarks.engine.

Each pair is measured in interleaved rounds on one core and compared by its medians, so that a busy machine disturbs both alike.
Rows are plain objects: no database takes part.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import Enum
from types import SimpleNamespace
from typing import Any

import strawberry
from strawberry.scalars import JSON
from strawberry.schema.config import StrawberryConfig

from engine import EngineSchema, dumps, embedded, raw_json, run, scalar_map

ROUNDS = 15
SECONDS_A_ROUND = 0.1


@strawberry.enum
class Kind(Enum):
    """Who writes."""

    USER = "user"
    AGENT = "agent"


@strawberry.type
class Actor:
    """Three columns of the record's own row."""

    kind: Kind
    id: strawberry.ID | None
    name: str


@strawberry.type
class Record:
    """What a page lists."""

    id: strawberry.ID
    collection: str
    display_path: str
    version: int
    created_at: datetime
    updated_at: datetime
    body: JSON = raw_json()
    created_by: Actor = embedded("created_by_")
    updated_by: Actor = embedded("updated_by_")


@strawberry.type
class Query:
    """A list and a single record."""

    @strawberry.field
    async def records(self, info: strawberry.Info, limit: int = 20) -> list[Record]:
        """Return the first rows."""
        return info.context[:limit]

    @strawberry.field
    async def record(self, info: strawberry.Info) -> Record:
        """Return one row."""
        return info.context[0]


FIELDS = """id collection displayPath version createdAt updatedAt body
    createdBy { kind id name } updatedBy { kind id name }"""
PAGE = f"query Page {{ records(limit: 100) {{ {FIELDS} }} }}"
ONE = f"query One {{ record {{ {FIELDS} }} }}"


def record(number: int) -> SimpleNamespace:
    """Return a row as a statement would select it."""
    actor = {"kind": "agent", "id": str(number), "name": f"Agent {number}"}
    columns = {f"{role}_by_{key}": value for role in ("created", "updated") for key, value in actor.items()}
    return SimpleNamespace(
        id=str(number),
        collection="leads",
        display_path=f"collections/leads/{number}",
        version=3,
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
        updated_at=datetime(2026, 11, 30, 1, tzinfo=UTC),
        body=json.dumps({"name": f"Lead {number}", "score": number, "notes": "x" * 80}),
        **columns,
    )


async def cost(call: Callable[[], Awaitable[Any]]) -> float:
    """Return the CPU seconds of one call, over a round."""
    calls = 0
    start = time.process_time()
    while time.process_time() - start < SECONDS_A_ROUND:
        await call()
        calls += 1
    return (time.process_time() - start) / calls


async def compare(title: str, quick: Callable[[], Awaitable[Any]], slow: Callable[[], Awaitable[Any]]) -> None:
    """Print what both cost and how often the quick one fits into the slow one."""
    await quick()
    await slow()
    pairs = [(await cost(quick), await cost(slow)) for _ in range(ROUNDS)]
    fast, ordinary = (statistics.median(values) for values in zip(*pairs, strict=True))
    print(f"{title:<58} {fast * 1e6:8.0f} µs {ordinary * 1e6:8.0f} µs   {ordinary / fast:6.1f} times")


async def main() -> None:
    """Measure the pairs."""
    rows = [record(number) for number in range(100)]
    compiled = EngineSchema(Query)
    ordinary = EngineSchema(Query, compiled=False)
    stock = strawberry.Schema(Query, config=StrawberryConfig(scalar_map=scalar_map()))

    def short(schema: EngineSchema, text: str) -> Callable[[], Awaitable[Any]]:
        return lambda: run(schema.engine, text, context=rows)

    async def as_stock(text: str) -> bytes:
        result = await stock.execute(text, context_value=rows)
        return dumps({"data": result.data})

    if (
        not await as_stock(PAGE)
        == (await run(compiled.engine, PAGE, context=rows)).body
        == (await run(ordinary.engine, PAGE, context=rows)).body
    ):
        raise SystemExit("the ways differ in their answers")
    print(f"{'CPU of one request':<58} {'quick':>11} {'slow':>11}")
    for name, text in (("100 records", PAGE), ("one record", ONE)):
        await compare(f"{name}: compiled, against field by field", short(compiled, text), short(ordinary, text))
        await compare(f"{name}: kept document and compiled, against stock", short(compiled, text), lambda text=text: as_stock(text))
        await compare(f"{name}: kept document alone, against stock", short(ordinary, text), lambda text=text: as_stock(text))


if __name__ == "__main__":
    asyncio.run(main())
