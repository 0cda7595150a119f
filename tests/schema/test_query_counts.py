"""Lists cost the same number of statements however long they are."""

import pytest

from models.caller import Caller
from models.kinds import AccessMode, NoteLevel, SubjectType
from store import agents, collections, grants, guilds, memory, notes, records, runs, schedules, scripts, tasks
from store.database import Database
from tests.schema.asking import data
from tests.store.statements import counted
from tests.store.tables import LEADS
from tests.world import World

CHANGE = "{ cursor actor { name } run { id agent { name guild { name } } guild { name } } }"


async def furnish(db: Database, operator: Caller, round_: int) -> None:
    """One more of everything."""
    guild = await guilds.create(db, operator, f"guild {round_}")
    agent = await agents.create(db, operator, name=f"agent {round_}", guild_id=guild.id, task="Work.")
    await tasks.save(db, operator, agent.id, "Work well.")
    for level, owner in ((NoteLevel.ORG, None), (NoteLevel.GUILD, guild.id), (NoteLevel.AGENT, agent.id)):
        await notes.write(db, operator, level, f"note-{round_}.md", "text", owner)
    for text in ("first", "second"):
        await memory.write(db, operator, text, agent_id=agent.id)
    await scripts.write(db, operator, f"s{round_}.py", "pass", agent_id=agent.id)
    await schedules.save(db, operator, agent_id=agent.id, name="daily", instruction="Look.")
    table = await collections.create(db, operator, name=f"table_{round_}", purpose="Some.", columns=LEADS)
    guild_row = {"subject_type": SubjectType.GUILD, "subject_id": guild.id, "mode": AccessMode.READ}
    await grants.set_grant(db, operator, collection_id=table.id, **guild_row)
    run = await runs.start(db, operator, agent_id=agent.id, kind="chat")
    working = Caller(org_id=operator.org_id, kind=operator.kind, id=operator.id, name=operator.name).in_call(run.id, "call", "tool")
    for name in {table.name, "table_0"}:
        await records.add(db, working, name, {"email": f"{round_}@x.example", "status": "new"})


QUERIES = {
    "{ organisation { guilds { name agents { name guild { name } } notes { key content } } } }": 5,
    "{ organisation { guilds { notes { key latestChange CHANGE } } } }": 4,
    "{ organisation { guilds { notes { key changes(limit: 2) CHANGE } } } }": 4,
    "{ organisation { guilds { collectionAccess { effective collection { name guild { name } } } } } }": 4,
    "{ organisation { agents { name guild { name } notes { key } scripts { name latestChange CHANGE } routines { name } } } }": 7,
    "{ organisation { agents { task { latestChange CHANGE revisions { content } } memory { content revisions { version } } } } }": 7,
    "{ organisation { agents { collectionAccess { base grant effective collection { name latestChange CHANGE } } } } }": 5,
    "{ organisation { collections { guild { name } grants { mode collection { name } } latestChange CHANGE } notes { key } } }": 6,
    "{ collections { name records(limit: 3) { total records { id } } } }": 2,
    '{ recordList(collection: "table_0") { records { id body latestChange CHANGE } } }': 6,
    '{ recordList(collection: "table_0") { records { changes(limit: 3) CHANGE } } }': 6,
    '{ recordSearch(query: "new") { records { id collection latestChange CHANGE } } }': 6,
    '{ collection(name: "table_0") { records { records { id latestChange CHANGE } } } }': 7,
    "{ notes(level: ORG) { key changes CHANGE } }": 2,
    '{ noteFind(query: "text") { notes { key snippet } } }': 1,
    "{ fileChanges(limit: 100) CHANGE }": 5,
}


@pytest.mark.parametrize(("query", "statements"), QUERIES.items(), ids=range(len(QUERIES)))
async def test_a_longer_list_costs_no_further_statement(db: Database, world: World, query: str, statements: int) -> None:
    query = query.replace("CHANGE", CHANGE)
    sent = []
    for sizes in (range(2), range(2, 6)):
        for round_ in sizes:
            await furnish(db, world.operator, round_)
        with counted() as found:
            await data(db, world.operator, query)
        sent.append(len(found))
    assert sent == [statements, statements]
