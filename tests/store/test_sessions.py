"""Sessions and the codes that open them: each code once, each session as long as its operator and no longer than 30 days."""

import asyncio
from datetime import timedelta

import pytest

from models import clock
from models.errors import Forbidden, Unauthenticated
from store import callers, organisations, sessions, tokens
from store.database import Database
from tests.store.test_callers import at
from tests.world import World


async def code(db: Database, world: World) -> str:
    return await sessions.create_code(db, world.org, world.operator.id)


async def test_of_many_that_use_a_code_at_once_one_is_signed_in(db: Database, world: World) -> None:
    one = await code(db, world)
    found = await asyncio.gather(*(sessions.open_by_code(db, one) for _ in range(5)), return_exceptions=True)
    opened = [secret for secret in found if isinstance(secret, str)]
    assert (len(opened), [type(error) for error in found if not isinstance(error, str)]) == (1, [Unauthenticated] * 4)
    caller = await callers.of_session(db, opened[0])
    assert (caller.org_id, caller.id, caller.kind, caller.token_id) == (world.org, world.operator.id, "USER", None)


async def test_a_code_is_good_for_ten_minutes(db: Database, world: World) -> None:
    first, second = await code(db, world), await code(db, world)
    with at(clock.now() + timedelta(minutes=9, seconds=50)):
        await sessions.open_by_code(db, first)
    with at(clock.now() + timedelta(minutes=10, seconds=1)), pytest.raises(Unauthenticated, match="this sign-in code has expired"):
        await sessions.open_by_code(db, second)


async def test_a_session_is_good_for_thirty_days_and_for_no_longer_than_its_token(db: Database, world: World) -> None:
    secret = await sessions.open_by_code(db, await code(db, world))
    caller = await callers.of_session(db, secret)
    with at(clock.now() + timedelta(days=29, hours=23)):
        assert await callers.still_valid(db, caller) == caller
    with at(clock.now() + timedelta(days=30, seconds=1)):
        assert await callers.still_valid(db, caller) is None
        with pytest.raises(Unauthenticated, match="this session has ended"):
            await callers.of_session(db, secret)


async def test_a_session_ends_with_what_it_stands_on(db: Database, world: World) -> None:
    token = await tokens.create_for_user(db, world.org, "Olga")
    by_token = await sessions.open_by_token(db, await callers.resolve(db, token))
    by_code = await sessions.open_by_code(db, await code(db, world))
    unused = await code(db, world)
    of_token, of_code = await callers.of_session(db, by_token), await callers.of_session(db, by_code)
    await tokens.revoke(db, token)
    assert await callers.still_valid(db, of_token) is None
    assert await callers.still_valid(db, of_code) == of_code
    assert await organisations.dismiss(db, world.org, world.operator.id)
    await organisations.operator(db, world.org, "Olga")  # who comes back signs in anew
    assert await callers.still_valid(db, of_code) is None
    with pytest.raises(Unauthenticated, match="used already"):
        await sessions.open_by_code(db, unused)


async def test_agents_open_no_session(db: Database, world: World) -> None:
    with pytest.raises(Forbidden, match="only operators sign in"):
        await sessions.open_by_token(db, world.ada)


async def test_rows_that_ended_long_ago_are_swept(db: Database, world: World) -> None:
    await sessions.open_by_code(db, await code(db, world))
    with at(clock.now() + timedelta(days=121)):
        await code(db, world)
    async with db.read() as reader:
        assert await reader.value("SELECT (SELECT count(*) FROM sessions) * 10 + (SELECT count(*) FROM sign_in_codes)") == 1
