"""Who gets what: a change written after a right was taken away never arrives, which a later one that does arrive proves."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from models.caller import Caller
from models.clock import new_id, now
from models.cursor import START
from models.errors import Unauthenticated
from models.kinds import AccessMode, FileKind, FileOperation, NoteLevel, SubjectType
from store import collections
from store.database import Database
from store.feed import Feed
from tests.store.feed.helpers import PATIENCE, change, keys_until, next_of, run, write, write_note
from tests.store.rows import add_collection, grant
from tests.world import World


async def touch(db: Database, world: World, collection: str, name: str, operation: FileOperation = FileOperation.UPDATE) -> None:
    path = f"org/{world.org}/collections/{name}"
    await write(db, world.operator, change(path, kind=FileKind.COLLECTION, operation=operation, collection_id=collection))


async def add_record(db: Database, world: World, collection: str, key: str) -> None:
    path = f"org/{world.org}/collections/leads/{key}"
    await write(db, world.operator, change(path, kind=FileKind.RECORD, collection_id=collection))


async def mark(db: Database, caller: Caller, key: str) -> None:
    """A change that the caller can read whatever else it has lost."""
    await write_note(db, caller, key, level=NoteLevel.AGENT, owner=caller.id)


TAKEN_AWAY = {
    "the guild's grant": ("DELETE FROM collection_access WHERE org_id = $1 AND subject_id = $2", "writers", "7"),
    "held back by an own row": (
        "INSERT INTO collection_access SELECT org_id, id, 'AGENT', $2, 'NONE' FROM artifact_collections WHERE org_id = $1",
        "ada",
        "7",
    ),
    "a move to another guild": ("UPDATE agents SET guild_id = NULL WHERE org_id = $1 AND id = $2", "ada", "7 guild.md"),
    "the guild binding": ("UPDATE agents SET read_guild = false WHERE org_id = $1 AND id = $2", "ada", "guild.md"),
    "the organisation binding": ("UPDATE agents SET read_org = false WHERE org_id = $1 AND id = $2", "ada", "org.md"),
}


@pytest.mark.parametrize("what", TAKEN_AWAY)
async def test_what_was_taken_away_stops_at_once_and_the_rest_goes_on(db: Database, world: World, feed: Feed, what: str) -> None:
    statement, whose, lost = TAKEN_AWAY[what]
    collection = await add_collection(db, world.operator, "leads", [])
    await grant(db, world.operator, collection, subject_type="GUILD", subject=world.writers, mode="READ")
    subject = world.writers if whose == "writers" else world.ada.id

    async def write_all() -> None:
        await add_record(db, world, collection, "7")
        await write_note(db, world.operator, "guild.md", level=NoteLevel.GUILD, owner=world.writers)
        await write_note(db, world.operator, "org.md")
        await mark(db, world.ada, "mark.md")

    async with await feed.open(world.ada) as subscription:
        await write_all()
        assert await keys_until(subscription, "mark.md") == ["7", "guild.md", "org.md", "mark.md"]
        await run(db, statement, world.org, subject)
        await write_all()
        kept = [key for key in ("7", "guild.md", "org.md", "mark.md") if key not in lost.split()]
        assert await keys_until(subscription, "mark.md") == kept


async def test_what_waits_in_a_queue_is_judged_when_it_is_taken(db: Database, world: World, feed: Feed) -> None:
    async with await feed.open(world.ada) as slow, await feed.open(world.operator) as watch:
        await write_note(db, world.operator, "org.md")
        await mark(db, world.ada, "mark.md")
        assert await keys_until(watch, "mark.md") == ["org.md", "mark.md"]
        await run(db, "UPDATE agents SET read_org = false WHERE org_id = $1 AND id = $2", world.org, world.ada.id)
        await write_note(db, world.operator, "later.md")
        assert await keys_until(watch, "later.md") == ["later.md"]
        assert await keys_until(slow, "mark.md") == ["mark.md"]


async def give_token(db: Database, caller: Caller) -> Caller:
    token = new_id()
    user, agent = (None, caller.id) if caller.is_agent else (caller.id, None)
    statement = "INSERT INTO tokens (org_id, id, secret_hash, user_id, agent_id, name, created_at) VALUES ($1, $2, $3, $4, $5, '', $6)"
    await run(db, statement, caller.org_id, token, token.encode(), user, agent, now())
    return replace(caller, token_id=token)


ENDED = {
    "an agent's token": ("ada", "UPDATE tokens SET revoked_at = now() WHERE org_id = $1 AND agent_id = $2"),
    "a user's token": ("operator", "UPDATE tokens SET revoked_at = now() WHERE org_id = $1 AND user_id = $2"),
    "the agent": ("ada", "UPDATE agents SET deleted_at = now() WHERE org_id = $1 AND id = $2"),
    "the membership": ("operator", "UPDATE memberships SET ended_at = now() WHERE org_id = $1 AND user_id = $2"),
}


@pytest.mark.parametrize("what", ENDED)
@pytest.mark.parametrize("idle", [True, False])
async def test_a_caller_that_lost_every_right_is_told_and_gets_nothing_more(
    db: Database, world: World, feed: Feed, what: str, idle: bool
) -> None:
    name, statement = ENDED[what]
    caller = await give_token(db, getattr(world, name))
    subscription = await feed.open(caller)
    await write_note(db, world.operator, "a.md")
    assert await keys_until(subscription, "a.md") == ["a.md"]
    await run(db, statement, world.org, caller.id)
    if not idle:
        await write_note(db, world.operator, "b.md")
    with pytest.raises(Unauthenticated):
        await next_of(subscription)
    assert feed.subscribers == 0
    with pytest.raises(StopAsyncIteration):
        await anext(subscription)


async def test_a_signed_token_ends_a_subscription_when_it_expires(world: World, feed: Feed) -> None:
    subscription = await feed.open(replace(world.ada, expires_at=now() + timedelta(seconds=0.3)))
    with pytest.raises(Unauthenticated):
        await next_of(subscription)
    assert feed.subscribers == 0


async def test_an_agent_gets_its_own_files_and_every_vault_change_but_no_others_files(db: Database, world: World, feed: Feed) -> None:
    def own(kind: FileKind, name: str, owner: Caller) -> object:
        return change(f"org/{world.org}/agents/{owner.id}/{name}", kind=kind, level=NoteLevel.AGENT, owner_id=owner.id)

    files = [
        (FileKind.TASK, "task.md"),
        (FileKind.MEMORY, "memory.md"),
        (FileKind.SCRIPT, "scripts/s.py"),
        (FileKind.NOTE, "n.md"),
        (FileKind.MEMORY, "history-archive/1-a.md"),
    ]
    async with await feed.open(world.bob) as bob, await feed.open(world.ada) as ada, await feed.open(world.operator) as operator:
        await write(db, world.operator, *(own(kind, name, world.ada) for kind, name in files))  # type: ignore[misc]
        await write(db, world.operator, change("vault/p/traps/x.md", kind=FileKind.VAULT))
        assert await keys_until(ada, "x.md") == ["task.md", "memory.md", "s.py", "n.md", "x.md"]
        assert await keys_until(operator, "x.md") == ["task.md", "memory.md", "s.py", "n.md", "1-a.md", "x.md"]
        assert await keys_until(bob, "x.md") == ["x.md"]


async def test_a_previous_path_is_told_to_those_who_could_read_it_and_matches_for_no_others(db: Database, world: World, feed: Feed) -> None:
    old = f"org/{world.org}/guilds/{world.writers}/old.md"
    async with (
        await feed.open(world.ada, paths=[old]) as ada,
        await feed.open(world.cyd) as cyd,
        await feed.open(world.cyd, paths=[old, f"org/{world.org}/mark.md"]) as prying,
    ):
        await write_note(db, world.operator, "new.md", operation=FileOperation.MOVE, previous_path=old)
        await write_note(db, world.operator, "mark.md")
        assert (await next_of(ada)).previous_path == old
        assert (await next_of(cyd)).previous_path is None
        assert await keys_until(prying, "mark.md") == ["mark.md"]


async def leads(db: Database, world: World, *, guild: str | None = None) -> str:
    collection = await add_collection(db, world.operator, "leads", [], guild=guild)
    if guild is None:
        await grant(db, world.operator, collection, subject_type=SubjectType.GUILD, subject=world.writers, mode=AccessMode.READ)
    await grant(db, world.operator, collection, subject_type=SubjectType.AGENT, subject=world.bob.id, mode=AccessMode.NONE)
    return collection


@pytest.mark.parametrize("owned", [True, False])
async def test_the_end_of_a_collection_is_told_to_those_who_could_read_it(db: Database, world: World, feed: Feed, owned: bool) -> None:
    collection = await leads(db, world, guild=world.writers if owned else None)
    callers = {"ada": world.ada, "bob": world.bob, "cyd": world.cyd, "operator": world.operator}
    expected = {"ada": ["leads", "mark.md"], "bob": ["mark.md"], "cyd": ["mark.md"], "operator": ["leads", "mark.md"]}
    live = {name: await feed.open(caller) for name, caller in callers.items()}
    await collections.delete(db, world.operator, collection)
    await write_note(db, world.operator, "mark.md")
    late = {name: await feed.open(caller, after=START) for name, caller in callers.items()}
    for found in (live, late):
        assert {name: await keys_until(subscription, "mark.md") for name, subscription in found.items()} == expected
    for subscription in (*live.values(), *late.values()):
        await subscription.aclose()


async def test_nothing_else_of_a_deleted_collection_is_told(db: Database, world: World, feed: Feed) -> None:
    collection = await leads(db, world)
    await add_record(db, world, collection, "7")
    await touch(db, world, collection, "leads")
    await collections.delete(db, world.operator, collection)
    await write_note(db, world.operator, "mark.md")
    async with await feed.open(world.ada, after=START) as subscription:
        assert (await asyncio.wait_for(anext(subscription), PATIENCE)).operation == FileOperation.DELETE
        assert await keys_until(subscription, "mark.md") == ["mark.md"]
