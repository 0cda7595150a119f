"""What a change costs to deliver to many subscribers of one document: python -m benchmarks.feed, about half a minute.

Subscribers follow the whole feed of one organisation as the pages do, each change with its run, agent and guild. Measured is the time
from the first of a burst of writes until every subscriber has every change as the text of its message.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from engine import EngineSchema, dumps
from models.caller import Caller
from models.kinds import NoteLevel
from resolvers.context import Context
from schema import build
from server import migrate
from server.documents import documents
from server.postgres import EmbeddedPostgres
from store import agents, callers, guilds, notes, organisations, runs, tokens
from store.bell import Bell
from store.database import Database
from store.feed import Feed

CHANGES = 50
ROUNDS = 3


class Bench:
    """One organisation, an agent at work in a run, and the schema that serves its feed."""

    def __init__(self, db: Database, feed: Feed, operator: Caller, working: Caller) -> None:
        self.db, self.feed, self.operator, self.working = db, feed, operator, working
        self.schema: EngineSchema = build()
        self.schema.engine.documents.warm(documents().values())

    async def follow(self, count: int) -> int:
        """The bytes of this many messages, as one subscriber is sent them."""
        context = Context(db=self.db, feed=self.feed, known=self.operator)
        events = await self.schema.stream(documents()["Activity"], {}, context)
        size = 0
        async for event in events:
            size += len(dumps({"id": "1", "type": "next", "payload": {"data": event.data}}))
            count -= 1
            if not count:
                break
        await events.aclose()
        return size

    async def burst(self, subscribers: int) -> float:
        """Seconds from the first write until everybody has everything."""
        following = [asyncio.create_task(self.follow(CHANGES)) for _ in range(subscribers)]
        while self.feed.subscribers < subscribers:  # noqa: ASYNC110  # the feed tells nobody of it
            await asyncio.sleep(0.01)
        began = time.perf_counter()
        for number in range(CHANGES):
            await notes.write(self.db, self.working, NoteLevel.AGENT, f"{number}.md", "text")
        sizes = await asyncio.gather(*following)
        if len(set(sizes)) != 1:
            raise RuntimeError("the subscribers were not sent the same")
        return time.perf_counter() - began


async def prepare(dsn: str) -> Bench:
    """A bench in an empty, migrated database."""
    db = await Database(dsn, size=10).open()
    bell = Bell()
    await bell.start()
    db.after_commit = bell.ring
    feed = Feed(db, bell)
    await feed.start()
    org = (await organisations.create(db, "Acme")).id
    operator = await callers.resolve(db, await tokens.create_for_user(db, org, "Olga"))
    guild = await guilds.create(db, operator, "sales")
    agent = await agents.create(db, operator, name="Ada", guild_id=guild.id)
    run = await runs.start(db, operator, agent_id=agent.id, kind="chat")
    ada = await callers.resolve(db, await tokens.create_for_agent(db, agent.id))
    return Bench(db, feed, operator, await callers.in_call(db, ada, run_id=run.id, tool_call_id="call", tool_name="note_write"))


async def measure(dsn: str) -> None:
    """Print the cost of a delivery for few and for many subscribers."""
    bench = await prepare(dsn)
    await bench.burst(1)
    for subscribers in (1, 50, 200):
        seconds = statistics.median([await bench.burst(subscribers) for _ in range(ROUNDS)])
        each = seconds / CHANGES / subscribers * 1e6
        print(f"{subscribers:4} subscribers: {seconds / CHANGES * 1e3:8.2f} ms a change, {each:8.1f} µs a delivery")
    await bench.feed.stop()


def main() -> None:
    """Measure on an embedded database that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder), settings={"fsync": "off"}) as postgres:
        postgres.ensure_database("feed")
        migrate.upgrade(postgres.dsn("feed"))
        asyncio.run(measure(postgres.dsn("feed")))


if __name__ == "__main__":
    main()
