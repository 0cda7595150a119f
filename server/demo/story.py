"""Who acts in the demo, and when: everything is done through the store's operations, on a clock that begins some days ago."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from models import clock
from models.caller import ActorKind, Caller
from store import organisations, runs
from store.agents import AgentRow
from store.database import Database

DAYS = 6
OPERATOR = "Maren Holt"


@dataclass(slots=True)
class Story:
    """The organisation as far as it has come."""

    db: Database
    org_id: str
    operator: Caller
    start: datetime
    time: datetime
    guilds: dict[str, str] = field(default_factory=dict)
    agents: dict[str, Caller] = field(default_factory=dict)
    calls: int = 0

    @classmethod
    async def begin(cls, db: Database, org_id: str) -> Self:
        """At eight in the morning, some days ago, with one person."""
        today = clock.now().replace(hour=8, minute=0, second=0, microsecond=0)
        start = today - timedelta(days=DAYS)
        story = cls(db, org_id, Caller(org_id, ActorKind.USER, "", OPERATOR), start, start)
        clock.set_clock(story.moment)
        person = await organisations.operator(db, org_id, OPERATOR)
        story.operator = Caller(org_id, ActorKind.USER, person.id, OPERATOR)
        return story

    def moment(self) -> datetime:
        """The story's time, which goes on by some seconds whenever somebody looks."""
        self.time += timedelta(seconds=7)
        return self.time

    def at(self, day: int, hour: int, minute: int = 0) -> None:
        """Go on to this time of a day of the story, counted from 0; never back."""
        self.time = max(self.time, self.start + timedelta(days=day, hours=hour - self.start.hour, minutes=minute))

    def add_agent(self, row: AgentRow) -> None:
        """Take in an agent as it was made."""
        self.agents[row.name] = Caller(
            org_id=self.org_id,
            kind=ActorKind.AGENT,
            id=row.id,
            name=row.name,
            guild_id=row.guild_id,
            read_guild=row.read_guild,
            read_org=row.read_org,
            write_guild=row.write_guild,
            write_org=row.write_org,
        )

    def path(self, owner: str, key: str) -> str:
        """The display path of a file of a guild, of an agent, or (with no owner) of the organisation."""
        if not owner:
            return f"org/{self.org_id}/{key}"
        kind, owner_id = ("guilds", self.guilds[owner]) if owner in self.guilds else ("agents", self.agents[owner].id)
        return f"org/{self.org_id}/{kind}/{owner_id}/{key}"

    @contextlib.asynccontextmanager
    async def run(self, agent: str, kind: str = "chat", routine: str | None = None) -> AsyncIterator["Run"]:
        """A run of the agent, completed at the end."""
        started = await runs.start(self.db, self.operator, agent_id=self.agents[agent].id, kind=kind, routine=routine)
        yield Run(self, self.agents[agent], started.id)
        await runs.finish(self.db, self.operator, started.id, "completed")


@dataclass(frozen=True, slots=True)
class Run:
    """A run in which an agent calls its tools."""

    story: Story
    agent: Caller
    run_id: str

    def call(self, tool: str) -> Caller:
        """The agent in its next tool call."""
        self.story.calls += 1
        return self.agent.in_call(self.run_id, f"call_{self.story.calls:04}", tool)
