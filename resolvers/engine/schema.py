"""A Strawberry schema whose every door runs operations through the same engine."""

from collections.abc import Callable, Iterable
from typing import Any

import strawberry

from resolvers.engine.errors import Log, Present, present
from resolvers.engine.limits import Limits


class EngineSchema(strawberry.Schema):
    """Strawberry's schema with kept documents, limits, compiled completion and presented errors.

    `execute`, `stream` and `subscribe` keep Strawberry's signatures, so its views (WebSocket, SSE, GET) behave as `execute.run` does.
    Strawberry extensions and operation directives are not run: they are refused at construction.
    `engine` is what `execute.run` takes.
    """

    def __init__(
        self,
        query: type,
        mutation: type | None = None,
        subscription: type | None = None,
        *,
        types: Iterable[Any] = (),
        limits: Limits | None = None,
        introspection: bool = True,
        present: Present = present,
        log: Log | None = None,
        new_id: Callable[[], str] | None = None,
        scalar_map: dict[object, Any] | None = None,
    ) -> None:
        raise NotImplementedError
