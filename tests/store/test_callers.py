"""Who a token or a JWT speaks for, and in which run."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from models import clock
from models.caller import ActorKind, Caller, system
from models.errors import Unauthenticated, Unprocessable
from store import agents, callers, organisations, runs, tokens
from store.database import Database
from tests.store.trail import everything
from tests.world import World, add_run

SECRET = "a secret of an orchestrator, long enough for every algorithm that is tried here"
NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    before = clock._now.set(lambda: moment)
    yield
    clock._now.reset(before)


def signed(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    given = {"exp": clock.now() + timedelta(minutes=5), **claims}
    return jwt.encode({name: value for name, value in given.items() if value is not None}, secret, algorithm=algorithm)


async def resolve(db: Database, token: str) -> Caller:
    return await callers.resolve(db, token, jwt_secret=SECRET)


async def test_an_agent_comes_with_its_bindings(db: Database, world: World) -> None:
    secret = await tokens.create_for_agent(db, world.ada.id)
    await agents.update(db, world.operator, world.ada.id, read_org=False, write_org=True, guild_id=world.readers)
    caller = await callers.resolve(db, secret)
    assert (caller.read_guild, caller.read_org, caller.write_guild, caller.write_org) == (True, False, True, True)
    assert caller.guild_id == world.readers


@pytest.mark.parametrize("bearer", ["", "mun_", "mun_unknown", "something", "a.b.c", "\ud800", "mun_\ud800", "[" * 9_000 + ".x.y", "é.é.é"])
async def test_bad_bearers(db: Database, bearer: str) -> None:
    for secret in (None, SECRET):
        with pytest.raises(Unauthenticated):
            await callers.resolve(db, bearer, jwt_secret=secret)


async def test_a_deeply_nested_jwt_is_refused(db: Database) -> None:
    header = jwt.utils.base64url_encode(b'{"alg":"HS256","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}").decode()
    with pytest.raises(Unauthenticated):
        await resolve(db, f"{header}.e30.AAAA")


async def test_a_token_tells_its_last_use_once_a_minute(db: Database, world: World) -> None:
    secret = await tokens.create_for_agent(db, world.ada.id)
    used = []
    for seconds in (0, 59, 61):
        with at(NOW + timedelta(seconds=seconds)):
            await callers.resolve(db, secret)
        used.append((await tokens.listed(db))[0].last_used_at)
    assert used == [NOW, NOW, NOW + timedelta(seconds=61)]


async def test_jwts_need_no_row(db: Database, world: World) -> None:
    agent = await resolve(db, signed(org=world.org, agent=world.ada.id))
    assert (agent.kind, agent.id, agent.guild_id, agent.token_id, agent.run_id) == ("AGENT", world.ada.id, world.writers, None, None)
    user = await resolve(db, signed(org=world.org, user=world.operator.id))
    assert (user.kind, user.id, user.name) == ("USER", world.operator.id, "Olga")
    assert await tokens.listed(db) == []


async def test_jwts_that_are_refused(db: Database, world: World) -> None:
    ours: dict[str, Any] = {"org": world.org, "agent": world.ada.id}
    past, future = clock.now() - timedelta(seconds=1), clock.now() + timedelta(minutes=1)
    await organisations.dismiss(db, world.stranger.org_id, world.stranger.id)
    refused = {
        "expired": signed(**ours | {"exp": past}),
        '"exp" claim': signed(**ours | {"exp": None}),
        "has expired": signed(**ours | {"exp": True}),
        "not valid yet": signed(**ours, nbf=future),
        "Signature": signed("another secret of 32 bytes or more, which is not the one of the server", **ours),
        "alg value": signed(algorithm="HS512", **ours),
        "must claim org": signed(agent=world.ada.id),
        "either user or agent": signed(**ours, user=world.operator.id),
        "and either user or agent": signed(org=world.org),
        "each a text": signed(org=world.org, agent=7),
        "or agent, each": signed(org=world.org, agent="a\x00"),
        "names nobody": signed(org=world.org, agent="nobody"),
        "no such agent": signed(org=world.stranger.org_id, agent=world.ada.id),
        "no operator": signed(org=world.stranger.org_id, user=world.stranger.id),
        "udience": signed(**ours, aud="another service"),
    }
    for message, token in refused.items():
        with pytest.raises(Unauthenticated, match=message):
            await resolve(db, token)
    unsigned = jwt.encode({**ours, "exp": future}, key=None, algorithm="none")
    with pytest.raises(Unauthenticated):
        await resolve(db, unsigned)


async def test_jwts_are_unknown_without_a_secret(db: Database, world: World) -> None:
    with pytest.raises(Unauthenticated, match="one begins with mun_"):
        await callers.resolve(db, signed(org=world.org, agent=world.ada.id))


async def test_a_jwt_ends_on_a_socket_too(db: Database, world: World) -> None:
    caller = await resolve(db, signed(org=world.org, agent=world.ada.id, exp=clock.now() + timedelta(minutes=5)))
    assert await callers.still_valid(db, caller) == caller
    with at(clock.now() + timedelta(minutes=6)):
        assert await callers.still_valid(db, caller) is None


async def test_a_run_of_the_jwt_wins(db: Database, world: World) -> None:
    signed_run, other = await add_run(db, world.ada), await add_run(db, world.ada)
    caller = await resolve(db, signed(org=world.org, agent=world.ada.id, run=signed_run))
    assert caller.run_id == signed_run
    within = await callers.in_call(db, caller, run_id=other, tool_call_id="c", tool_name="note_write")
    assert (within.run_id, within.tool_call_id, within.tool_name) == (signed_run, "c", "note_write")
    for claims in ({"agent": world.bob.id, "run": signed_run}, {"agent": world.ada.id, "run": "none"}):
        with pytest.raises(Unprocessable, match=r"claim run: .* is no run of this agent"):
            await resolve(db, signed(org=world.org, **claims))
    with pytest.raises(Unprocessable, match="claim run: only an agent's"):
        await resolve(db, signed(org=world.org, user=world.operator.id, run=signed_run))


async def test_a_run_and_its_tool_call(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    within = await callers.in_call(db, world.ada, run_id=run, tool_call_id="c" * 200, tool_name="")
    assert (within.run_id, within.tool_call_id, within.tool_name) == (run, "c" * 200, None)
    assert (await callers.in_call(db, world.ada, run_id=run)).tool_call_id is None


@pytest.mark.parametrize("run", [None, ""])
async def test_without_a_run_the_tool_call_is_ignored(db: Database, world: World, run: str | None) -> None:
    for caller in (world.ada, world.operator):
        assert await callers.in_call(db, caller, run_id=run, tool_call_id="c" * 500, tool_name="x") == caller


async def test_runs_that_are_refused(db: Database, world: World) -> None:
    own, other = await add_run(db, world.ada), await add_run(db, world.bob)
    ended = await add_run(db, world.ada)
    await runs.finish(db, world.operator, ended, "completed")
    foreign = await add_run(db, world.foreign_agent)
    before = await everything(db)
    for run in (other, foreign, "nothing", "a\x00", "\ud800", "x" * 5_000):
        with pytest.raises(Unprocessable, match="X-Run-Id: ") as refusal:
            await callers.in_call(db, world.ada, run_id=run)
        assert [problem.column for problem in refusal.value.problems] == ["X-Run-Id"]
    with pytest.raises(Unprocessable, match=f"X-Run-Id: run {ended} has finished"):
        await callers.in_call(db, world.ada, run_id=ended)
    with pytest.raises(Unprocessable, match="X-Run-Id: only an agent's calls"):
        await callers.in_call(db, world.operator, run_id=own)
    with pytest.raises(Unprocessable) as both:
        await callers.in_call(db, world.ada, run_id="nothing", tool_call_id="c" * 201, tool_name="\x00")
    assert [problem.column for problem in both.value.problems] == ["X-Run-Id", "X-Tool-Call-Id", "X-Tool-Name"]
    assert "has 201 characters; at most 200" in both.value.message
    assert await everything(db) == before


async def test_still_valid_reads_the_rights_again(db: Database, world: World) -> None:
    run = await add_run(db, world.ada)
    caller = await callers.resolve(db, await tokens.create_for_agent(db, world.ada.id))
    caller = await callers.in_call(db, caller, run_id=run, tool_call_id="c")
    assert await callers.still_valid(db, caller) == caller
    await agents.update(db, world.operator, world.ada.id, read_guild=False, guild_id=None)
    now = await callers.still_valid(db, caller)
    assert now is not None
    assert (now.read_guild, now.guild_id, now.run_id, now.tool_call_id) == (False, None, run, "c")
    await tokens.revoke(db, caller.token_id or "")
    assert await callers.still_valid(db, caller) is None


async def test_still_valid_without_a_token(db: Database, world: World) -> None:
    assert await callers.still_valid(db, system(world.org)) == system(world.org)
    assert await callers.still_valid(db, world.operator) == world.operator
    assert (await callers.still_valid(db, world.ada)) == world.ada
    await agents.delete(db, world.operator, world.ada.id)
    assert await callers.still_valid(db, world.ada) is None
    nobody = Caller(org_id=world.org, kind=ActorKind.USER, id=world.stranger.id, name="Olga")
    assert await callers.still_valid(db, nobody) is None
