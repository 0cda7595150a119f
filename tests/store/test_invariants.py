import json

import pytest

from models.kinds import NoteLevel
from store import invariants, notes, records, runs, tasks
from store.database import Database
from tests.store.tables import add_table, allow
from tests.world import World

BREAKS = [
    ("versions match", "UPDATE artifacts SET version = 7 WHERE key = 'a.md'", "a.md is at version 7, but its newest change has version 1"),
    ("versions match", "DELETE FROM file_changes WHERE kind = 'RECORD'", "leads/1 is at version 1, but no change of it is recorded"),
    (
        "versions match",
        "UPDATE artifact_collections SET version = 9 WHERE name = 'leads'",
        "collection leads is at version 9, but",
    ),
    ("versions match", "UPDATE agents SET task_version = 4 WHERE name = 'Ada'", "the task of agent Ada is at version 4, but its newest"),
    (
        "no id",
        "UPDATE file_changes SET operation = 'CREATE', display_path = replace(display_path, '/2', '/1')",
        "leads/1 was created 2 times",
    ),
    ("counters", "UPDATE artifact_collections SET record_count = 5", "collection leads counts 5 records and has 2"),
    ("counters", "UPDATE artifact_collections SET next_id = 2", "collection leads would give the id 2 next, but has record 2"),
    ("search text", "UPDATE artifacts SET search_blob = 'x' WHERE key = 'a.md'", "a.md is searched by another text"),
    ("search text", "UPDATE artifacts SET search_blob = 'x' WHERE number = 1", "record 1 of leads: is searched by another text"),
    ("search text", "UPDATE artifacts SET identity = 'x', identity_hash = 'y' WHERE number = 1", "its identity is not that of"),
    ("search text", "UPDATE artifacts SET identity_hash = 'y' WHERE number = 1", "its identity's digest does not match"),
    ("search text", "UPDATE artifacts SET content_json = content_json || '{\"zz\": 1}' WHERE number = 1", "undeclared columns: zz"),
    ("orphaned", "UPDATE artifact_collections SET deleted_at = now()", "record 1 is live in leads, which is deleted"),
    ("orphaned", "UPDATE agents SET deleted_at = now() WHERE name = 'Ada'", "a.md is live, but its agent is not"),
    ("orphaned", "UPDATE agents SET deleted_at = now() WHERE name = 'Ada'", "agent Ada is deleted, but its run"),
    ("orphaned", "UPDATE guilds SET deleted_at = now() WHERE name = 'writers'", "is in guild writers, which is deleted"),
    ("grants", "UPDATE agents SET deleted_at = now() WHERE name = 'Cyd'", "collection leads has a grant for agent"),
    (
        "grants",
        "UPDATE artifact_collections SET guild_id = (SELECT id FROM guilds WHERE name = 'writers')",
        "is a guild's own, but has a grant",
    ),
    ("organisations", "UPDATE file_changes SET display_path = 'org/x/a.md' WHERE kind = 'NOTE'", "tells of org/x/a.md"),
    ("organisations", "UPDATE file_changes SET run_id = 'none' WHERE kind = 'NOTE'", "names run none"),
    ("organisations", "UPDATE file_changes SET actor_id = 'none' WHERE kind = 'NOTE'", "was made by agent none"),
    ("feed", "UPDATE file_changes SET xid = '9000000000'", "transaction ids that are still to come"),
]


async def fill(db: Database, world: World) -> None:
    run = await runs.start(db, world.operator, agent_id=world.ada.id, kind="chat")
    await notes.write(db, world.ada.in_call(run.id, "c", "note_write"), NoteLevel.AGENT, "a.md", "Text")
    await tasks.save(db, world.operator, world.ada.id, "Do it.")
    leads = await add_table(db, world.operator)
    await allow(db, world.operator, leads, world.cyd, "READ")
    await records.add(db, world.operator, "leads", {"email": "A@x", "status": "new", "score": 1.50})
    await records.add(db, world.operator, "leads", {"status": "won"})


async def test_what_the_operations_write_is_sound(db: Database, world: World) -> None:
    await fill(db, world)
    assert await invariants.findings(db) == []


@pytest.mark.parametrize(("invariant", "statement", "message"), BREAKS)
async def test_each_break_is_found_and_named(db: Database, world: World, invariant: str, statement: str, message: str) -> None:
    await fill(db, world)
    async with db.write() as writer:
        assert await writer.execute(statement) > 0
    found = await invariants.findings(db, world.org)
    assert [finding for finding in found if invariant in finding.invariant and message in finding.message] != [], json.dumps(
        [finding.message for finding in found]
    )
    assert {finding.org_id for finding in found} == {world.org}
    assert await invariants.findings(db, world.stranger.org_id) == []


def test_every_invariant_has_a_break() -> None:
    tried = {name for name in invariants.INVARIANTS for invariant, _, _ in BREAKS if invariant in name}
    assert set(invariants.INVARIANTS) - tried == {"identities of live records are unique"}


async def test_repeated_identities_are_found_where_the_index_is_broken(db: Database, world: World) -> None:
    await fill(db, world)
    async with db.write() as writer:
        await writer.execute("DROP INDEX artifacts_live_identity")
        await writer.execute("UPDATE artifacts SET identity = 'a@x', identity_hash = sha256('a@x') WHERE number = 2")
    found = [finding.message for finding in await invariants.findings(db)]
    assert "collection leads has the same unique value in records 1, 2" in found
