import json
from typing import Any

import pytest

from models.errors import Conflict, Forbidden, LimitExceeded, NotFound, Unprocessable
from models.limits import COLLECTIONS_PER_ORG
from store import collections, grants, records
from store.database import Database
from tests import world as worlds
from tests.store.tables import LEADS, add_table, allow, bodies, column, counters, everything, trail
from tests.world import World


async def test_a_new_table(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    assert (table.name, table.purpose, table.scope, table.guild_id) == ("leads", "Who may buy.", "ORG", None)
    assert (table.record_count, table.version, table.access) == (0, 1, "WRITE")
    assert table.display_path == f"org/{world.org}/collections/leads"
    assert (table.created_by_kind, table.created_by_id, table.created_by_name) == ("USER", world.operator.id, "Olga")
    assert [item["name"] for item in json.loads(table.columns)] == ["email", "status", "score", "signed_up_at"]
    assert await trail(db, world.org) == [("CREATE", "leads", 1, "leads", "Olga")]
    assert await collections.get(db, world.operator, collection_id=table.id) == table
    assert await collections.get(db, world.operator, name="leads") == table
    assert await collections.get(db, world.operator, collection_id=table.id, name="other") is None
    assert await collections.by_ids(db, world.operator, [table.id, "nope", "\x00"]) == {table.id: table}


async def test_every_problem_of_a_new_table_is_told(db: Database, world: World) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable) as refused:
        await collections.create(
            db, world.operator, name="Leads", purpose="x" * 401, columns=[column("id"), column("b", rename_from="a"), {"name": "c"}]
        )
    assert refused.value.message.splitlines() == [
        "collection rejected",
        '- name must match ^[a-z][a-z0-9_-]{0,62}$; got "Leads"',
        "- purpose has 401 characters; at most 400 are allowed",
        '- column "id": name is reserved; reserved are created_at, created_by, id, updated_at, updated_by',
        '- column "c": type must be one of text, number, boolean, datetime, array; got null',
        '- column "c": description is required, since agents read it',
        '- column "b": rename_from is for changing a table; a new one has no column to rename',
    ]
    assert await everything(db) == before


@pytest.mark.parametrize("name", ["", "1a", "a b", "a\n", "a" * 64, "é", "a\x00", "_a"])
async def test_names_that_are_none(db: Database, world: World, name: str) -> None:
    with pytest.raises(Unprocessable, match="collection rejected\n- name must match"):
        await collections.create(db, world.operator, name=name, purpose="p", columns=LEADS)


@pytest.mark.parametrize("purpose", ["", " \n", "a\x00", "\ud800"])
async def test_purposes_that_are_none(db: Database, world: World, purpose: str) -> None:
    with pytest.raises(Unprocessable, match="collection rejected\n- purpose"):
        await collections.create(db, world.operator, name="a", purpose=purpose, columns=LEADS)


async def test_a_name_is_taken_among_the_living_whatever_the_scope(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    other = await add_table(db, world.operator, "other")
    before = await everything(db)
    for attempt in (add_table(db, world.operator), collections.update(db, world.operator, other.id, name="leads")):
        with pytest.raises(Conflict, match="a collection of this name exists already"):
            await attempt
    assert await everything(db) == before
    await collections.delete(db, world.operator, table.id)
    assert (await add_table(db, world.operator)).version == 3
    assert (await add_table(db, world.stranger)).version == 1


async def test_a_hundred_tables_and_no_more(db: Database, world: World) -> None:
    first = await add_table(db, world.operator, "t0")
    async with db.write() as tx:
        await tx.execute(
            """INSERT INTO artifact_collections SELECT (jsonb_populate_record(k, jsonb_build_object('id', n::text, 'name', 't' || n))).*
            FROM artifact_collections k, generate_series(1, $1) n""",
            COLLECTIONS_PER_ORG - 2,
        )
    await add_table(db, world.operator, "hundredth")
    before = await everything(db)
    with pytest.raises(LimitExceeded, match="the organisation has 100 collections; the limit is 100"):
        await add_table(db, world.operator, "more")
    assert await everything(db) == before
    await add_table(db, world.stranger, "more")
    await collections.delete(db, world.operator, first.id)
    await add_table(db, world.operator, "more")


async def test_agents_manage_no_tables(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    before = await everything(db)
    for attempt in (
        add_table(db, world.ada, "mine"),
        collections.update(db, world.ada, table.id, purpose="x"),
        collections.delete(db, world.ada, table.id),
        collections.clear(db, world.ada, table.id),
    ):
        with pytest.raises(Forbidden):
            await attempt
    assert await everything(db) == before


async def test_another_organisations_table_is_unknown(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    before = await everything(db)
    for attempt in (
        collections.update(db, world.stranger, table.id, purpose="x"),
        collections.delete(db, world.stranger, table.id),
        collections.clear(db, world.stranger, table.id),
    ):
        with pytest.raises(NotFound, match="unknown collection"):
            await attempt
    assert await collections.get(db, world.stranger, collection_id=table.id) is None
    assert await collections.get(db, world.stranger, name="leads") is None
    assert await collections.listed(db, world.stranger) == []
    assert await collections.by_ids(db, world.stranger, [table.id]) == {}
    assert await everything(db) == before


async def test_a_rename_carries_the_records_paths_along(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await records.add(db, world.operator, "leads", {"status": "new"})
    renamed = await collections.update(db, world.operator, table.id, name="customers", purpose="Who bought.")
    assert (renamed.name, renamed.purpose, renamed.version, renamed.updated_by_name) == ("customers", "Who bought.", 2, "Olga")
    record = await records.get(db, world.operator, "customers", "1")
    assert record is not None
    assert (record.display_path, record.version) == (f"org/{world.org}/collections/customers/1", 1)
    assert await collections.get(db, world.operator, name="leads") is None
    assert (await trail(db, world.org))[-1] == ("UPDATE", "customers", 2, "customers", "Olga")
    async with db.read() as reader:
        previous = await reader.value("SELECT previous_path FROM file_changes WHERE version = 2 AND kind = 'COLLECTION'")
    assert previous == f"org/{world.org}/collections/leads"
    assert (await add_table(db, world.operator)).version == 3


async def test_clearing_keeps_the_table_its_grants_and_its_counter(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.writers, "WRITE")
    for _ in range(3):
        await records.add(db, world.ada, "leads", {"status": "new"})
    assert await collections.clear(db, world.operator, table.id) == 3
    assert await counters(db, table) == (4, 0)
    assert await bodies(db, table) == {}
    assert (await trail(db, world.org))[-1] == ("CLEAR", "leads", 3, "leads", "Olga")
    assert (await records.add(db, world.ada, "leads", {"status": "new"})).record.id == "4"
    assert await collections.clear(db, world.operator, table.id) == 1
    assert await collections.clear(db, world.operator, table.id) == 0


async def test_deleting_drops_records_and_grants(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.writers, "WRITE")
    await records.add(db, world.ada, "leads", {"status": "new"})
    change = await collections.delete(db, world.operator, table.id)
    assert (change.kind, change.operation, change.version, change.display_path) == ("COLLECTION", "DELETE", 3, table.display_path)
    assert (change.collection_id, change.recorded, change.actor_name) == (table.id, True, "Olga")
    assert await bodies(db, table) == {}
    assert await grants.of_collections(db, world.operator, [table.id]) == {}
    assert await collections.listed(db, world.operator) == []
    with pytest.raises(NotFound, match="unknown collection leads"):
        await records.add(db, world.ada, "leads", {"status": "new"})
    with pytest.raises(NotFound):
        await collections.delete(db, world.operator, table.id)


async def access_of(db: Database, world: World) -> dict[str, Any]:
    """The mode of each agent on the one table."""
    agents = (world.ada, world.bob, world.cyd, world.loner)
    found = await grants.agent_access(db, world.operator, [agent.id for agent in agents])
    return {agent.name: [row.effective for row in found.get(agent.id, [])] for agent in agents}


async def test_moving_to_a_guild_drops_every_grant(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.readers, "READ")
    await allow(db, world.operator, table, world.bob, "NONE")
    moved = await collections.update(db, world.operator, table.id, guild_id=world.writers)
    assert (moved.scope, moved.guild_id) == ("GUILD", world.writers)
    assert await grants.of_collections(db, world.operator, [table.id]) == {}
    assert await access_of(db, world) == {"Ada": ["WRITE"], "Bob": ["WRITE"], "Cyd": [], "Loner": []}


async def test_moving_to_the_organisation_keeps_the_guilds_reach_and_its_members_rows(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    await allow(db, world.operator, table, world.bob, "NONE")
    moved = await collections.update(db, world.operator, table.id, guild_id=None)
    assert (moved.scope, moved.guild_id) == ("ORG", None)
    rows = (await grants.of_collections(db, world.operator, [table.id]))[table.id]
    assert [(row.subject_type, row.subject_name, row.mode) for row in rows] == [("GUILD", "writers", "WRITE"), ("AGENT", "Bob", "NONE")]
    assert await access_of(db, world) == {"Ada": ["WRITE"], "Bob": ["NONE"], "Cyd": ["NONE"], "Loner": ["NONE"]}
    again = await collections.update(db, world.operator, table.id, guild_id=None, purpose="Same place.")
    assert again.scope == "ORG"
    assert len((await grants.of_collections(db, world.operator, [table.id]))[table.id]) == 2


async def test_moving_from_guild_to_guild_drops_the_members_rows(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    await allow(db, world.operator, table, world.bob, "READ")
    await collections.update(db, world.operator, table.id, guild_id=world.readers)
    assert await grants.of_collections(db, world.operator, [table.id]) == {}
    assert await access_of(db, world) == {"Ada": [], "Bob": [], "Cyd": ["WRITE"], "Loner": []}


async def test_a_guild_must_be_known(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    foreign = await worlds.add_guild(db, world.stranger.org_id, "theirs")
    before = await everything(db)
    for guild in ("nope", foreign):
        for attempt in (add_table(db, world.operator, "b", guild=guild), collections.update(db, world.operator, table.id, guild_id=guild)):
            with pytest.raises(NotFound, match=f"unknown guild {guild}"):
                await attempt
    assert await everything(db) == before


async def test_the_tables_of_a_deleted_guild_go_with_it(db: Database, world: World) -> None:
    own = await add_table(db, world.operator, "own", guild=world.writers)
    await add_table(db, world.operator, "kept")
    await records.add(db, world.ada, "own", {"status": "new"})
    async with db.write() as writer:
        await collections.delete_of_guild(writer, world.operator, world.writers)
    assert [row.name for row in await collections.listed(db, world.operator)] == ["kept"]
    assert await bodies(db, own) == {}
    assert (await trail(db, world.org))[-1] == ("DELETE", "own", 2, "own", "Olga")
