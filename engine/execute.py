"""The short way from the text of a request to the bytes of its answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphql import ExecutionResult, GraphQLError, GraphQLSchema, execute
from strawberry.execution import optimized_is_awaitable

from engine.completion import RowExecutor
from engine.documents import UNTRIED, Document, Documents, Operation
from engine.encoding import dumps
from engine.errors import Presenter, RefusedError, status_of, unprocessable
from engine.leaves import NotPlainError
from engine.room import Room
from engine.shortcut import ResumedExecutor, Shortcut

MOST_ERRORS = 100

EndBy: TypeAlias = Callable[[asyncio.Timeout], None]
"""Called with the deadline of each operation, which it may move."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request: its JSON, its HTTP status, its errors as sent, and what the log wants to know."""

    body: bytes
    status: int
    errors: list[dict[str, Any]]
    operation_name: str | None
    operation_type: str | None  # query or mutation; None where the document was refused


class Engine:
    """A schema with its kept documents; EngineSchema makes it. `documents.warm(texts)` prepares documents and keeps them for good.

    `compiled=False` completes every value on the ordinary path: slower, with the same bytes. `timeout` is in seconds; `end_by` is told of
    each operation's deadline, which it may move.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        documents: Documents,
        presenter: Presenter,
        *,
        compiled: bool = True,
        timeout: float | None = None,
        end_by: EndBy | None = None,
    ) -> None:
        self.schema = schema
        self.documents = documents
        self.presenter = presenter
        self.compiled = compiled
        self.timeout = timeout
        self._end_by = end_by

    def prepare(self, query: Any, variables: Any, operation_name: Any) -> tuple[Document, Operation]:
        """Return the document and the operation to run. Raises RefusedError with everything that is wrong with the request."""
        problems = []
        if not isinstance(query, str) or not query.strip():
            problems.append("query must be the text of a GraphQL document")
        if variables is not None and not isinstance(variables, dict):
            problems.append("variables must be an object or null")
        if operation_name is not None and not isinstance(operation_name, str):
            problems.append("operationName must be a text or null")
        if problems:
            raise RefusedError(unprocessable(problem) for problem in problems)
        document = self.documents.get(query)
        operation = document.operation(operation_name or None)
        document.check_nodes(operation, variables)
        return document, operation

    def arguments(
        self, document: Document, operation: Operation, variables: Any, context: Any, root: Any, room: Room | None = None
    ) -> dict[str, Any]:
        """Return the arguments for graphql-core's `execute` and `subscribe`; `room` counts what an answer holds."""
        return {
            "schema": self.schema,
            "document": document.node,
            "root_value": root,
            "context_value": context,
            "variable_values": variables,
            "operation_name": operation.name,
            "executor_class": RowExecutor,
            "is_awaitable": optimized_is_awaitable,
            # Suggestions name what introspection would not tell.
            "hide_suggestions": not self.documents.introspection,
            "plans": document.plans if self.compiled else None,
            "room": room,
        }

    async def execute(self, document: Document, operation: Operation, variables: Any, context: Any, root: Any) -> ExecutionResult:
        """Return the result of a query or mutation; its errors are not presented yet.

        Raises TimeoutError after `timeout` seconds, RefusedError for an answer over the limits.
        """
        room = Room(self.documents.limits, wrote=operation.type == "mutation")
        async with asyncio.timeout(self.timeout) as deadline:
            if self._end_by is not None:
                self._end_by(deadline)
            result = await self._run(document, operation, variables, context, root, room)
        room.check(result.data, may_repeat=operation.may_repeat)
        return result

    async def _run(self, document: Document, operation: Operation, variables: Any, context: Any, root: Any, room: Room) -> ExecutionResult:
        arguments: dict[str, Any] = {}
        if self.compiled and (shortcut := _shortcut(document, operation)) is not None:
            done = await shortcut.run(variables, context, root, room)
            if isinstance(done, ExecutionResult):
                return done
            arguments = {} if done is None else {"executor_class": ResumedExecutor, "outcome": done}
        result = execute(**self.arguments(document, operation, variables, context, root, room) | arguments)
        return result if isinstance(result, ExecutionResult) else await result

    def present(self, errors: Sequence[BaseException] | None, operation_name: str | None) -> list[GraphQLError] | None:
        """Return the errors as the client sees them: the first 100, then how many more there are."""
        if not errors:
            return None
        shown = [self.presenter(error, operation_name) for error in errors[:MOST_ERRORS]]
        return shown if len(errors) <= MOST_ERRORS else [*shown, unprocessable(f"and {len(errors) - MOST_ERRORS:,} more errors")]


async def run(
    engine: Engine,
    query: Any,
    variables: Any = None,
    operation_name: Any = None,
    context: Any = None,
    *,
    root: Any = None,
    read_only: bool = False,
) -> Answer:
    """Return the answer to a query or mutation. It raises nothing but cancellation: every error is in the answer.

    The texts and variables are as the client sent them and are checked here. `read_only` refuses mutations (GET).
    """
    operation: Operation | None = None
    try:
        document, operation = engine.prepare(query, variables, operation_name)
        _check_type(operation, read_only=read_only)
        result = await engine.execute(document, operation, variables, context, root)
        return _answer(engine, operation, result.data, result.errors)
    except RefusedError as refused:
        return _answer(engine, operation, None, refused.errors)
    except Exception as error:  # noqa: BLE001 - the last resort: whatever it is, the client gets an id and the log the rest
        return _answer(engine, operation, None, [error])


def _shortcut(document: Document, operation: Operation) -> Shortcut | None:
    if operation.shortcut is UNTRIED:
        try:
            operation.shortcut = Shortcut(document, operation)
        except NotPlainError:
            operation.shortcut = None
    found: Shortcut | None = operation.shortcut
    return found


def _check_type(operation: Operation, *, read_only: bool) -> None:
    if operation.type == "subscription":
        raise RefusedError([unprocessable("subscriptions need a WebSocket (graphql-transport-ws) or Accept: text/event-stream")])
    if read_only and operation.type != "query":
        raise RefusedError([unprocessable("mutations must be sent by POST")])


def _answer(engine: Engine, operation: Operation | None, data: Any, errors: Any) -> Answer:
    name = operation.name if operation else None
    kind = operation.type if operation else None
    if not errors:
        try:
            return Answer(dumps({"data": data}), 200, [], name, kind)
        except TypeError as error:  # a value that JSON cannot hold
            data, errors = None, [error]
    formatted: list[Any] = [error.formatted for error in engine.present(errors, name) or ()]
    try:
        body = dumps({"data": data, "errors": formatted})
    except TypeError as error:
        formatted = [engine.presenter(error, name).formatted]
        body = dumps({"data": None, "errors": formatted})
    return Answer(body, status_of(formatted), formatted, name, kind)
