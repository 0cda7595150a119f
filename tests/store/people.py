"""A table with a column of every kind, and records in it, for tests of what searches and lists."""

from collections.abc import Sequence
from typing import Any

from models.caller import Caller
from store import record_batch
from store.database import Database, Row
from tests.store.tables import add_table, column

PEOPLE = [
    column("name", unique=True),
    column("bio"),
    column("status", values=["new", "won", "lost"]),
    column("score", "number"),
    column("active", "boolean"),
    column("due", "datetime"),
    column("skills", "array"),
    column("labels", "array", values=["red", "green"]),
]


async def add_people(db: Database, caller: Caller, bodies: Sequence[dict[str, Any]], name: str = "people") -> Row:
    """The table with its records, numbered from 1."""
    table = await add_table(db, caller, name, PEOPLE)
    result = await record_batch.add_many(db, caller, name, bodies)
    assert (result.added, result.problems) == (len(bodies), [])
    return table
