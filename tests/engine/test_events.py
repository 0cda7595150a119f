"""An event is answered once for all who share the answer, and never for anybody else."""

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import strawberry
from strawberry.types import Info

from engine import EngineSchema


@dataclass(eq=False)
class Event:
    number: int


@dataclass
class Context:
    """A subscriber: whose answers it shares, what it is sent, and what happened on the way."""

    standing: str | None
    events: list[Event] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    renewals: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def renew(self) -> None:
        self.renewals += 1
        if self.standing == "ended":
            raise PermissionError("ended")


@strawberry.type
class Changed:
    number: int

    @strawberry.field
    async def seen_by(self, info: Info[Any, None], prefix: str = "") -> str:
        await info.context.gate.wait()
        info.context.made.append(prefix)
        return f"{prefix}{info.context.standing}"

    @strawberry.field
    def broken(self) -> int:
        raise RuntimeError("secret")


@strawberry.type
class Query:
    nothing: int = 0


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def changed(self, info: Info[Any, None], after: int = 0) -> AsyncIterator[Changed]:
        for event in info.context.events:
            if event.number > after:
                yield event


def schema(log: Any = None) -> EngineSchema:
    return EngineSchema(Query, None, Subscription, share=lambda context: context.standing, renew=Context.renew, log=log)


async def following(engine: EngineSchema, query: str, context: Context, **variables: Any) -> list[Any]:
    context.gate.set()
    events: AsyncGenerator[Any, None] = await engine.stream(query, variables, context)
    return [(event.data, [error.extensions["code"] for error in event.errors or ()]) async for event in events]


PLAIN = "subscription ($after: Int! = 0) { changed(after: $after) { number seenBy } }"


async def test_those_who_share_get_one_answer_and_others_their_own() -> None:
    engine, events = schema(), [Event(1), Event(2)]
    contexts = [Context(standing, events) for standing in ("a", "a", "b", None, None)]
    answers = [await following(engine, PLAIN, context) for context in contexts]
    expected: list[Any] = [[({"changed": {"number": n, "seenBy": str(context.standing)}}, []) for n in (1, 2)] for context in contexts]
    assert answers == expected
    assert [len(context.made) for context in contexts] == [2, 0, 2, 2, 2]


async def test_where_a_subscriber_begins_makes_no_difference_but_other_variables_do() -> None:
    engine, events = schema(), [Event(1), Event(2)]
    first, late = Context("a", events), Context("a", events)
    await following(engine, PLAIN, first)
    assert await following(engine, PLAIN, late, after=1) == [({"changed": {"number": 2, "seenBy": "a"}}, [])]
    assert (len(first.made), late.made) == (2, [])
    for query in (
        "subscription ($p: String!) { changed(after: 1) { seenBy(prefix: $p) } }",
        "subscription ($p: String!) { changed(after: 1) { ...F } } fragment F on Changed { seenBy(prefix: $p) }",
        "subscription ($p: String!) { ...R } fragment R on Subscription { changed(after: 1) { seenBy(prefix: $p) } }",
        "subscription ($p: String!, $no: Boolean = false) { changed(after: 1) { seenBy(prefix: $p) number @include(if: $no) } }",
    ):
        for prefix in ("x", "y"):
            assert await following(engine, query, Context("a", events), p=prefix) == [({"changed": {"seenBy": f"{prefix}a"}}, [])]


async def test_another_document_has_answers_of_its_own() -> None:
    engine, events = schema(), [Event(1)]
    assert (await following(engine, PLAIN, Context("a", events)))[0][0] == {"changed": {"number": 1, "seenBy": "a"}}
    assert (await following(engine, "subscription { changed { n: number } }", Context("a", events)))[0][0] == {"changed": {"n": 1}}


async def test_one_who_leaves_takes_the_answer_from_nobody() -> None:
    engine, events, gate = schema(), [Event(1)], asyncio.Event()
    contexts = [Context("a", events, gate=gate) for _ in range(3)]

    async def first(context: Context) -> Any:
        stream = await engine.stream(PLAIN, {}, context)
        async with contextlib.aclosing(stream):
            return (await anext(stream)).data

    tasks = [asyncio.create_task(first(context)) for context in contexts]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    gate.set()
    assert await asyncio.gather(*tasks[1:]) == [{"changed": {"number": 1, "seenBy": "a"}}] * 2
    assert sum(len(context.made) for context in contexts) == 1


async def test_a_masked_error_is_logged_once_and_shown_to_all_with_one_id() -> None:
    logged: list[str] = []
    engine, events = schema(lambda _error, error_id, _name: logged.append(error_id)), [Event(1)]
    shown = []
    for _ in range(3):
        stream = await engine.stream("subscription { changed { broken } }", {}, Context("a", events))
        shown += [(error.extensions or {})["id"] async for event in stream for error in event.errors or ()]
    assert shown == logged * 3
    assert len(logged) == 1


async def test_a_context_is_renewed_before_it_answers_and_its_refusal_is_the_answer() -> None:
    context = Context("b", [Event(1), Event(2)])
    await following(schema(), PLAIN, context)
    assert context.renewals == 2
    refused = await following(schema(), PLAIN, Context("ended", [Event(1)]))
    assert refused == [(None, ["INTERNAL"])]


@pytest.mark.parametrize("selection", ["number seenBy", "broken"])
async def test_answers_go_with_their_event(selection: str) -> None:
    engine, context = schema(), Context("a", [Event(1)])
    await following(engine, f"subscription {{ changed {{ {selection} }} }}", context)
    gone = weakref.ref(context.events[0])
    context.events.clear()
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None
