"""One caller cannot keep everything busy, and a deadline does not pass over a commit."""

import asyncio

import httpx
import pytest
from asgi_lifespan import LifespanManager

from models.errors import RateLimited
from server.app import App
from server.settings import Settings
from server.turns import Turn
from store.database import Database
from store.shares import Shares
from store.usage import Usage, current
from tests.server.conftest import Tokens
from tests.server.live import FOLLOW, line, serving
from tests.server.test_graphql_http import post
from tests.server.test_limits import SAVE, client_of
from tests.world import World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A short time for each operation."""
    return settings.model_copy(update={"operation_timeout": 2})


async def test_another_organisation_is_served_while_one_waits(
    settings: Settings, dsn: str, db: Database, tokens: Tokens, world: World
) -> None:
    app = App(settings.model_copy(update={"database_connections": 4, "max_operations": 8}), dsn)
    async with LifespanManager(app), client_of(app) as client:
        async with db.write() as tx:
            await tx.execute("SELECT FROM organisations WHERE org_id = $1 FOR UPDATE", world.org)
            stuck = [asyncio.create_task(post(client, tokens.operator, SAVE, key=f"{n}.md")) for n in range(12)]
            await asyncio.sleep(0.2)
            # Half of the connections and of the operations are held by one caller, who waits for them with the rest.
            assert "errors" not in (await post(client, tokens.stranger)).json()
            assert "errors" not in (await post(client, tokens.stranger, SAVE, key="other.md")).json()
            assert not any(task.done() for task in stuck)
        answers = [answer.json() for answer in await asyncio.gather(*stuck)]
        assert [answer["data"]["noteWrite"]["version"] for answer in answers] == [1] * 12


async def test_who_gets_no_turn_in_time_is_told_when_to_come_again(world: World) -> None:
    places = Shares(2, caller=0.5)
    async with Turn(places, world.ada, 1):
        with pytest.raises(RateLimited) as refused:
            async with Turn(places, world.ada, 0.01):
                raise AssertionError("it had no place")
        assert refused.value.extensions == {"retryAfter": 5.0}
        async with Turn(places, world.bob, 1):
            assert places.is_full
    assert (places.take_now((world.org, world.ada.id)), places.waiting) == (True, 0)


async def test_sockets_and_subscriptions_are_shared(settings: Settings, dsn: str, tokens: Tokens) -> None:
    app = App(settings.model_copy(update={"max_sockets": 4}), dsn)
    async with serving(app) as address, line(address, {"token": tokens.ada}) as first:
        async with line(address, {"token": tokens.ada}) as second:
            async with line(address, init=False) as third:
                await third.send({"type": "connection_init", "payload": {"token": tokens.ada}})
                assert await third.closed() == (
                    1013,
                    "this caller, or its organisation, has all the sockets open that it may have; try again in 30.0 s",
                )
            for number, socket in enumerate((first, second, second)):
                await socket.subscribe(FOLLOW, str(number))
            refused = await second.receive()
            assert (refused["id"], refused["type"]) == ("2", "error")
            assert refused["payload"][0]["extensions"]["code"] == "RATE_LIMITED"
            # Another has places left.
            async with line(address, {"token": tokens.bob}) as other:
                await other.subscribe(FOLLOW)
                assert "data" in await other.ask("{ viewer { id } }")
        # What ended gives its places back.
        async with line(address, {"token": tokens.ada}) as again:
            await again.subscribe(FOLLOW)
            assert "data" in await again.ask("{ viewer { id } }")


async def test_a_deadline_waits_for_a_commit(db: Database, world: World) -> None:
    usage = Usage(world.org, world.operator.id, 1_000_000)
    current.set(usage)
    slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END'"
    at_commit = "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON guilds DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()"
    async with db.write() as tx:
        await tx.execute(slow)
        await tx.execute(at_commit)
    insert = "INSERT INTO guilds (org_id, id, name, created_at) VALUES ($1, $2, $2, now())"
    async with asyncio.timeout(0.1) as deadline:
        usage.end_by(deadline)
        async with db.write() as tx:
            tx.touched.add(world.org)
            await tx.execute(insert, world.org, "told")
    assert usage.has_written
    # Before the commit begins the deadline counts, and nothing is applied.
    with pytest.raises(TimeoutError):  # noqa: PT012  # one transaction
        async with asyncio.timeout(0.1) as deadline:
            usage.end_by(deadline)
            async with db.write() as tx:
                await tx.execute(insert, world.org, "untold")
                await tx.execute("SELECT pg_sleep(5)")
    async with db.read() as reader:
        assert [row.id for row in await reader.rows("SELECT id FROM guilds WHERE id LIKE '%told'")] == ["told"]


async def test_a_time_that_passes_after_a_commit_is_told_so(client: httpx.AsyncClient, db: Database, tokens: Tokens) -> None:
    slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(9); RETURN NEW; END'"
    trigger = "CREATE TRIGGER slow BEFORE INSERT ON artifacts FOR EACH ROW WHEN (NEW.key = 'slow.md') EXECUTE FUNCTION slow()"
    async with db.write() as tx:
        await tx.execute(slow)
        await tx.execute(trigger)
    twice = """mutation { a: noteWrite(level: ORG, key: "a.md", content: "x") { version }
        b: noteWrite(level: ORG, key: "slow.md", content: "x") { version } }"""
    answer = await post(client, tokens.operator, twice)
    expected = "the operation took too long and was ended; what it had written before that stays written"
    errors = answer.json()["errors"]
    assert [error["message"] for error in errors] == [expected]
    async with db.read() as reader:
        assert [row.key for row in await reader.rows("SELECT key FROM artifacts")] == ["a.md"]
