"""An organisation with something of everything, whose ids and times are always the same."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from models import clock
from models.caller import ActorKind, Caller
from models.kinds import AccessMode, NoteLevel, SubjectType
from store import agents, collections, grants, guilds, memory, notes, record_batch, records, runs, schedules, scripts, tasks
from store.database import Database
from tests.store.tables import LEADS, column

Made = TypeVar("Made")
BEGINNING = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
ORG = "acme"
OLGA = Caller(org_id=ORG, kind=ActorKind.USER, id="olga", name="Olga")
ADA = Caller(org_id=ORG, kind=ActorKind.AGENT, id="ada", name="Ada", guild_id="sales", read_guild=True, read_org=True, write_guild=True)


class Time:
    """Stands still but for one minute with each thing that is made."""

    def __init__(self) -> None:
        self.minutes = 0

    def __call__(self) -> datetime:
        return BEGINNING + timedelta(minutes=self.minutes)


@dataclass(frozen=True)
class Office:
    """The database of the office, and its clock."""

    db: Database
    time: Time

    async def make(self, made_id: str, made: Callable[..., Awaitable[Made]], /, *arguments: Any, **named: Any) -> Made:
        """Do one thing a minute after the last; ids that it needs are the given one, then that with a number."""
        self.time.minutes += 1
        self.name(made_id)
        return await made(self.db, *arguments, **named)

    def name(self, name: str) -> None:
        """Name what is made from now on."""
        numbers = itertools.count(1)
        clock.set_ids(lambda: name if (number := next(numbers)) == 1 else f"{name}-{number}")


async def build(db: Database) -> Office:
    """The office. The clock of this context is set, and stays so."""
    office = Office(db, Time())
    clock.set_clock(office.time)
    await _people(office)
    await _texts(office)
    await _tables(office)
    await _runs(office)
    return office


async def _people(office: Office) -> None:
    async with office.db.write() as tx:
        await tx.execute("INSERT INTO organisations VALUES ($1, 'Acme', $2)", ORG, BEGINNING)
        await tx.execute("INSERT INTO users VALUES ($1, 'olga', 'Olga', $2)", ORG, BEGINNING)
        await tx.execute("INSERT INTO memberships (org_id, user_id, role, created_at) VALUES ($1, 'olga', 'operator', $2)", ORG, BEGINNING)
    for guild in ("sales", "support"):
        await office.make(guild, guilds.create, OLGA, guild.title())
    for agent, guild in (("ada", "sales"), ("bob", "sales"), ("cyd", "support")):
        await office.make(agent, agents.create, OLGA, name=agent.title(), guild_id=guild)
    await office.make("loner", agents.create, OLGA, name="Loner")


async def _texts(office: Office) -> None:
    await office.make("handbook", notes.write, OLGA, NoteLevel.ORG, "handbook.md", "# Handbook\n\nBe kind to leads.")
    await office.make("handbook", notes.write, OLGA, NoteLevel.ORG, "handbook.md", "# Handbook\n\nBe kind to leads and to each other.")
    await office.make("playbook", notes.write, ADA, NoteLevel.GUILD, "playbook.md", "Call before noon.\n\nSee [[handbook.md]].")
    await office.make("todo", notes.write, ADA, NoteLevel.AGENT, "todo.md", "- call Grace")
    for text in ("Find new leads.", f"Find new leads.\n\n![[org/{ORG}/handbook.md]]"):
        await office.make("task", tasks.save, OLGA, "ada", text)
    for text in ("Grace answers in the morning.", "Grace answers in the morning. Alan never does."):
        await office.make("memory", memory.write, ADA, text)
    await office.make("script", scripts.write, ADA, "clean.py", "print('clean')\n")


async def _tables(office: Office) -> None:
    await office.make("leads", collections.create, OLGA, name="leads", purpose="Who may buy.", columns=LEADS)
    queue = [column("subject", required=True), column("urgent", "boolean"), column("tags", "array")]
    await office.make("queue", collections.create, OLGA, name="queue", purpose="What waits.", columns=queue, guild_id="support")
    bodies = [
        {"email": "grace@navy.example", "status": "contacted", "score": 9.5, "signed_up_at": "2026-05-30T10:00:00+02:00"},
        {"email": "alan@bletchley.example", "status": "new"},
    ]
    await office.make("lead", record_batch.add_many, OLGA, "leads", bodies)
    for kind, subject, mode in ((SubjectType.GUILD, "sales", AccessMode.READ), (SubjectType.AGENT, "ada", AccessMode.WRITE)):
        await office.make("grant", grants.set_grant, OLGA, collection_id="leads", subject_type=kind, subject_id=subject, mode=mode)


async def _runs(office: Office) -> None:
    await office.make("digest", schedules.save, OLGA, agent_id="ada", name="digest", instruction="Tell what is new.")
    await office.make("run-1", schedules.fire, OLGA, "digest")
    working = replace(ADA, run_id="run-1", tool_call_id="call-1", tool_name="record_add")
    await office.make("lead-3", records.add, working, "leads", {"email": "ada@engine.example", "status": "new", "score": 7})
    await office.make(
        "lead-3", records.update, replace(working, tool_call_id="call-2", tool_name="record_update"), "leads", "3", {"score": 8}
    )
    await office.make("run-1", runs.finish, OLGA, "run-1", "completed")
    await office.make("run-2", runs.start, OLGA, agent_id="ada", kind="chat")
    office.time.minutes += 1
    office.name("new")
