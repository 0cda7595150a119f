"""What a client sees: the GraphQL schema of the product."""

from collections.abc import Callable
from contextlib import nullcontext

import strawberry

import schema.enums  # noqa: F401  # registers the enums before any type names them
from engine import EndBy, EngineSchema, Limits, Log, Presented, Turn, present
from models.cursor import Cursor
from resolvers.context import Context
from schema.mutation import Mutation
from schema.query import Query
from schema.subscription import Subscription

_CURSOR = strawberry.scalar(
    name="Cursor",
    description="An opaque position in the feed of file changes; later positions sort later.",
    serialize=str,
    parse_value=Cursor.parse,
)


def build(
    *,
    limits: Limits | None = None,
    introspection: bool = True,
    timeout: float | None = None,
    end_by: EndBy | None = None,
    turn: Turn = lambda _context: nullcontext(),
    shown: Callable[[BaseException], BaseException | None] = lambda error: error,
    log: Log | None = None,
) -> EngineSchema:
    """The schema. `shown` gives the refusal that an exception means to a client, or None to mask it; `timeout` is in seconds, `end_by` is told of each deadline, `turn` what a socket's operations wait for."""

    def presented(error: BaseException) -> Presented | None:
        refusal = shown(error)
        return None if refusal is None else present(refusal)

    return EngineSchema(
        Query,
        Mutation,
        Subscription,
        limits=limits,
        introspection=introspection,
        timeout=timeout,
        end_by=end_by,
        turn=turn,
        present=presented,
        log=log,
        share=Context.sharing,
        renew=Context.renew,
        scalars={Cursor: _CURSOR},
    )


def sdl() -> str:
    """The schema in the GraphQL schema definition language."""
    return f"{build().as_str()}\n"
