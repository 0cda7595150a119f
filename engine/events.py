"""Events of subscriptions: each is answered once for all subscribers who are to get the same answer."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from graphql import ExecutionResult, GraphQLError

from engine.completion import RowExecutor
from engine.limits import Limits
from engine.room import Room

Share: TypeAlias = Callable[[Any], Hashable]
"""Gives what a context has in common with others whose answers to the same event are the same; None for a context of its own kind."""

Renew: TypeAlias = Callable[[Any], Awaitable[None]]
"""Brings a context up to date before it answers an event, since subscriptions live long. What it raises is the answer's error."""

ShowErrors: TypeAlias = Callable[[Sequence[BaseException] | None, str | None], list[GraphQLError] | None]

_Answer: TypeAlias = "tuple[Any, asyncio.Task[ExecutionResult]]"


class Events:
    """The answers to the events that are still being delivered, by event, operation, variables and what contexts share."""

    def __init__(self, show: ShowErrors, *, limits: Limits, share: Share | None, renew: Renew | None, timeout: float | None) -> None:
        """`timeout` is the seconds that one answer may take; `limits` bound each answer."""
        self.limits = limits
        self._show = show
        self._share = share or (lambda _context: None)
        self._renew = renew
        self._timeout = timeout
        self._answers: WeakKeyDictionary[Any, dict[Hashable, _Answer]] = WeakKeyDictionary()

    async def answer(self, executor: "EventExecutor") -> ExecutionResult:
        """The result for the executor's event, its errors as clients see them."""
        common = self._share(executor.context_value)
        if common is None:
            return await self._made(executor)
        key = (id(executor.operation), common, executor.shape)
        answers = self._answers.setdefault(executor.root_value, {})
        if key not in answers:
            # The node is kept, so that its id names nothing else meanwhile. A task, since the first who asks may leave before the others.
            answers[key] = (executor.operation, asyncio.create_task(self._made(executor)))
        # A subscriber who leaves must not cancel the others' answer.
        return await asyncio.shield(answers[key][1])

    async def _made(self, executor: "EventExecutor") -> ExecutionResult:
        name = executor.operation.name.value if executor.operation.name else None
        try:
            async with asyncio.timeout(self._timeout):
                if self._renew is not None:
                    await self._renew(executor.context_value)
                result = executor.executed()
                if not isinstance(result, ExecutionResult):
                    result = await result
            executor.room.check(result.data)
        except Exception as error:  # noqa: BLE001  # whatever it is, the client is told as of any other operation
            return ExecutionResult(None, self._show([error], name))
        # Errors that are shown hold no traceback, which would keep the event, and so this answer, for ever.
        return ExecutionResult(result.data, self._show(result.errors, name))


class EventExecutor(RowExecutor):
    """The executor of a subscription, whose operation is executed once for each event."""

    room: Room

    def __init__(self, *args: Any, events: Events, variables: tuple[str, ...], **kwargs: Any) -> None:
        """`variables`: the names of those that an answer depends on, beside its event."""
        # An executor is made for each event.
        super().__init__(*args, **{**kwargs, "room": Room(events.limits)})
        self._events = events
        given = self.variable_values.coerced
        self.shape = tuple(repr(given.get(name)) for name in variables)

    def execute_operation(self, *_: Any, **__: Any) -> Any:
        """Answer the event."""
        return self._events.answer(self)

    def executed(self) -> Any:
        """The result, or an awaitable of it, as any executor makes it."""
        return super().execute_operation(False)
