import asyncio
import contextlib

import pytest

from models.caller import Caller
from models.cursor import START, Cursor
from models.errors import CursorExpired, Unprocessable
from models.kinds import FileKind, NoteLevel
from store.bell import Bell
from store.database import Database
from store.feed import Feed, Subscription
from tests.store.feed.helpers import change_ids, in_transaction, keys_until, next_of, run, write_note
from tests.world import World, add_run


async def test_a_subscription_brings_what_is_written_from_now_on(db: Database, world: World, feed: Feed) -> None:
    await write_note(db, world.operator, "before.md")
    async with await feed.open(world.operator) as subscription:
        row = await write_note(db, world.operator, "after.md", version=7)
        change = await next_of(subscription)
    assert {name: getattr(change, name) for name in row.keys()} == dict(row)  # noqa: SIM118  # a record's keys, not its values
    assert change.cursor == Cursor(row.xid, row.change_id)
    assert feed.subscribers == 0


async def test_what_is_open_at_the_beginning_and_commits_later_is_brought(db: Database, world: World, feed: Feed) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with db.write() as tx:
            await in_transaction(tx, world.operator, "open.md")
            await write_note(db, world.operator, "committed before.md")
            subscription = await stack.enter_async_context(await feed.open(world.operator))
            await write_note(db, world.operator, "committed after.md")
        assert await keys_until(subscription, "committed after.md") == ["open.md", "committed after.md"]


async def test_a_transaction_held_open_is_not_skipped(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.operator, after=START) as subscription:
        async with db.write() as tx:
            await in_transaction(tx, world.operator, "held.md")
            await write_note(db, world.operator, "one.md")
            await write_note(db, world.operator, "two.md")
            async with asyncio.timeout(20):
                while feed.lag == 0:  # noqa: ASYNC110  # the metric is what is looked at
                    await asyncio.sleep(0.01)
        assert await keys_until(subscription, "two.md") == ["held.md", "one.md", "two.md"]


async def test_a_cursor_above_an_open_transaction_repeats_nothing_and_skips_nothing(db: Database, world: World, feed: Feed) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with db.write() as tx:
            await in_transaction(tx, world.operator, "held.md")
            seen = await write_note(db, world.operator, "seen in a query.md")
            subscription = await stack.enter_async_context(await feed.open(world.operator, after=Cursor(seen.xid, seen.change_id)))
        await write_note(db, world.operator, "later.md")
        assert await keys_until(subscription, "later.md") == ["held.md", "later.md"]


async def test_one_cut_off_again_and_again_while_eight_write_has_each_change_once_in_order(db: Database, world: World, feed: Feed) -> None:
    async def writer(name: int) -> None:
        for number in range(125):
            await write_note(db, world.operator, f"{name}-{number}.md")

    writers = asyncio.gather(*(writer(name) for name in range(8)))
    seen: list[int] = []
    position = START
    while len(seen) < 1000:
        async with await feed.open(world.operator, after=position) as subscription:
            for _ in range(min(37 + len(seen) // 3, 1000 - len(seen))):
                change = await next_of(subscription)
                seen.append(change.change_id)
                position = change.cursor
    await writers
    assert seen == await change_ids(db, world.org)
    assert len(seen) == 1000


async def test_a_slow_subscriber_goes_back_to_the_table_and_misses_nothing(db: Database, world: World) -> None:
    bell = Bell()
    await bell.start()
    db.after_commit = bell.ring
    feed = Feed(db, bell, poll=600, batch=7, queue=10)
    await feed.start()
    async with await feed.open(world.operator) as slow, await feed.open(world.operator) as quick:
        for number in range(100):
            await write_note(db, world.operator, f"{number}.md")
        expected = [f"{number}.md" for number in range(100)]
        assert await keys_until(quick, "99.md") == expected
        assert slow.behind
        assert feed.behind >= 1
        assert await keys_until(slow, "99.md") == expected
        waiting = asyncio.create_task(next_of(slow))
        async with asyncio.timeout(20):
            while slow.behind:  # noqa: ASYNC110  # it is back once the table has no more for it
                await asyncio.sleep(0.01)
        row = await write_note(db, world.operator, "live.md")
        assert (await waiting).change_id == row.change_id
        assert not slow.behind
    await feed.stop()
    await bell.stop()


async def test_a_lost_bell_is_made_up_for_by_looking_now_and_then(db: Database, world: World) -> None:
    bell = Bell()
    await bell.start()
    feed = Feed(db, bell, poll=0.05)
    await feed.start()
    async with await feed.open(world.operator) as subscription:
        await write_note(db, world.operator, "unrung.md")
        assert await keys_until(subscription, "unrung.md") == ["unrung.md"]
    await feed.stop()
    await bell.stop()


async def test_a_write_at_one_server_is_seen_at_another(db: Database, world: World, dsn: str) -> None:
    here, there = Bell(dsn), Bell(dsn)
    await here.start()
    await there.start()
    other = await Database(dsn, size=3).open()
    db.after_commit = here.ring
    feed = Feed(other, there, poll=600)
    await feed.start()
    async with await feed.open(world.operator) as subscription:
        await write_note(db, world.operator, "far.md")
        assert await keys_until(subscription, "far.md") == ["far.md"]
    await feed.stop()
    await there.stop()
    await here.stop()
    await other.close()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["a.md", "b.md", "moved.md", "table"]),
        ({"kinds": [FileKind.COLLECTION]}, ["table"]),
        ({"prefix": "org/{org}/b"}, ["b.md", "table"]),
        ({"paths": ["org/{org}/a.md", "org/{org}/old.md"]}, ["a.md", "moved.md"]),
        ({"paths": ["org/{org}/collections/leads"]}, ["table"]),
        ({"run_id": "{run}"}, ["b.md"]),
        ({"run_id": "{run}", "kinds": [FileKind.TASK]}, []),
    ],
)
async def test_filters_are_anded(db: Database, world: World, feed: Feed, wanted: dict[str, object], expected: list[str]) -> None:
    run_id = await add_run(db, world.ada)
    named = {"org": world.org, "run": run_id}
    filters = {
        name: value.format(**named) if isinstance(value, str) else [str(item).format(**named) for item in value]  # type: ignore[attr-defined]
        for name, value in wanted.items()
    }
    await write_note(db, world.operator, "a.md")
    await write_note(db, world.ada.in_call(run_id, "call", "note_write"), "b.md")
    await write_note(db, world.operator, "moved.md", previous_path=f"org/{world.org}/old.md")
    await write_note(
        db,
        world.operator,
        "table",
        kind=FileKind.COLLECTION,
        event_path=f"org/{world.org}/collections/leads",
        previous_path=f"org/{world.org}/b0",
    )
    last = await write_note(db, world.operator, "last.md")
    async with await feed.open(world.operator, after=START, **filters) as subscription:  # type: ignore[arg-type]
        task = asyncio.create_task(anext(subscription)) if not expected else None
        found = await keys_until(subscription, expected[-1]) if expected else []
        async with asyncio.timeout(20):
            while task and subscription.position < Cursor(last.xid, last.change_id):  # noqa: ASYNC110  # until all is judged
                await asyncio.sleep(0.01)
        if task:
            assert not task.done()
            task.cancel()
    assert found == expected


async def test_the_same_change_is_one_object_for_subscribers_of_the_same_rights_and_filter(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.operator) as one, await feed.open(world.operator) as other, await feed.open(world.ada) as agent:
        await write_note(db, world.operator, "a.md", previous_path=f"org/{world.org}/agents/{world.bob.id}/a.md")
        first, second, third = await next_of(one), await next_of(other), await next_of(agent)
    assert first is second
    assert third.previous_path is None
    assert first.previous_path == f"org/{world.org}/agents/{world.bob.id}/a.md"


async def test_other_organisations_get_nothing(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.stranger) as subscription:
        await write_note(db, world.operator, "ours.md")
        await write_note(db, world.stranger, "theirs.md")
        assert await keys_until(subscription, "theirs.md") == ["theirs.md"]


async def test_closing_unregisters(db: Database, world: World, feed: Feed) -> None:
    generator = feed.subscribe(world.operator, after=START)
    await write_note(db, world.operator, "a.md")
    assert (await anext(generator)).display_path == f"org/{world.org}/a.md"
    subscription = await feed.open(world.ada)
    waiting = asyncio.create_task(anext(subscription))
    await asyncio.sleep(0)
    assert feed.subscribers == 2
    await generator.aclose()
    assert feed.subscribers == 1
    await subscription.aclose()
    with pytest.raises(StopAsyncIteration):
        await waiting
    assert feed.subscribers == 0
    assert not [task for task in asyncio.all_tasks() if world.org in task.get_name() and not task.cancelling()]


async def test_a_wait_that_is_given_up_leaves_the_subscription_whole(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.operator) as subscription:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(subscription), 0.05)
        await write_note(db, world.operator, "a.md")
        assert await keys_until(subscription, "a.md") == ["a.md"]


async def test_a_position_that_the_database_has_not_reached_is_expired(world: World, feed: Feed) -> None:
    with pytest.raises(CursorExpired) as refused:
        await feed.open(world.operator, after=Cursor(2**62, 1))
    assert refused.value.as_json()["reason"] == "CURSOR_EXPIRED"
    assert feed.subscribers == 0


async def test_filters_that_are_no_text_are_refused_together(world: World, feed: Feed) -> None:
    with pytest.raises(Unprocessable) as refused:
        await feed.open(world.operator, paths=["a\x00"], prefix="\ud800", run_id="x")
    assert [problem.column for problem in refused.value.problems] == ["paths", "prefix"]
    assert feed.subscribers == 0


async def test_a_killed_database_connection_delays_and_loses_nothing(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.operator) as subscription:
        await write_note(db, world.operator, "a.md")
        assert await keys_until(subscription, "a.md") == ["a.md"]
        with contextlib.suppress(Exception):
            await run(db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
        await _write_when_it_is_back(db, world.operator, subscription)
        assert await keys_until(subscription, "b.md") == ["b.md"]


async def _write_when_it_is_back(db: Database, caller: Caller, _: Subscription) -> None:
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(Exception):
                await write_note(db, caller, "b.md")
                return
            await asyncio.sleep(0.05)


async def test_levels_are_kept_apart(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.ada) as ada, await feed.open(world.cyd) as cyd, await feed.open(world.loner) as loner:
        await write_note(db, world.operator, "ada.md", level=NoteLevel.AGENT, owner=world.ada.id)
        await write_note(db, world.operator, "writers.md", level=NoteLevel.GUILD, owner=world.writers)
        await write_note(db, world.operator, "readers.md", level=NoteLevel.GUILD, owner=world.readers)
        await write_note(db, world.operator, "all.md")
        assert await keys_until(ada, "all.md") == ["ada.md", "writers.md", "all.md"]
        assert await keys_until(cyd, "all.md") == ["readers.md", "all.md"]
        assert await keys_until(loner, "all.md") == ["all.md"]
