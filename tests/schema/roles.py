"""An organisation furnished with one of everything, and every role that may ask about it."""

from dataclasses import dataclass, replace
from typing import Any

from models.caller import Caller
from models.kinds import AccessMode, NoteLevel, SubjectType
from store import agents, collections, grants, memory, notes, records, runs, schedules, scripts
from store.database import Database
from tests import world as worlds
from tests.schema.asking import ask
from tests.store.tables import LEADS
from tests.store.trail import everything
from tests.world import World

ROLES = ("operator", "writer", "reader", "without", "held", "other_guild", "stranger", "foreign_agent", "nobody")


@dataclass(frozen=True)
class Furnished:
    """The callers by role, and the variables that any of the operations below may use."""

    db: Database
    callers: dict[str, Caller | None]
    variables: dict[str, Any]

    async def ask(self, role: str, operation: str) -> Any:
        """The answer to an operation of which only the variables that it names are sent."""
        named = {name: value for name, value in self.variables.items() if f"${name}" in operation}
        types = ", ".join(f"${name}: {'JSON!' if name == 'body' else 'ID!' if name.endswith('Id') else 'String!'}" for name in named)
        kind, _, text = operation.partition(" ")
        return await ask(self.db, self.callers[role], f"{kind} ({types}) {text}" if named else operation, **named)


async def furnish(db: Database, world: World) -> Furnished:
    """Ada writes `leads` by a row of her own, Bob reads it by his guild's, a row holds Dan of that guild back, the others have none."""
    olga, ada = world.operator, world.ada
    table = await collections.create(db, olga, name="leads", purpose="Who may buy.", columns=LEADS)
    await collections.create(db, olga, name="own", purpose="Theirs.", columns=LEADS, guild_id=world.readers)
    await _grant(db, olga, table.id, SubjectType.GUILD, world.writers, AccessMode.READ)
    await _grant(db, olga, table.id, SubjectType.AGENT, ada.id, AccessMode.WRITE)
    for name in ("leads", "own"):
        await records.add(db, olga, name, {"email": "a@x.example", "status": "new"})
    org = await notes.write(db, olga, NoteLevel.ORG, "org.md", "of the organisation")
    guild = await notes.write(db, ada, NoteLevel.GUILD, "guild.md", "of the writers")
    mine = await notes.write(db, ada, NoteLevel.AGENT, "mine.md", "of Ada")
    for text in ("first", "second"):
        await memory.write(db, ada, text)
    script = await scripts.write(db, ada, "s.py", "pass")
    routine = await schedules.save(db, olga, agent_id=ada.id, name="daily", instruction="Look.")
    run = await runs.start(db, olga, agent_id=ada.id, kind="chat")
    (revision,) = (await memory.revisions(db, olga, [ada.id]))[ada.id]
    held = replace(world.bob, id=await _dan(db, world, table.id), name="Dan")
    variables = {
        "orgNote": org.display_path,
        "guildNote": guild.display_path,
        "agentNote": mine.display_path,
        "script": script.display_path,
        "revision": revision.display_path,
        "record": f"{table.display_path}/1",
        "tableId": table.id,
        "guildId": world.writers,
        "agentId": ada.id,
        "runId": run.id,
        "routineId": routine.id,
        "body": {"email": "b@x.example", "status": "won"},
    }
    callers = {
        "operator": olga,
        "writer": ada,
        "reader": world.bob,
        "without": world.loner,
        "held": held,
        "other_guild": world.cyd,
        "stranger": world.stranger,
        "foreign_agent": world.foreign_agent,
        "nobody": None,
    }
    return Furnished(db, callers, variables)


async def _grant(db: Database, operator: Caller, table: str, kind: SubjectType, subject: str, mode: AccessMode) -> None:
    await grants.set_grant(db, operator, collection_id=table, subject_type=kind, subject_id=subject, mode=mode)


async def _dan(db: Database, world: World, table: str) -> str:
    made = await agents.create(db, world.operator, name="Dan", guild_id=world.writers)
    await _grant(db, world.operator, table, SubjectType.AGENT, made.id, AccessMode.NONE)
    return str(made.id)


async def again(db: Database) -> World:
    """The world anew, after a role has changed it."""
    tables = "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
    async with db.write() as tx:
        await tx.execute(f"TRUNCATE {await tx.value(tables)}")
    return await worlds.build(db)


async def outcome(furnished: Furnished, role: str, operation: str) -> str:
    """`ok`, `null` where the only field is null, or the error's code; a refusal is also shown to change nothing."""
    before = await everything(furnished.db)
    answer = await furnished.ask(role, operation)
    if "errors" not in answer:
        (value,) = answer["data"].values()
        return "null" if value is None else "ok"
    assert await everything(furnished.db) == before
    (error,) = answer["errors"]
    return str(error["extensions"]["code"])
