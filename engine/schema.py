"""A Strawberry schema whose every door runs operations through the same engine."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any, TypeAlias, cast
from uuid import uuid4

import strawberry
from graphql import ExecutionResult as GraphQLResult
from graphql import GraphQLError, subscribe
from strawberry.schema.config import StrawberryConfig
from strawberry.types.execution import ExecutionResult, PreExecutionError
from strawberry.types.graphql import OperationType

from engine.completion import RowExecutor
from engine.documents import Document, Documents, Operation
from engine.errors import Log, Present, Presenter, RefusedError, present, unprocessable
from engine.events import EventExecutor, Events, Renew, Share
from engine.execute import Engine
from engine.limits import Limits
from engine.scalars import scalar_map

Turn: TypeAlias = Callable[[Any], AbstractAsyncContextManager[None]]
"""Gives, for a context, what its operation waits for before it runs, and holds while it does."""

ALL_TYPES = frozenset(OperationType)


class EngineSchema(strawberry.Schema):
    """Strawberry's schema with kept documents, limits, compiled completion and presented errors.

    `execute`, `stream` and `subscribe` keep Strawberry's signatures, so its views (WebSocket, SSE, GET) behave as `execute.run` does.
    Strawberry's extensions and operation directives have no place here. `engine` is what `execute.run` takes.
    `turn` is for `execute` and `stream`; who calls `execute.run` sees to it.
    `share` and `renew` say how contexts answer the events of subscriptions (see `events`).
    `execute_sync` and `introspect` are Strawberry's own, for tools: without limits.
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
        compiled: bool = True,
        timeout: float | None = None,
        end_by: Callable[[asyncio.Timeout], None] | None = None,
        turn: Turn = lambda _context: nullcontext(),
        share: Share | None = None,
        renew: Renew | None = None,
        scalars: dict[object, Any] | None = None,
    ) -> None:
        config = StrawberryConfig(scalar_map={**scalar_map(), **(scalars or {})}, disable_field_suggestions=not introspection)
        super().__init__(query, mutation, subscription, types=types, config=config, execution_context_class=RowExecutor)
        documents = Documents(self._schema, limits or Limits(), introspection=introspection)
        presenter = Presenter(present, log, new_id or (lambda: uuid4().hex))
        self.engine = Engine(self._schema, documents, presenter, compiled=compiled, timeout=timeout, end_by=end_by)
        self._turn = turn
        self._shared = Events(self.engine.present, limits=documents.limits, share=share, renew=renew, timeout=timeout)

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,  # noqa: ARG002 - Strawberry's signature
    ) -> ExecutionResult:
        """Return the result of a query or mutation; every error is in it, presented."""
        operation: Operation | None = None
        allowed = frozenset(allowed_operation_types or ALL_TYPES) - {OperationType.SUBSCRIPTION}
        try:
            # The turn before the variables, which nobody in particular could make large.
            async with self._turn(context_value):
                document, operation = self._prepare(query, variable_values, operation_name, allowed)
                result = await self.engine.execute(document, operation, variable_values, context_value, root_value)
        except RefusedError as refused:
            return PreExecutionError(None, self._present(refused.errors, operation))
        except Exception as error:  # noqa: BLE001 - the last resort, as in run
            return ExecutionResult(None, self._present([error], operation))
        # Without data and path it did not begin: a variable's value was refused.
        refused_values = result.data is None and all(error.path is None for error in result.errors or ())
        kind = PreExecutionError if refused_values else ExecutionResult
        return kind(result.data, self._present(result.errors, operation))

    async def stream(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        operation_extensions: dict[str, Any] | None = None,  # noqa: ARG002 - Strawberry's signature
        allowed_operation_types: Iterable[OperationType] | None = None,
    ) -> AsyncGenerator[ExecutionResult, None]:
        """Return a generator of the results: one for a query or mutation, one per event for a subscription."""
        allowed = frozenset(allowed_operation_types or ALL_TYPES)
        try:
            document, operation = self._prepare(query, variable_values, operation_name, allowed)
        except RefusedError as refused:
            return _only(PreExecutionError(None, self._present(refused.errors, None)))
        if operation.type != "subscription":
            return _only(await self.execute(query, variable_values, context_value, root_value, operation_name))
        return self._events(document, operation, variable_values, context_value, root_value)

    async def _events(
        self, document: Document, operation: Operation, variables: Any, context: Any, root: Any
    ) -> AsyncGenerator[ExecutionResult, None]:
        try:
            of_events = {"executor_class": EventExecutor, "events": self._shared, "variables": operation.event_variables}
            async with self._turn(context):
                source = subscribe(**self.engine.arguments(document, operation, variables, context, root) | of_events)
                if not isinstance(source, GraphQLResult | AsyncIterator):
                    source = await source
            if isinstance(source, GraphQLResult):
                yield PreExecutionError(None, self._present(source.errors, operation))
                return
        except Exception as error:  # noqa: BLE001 - it did not begin
            yield PreExecutionError(None, self._present([error], operation))
            return
        try:
            async with aclosing(cast("AsyncGenerator[GraphQLResult, None]", source)) as results:
                async for result in results:
                    yield ExecutionResult(result.data, result.errors)
        except Exception as error:  # noqa: BLE001 - what a source raises ends the stream, and the client is told why
            yield ExecutionResult(None, self._present([error], operation))

    def _prepare(
        self, query: str | None, variables: Any, name: str | None, allowed: frozenset[OperationType]
    ) -> tuple[Document, Operation]:
        document, operation = self.engine.prepare(query, variables, name)
        if OperationType(operation.type) not in allowed:
            raise RefusedError([unprocessable(f"a {operation.type} cannot be sent this way")])
        return document, operation

    def _present(self, errors: Iterable[BaseException] | None, operation: Operation | None) -> list[GraphQLError] | None:
        name = operation.name if operation else None
        return self.engine.present(list(errors), name) if errors else None


async def _only(result: ExecutionResult) -> AsyncGenerator[ExecutionResult, None]:
    yield result
