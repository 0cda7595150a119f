"""Asking the schema as any caller, without a server around it."""

from typing import Any

from engine import EngineSchema, loads, run
from models.caller import Caller
from resolvers.context import Context
from schema import build
from store.bell import Bell
from store.database import Database
from store.feed import Feed

SCHEMA: EngineSchema = build()


async def ask(db: Database, caller: Caller | None, query: str, **variables: Any) -> Any:
    """The whole answer. The feed is there and told nothing."""
    context = Context(db=db, feed=Feed(db, Bell()), known=caller)
    return loads((await run(SCHEMA.engine, query, variables, None, context)).body)


async def data(db: Database, caller: Caller, query: str, **variables: Any) -> Any:
    """The data of an answer without errors."""
    answer = await ask(db, caller, query, **variables)
    assert "errors" not in answer, answer["errors"]
    return answer["data"]
