import asyncio
from typing import Any

import pytest

from models.errors import Forbidden, MunimentError, NotFound, Unprocessable
from models.kinds import AccessMode, SubjectType
from store import collections, grants
from store.database import Database, Row
from tests.store.tables import add_table, allow, everything, trail
from tests.world import World


def shape(row: Any) -> tuple[Any, ...]:
    return (row.scope, row.base, row.grant, row.effective)


async def listed(db: Database, world: World, table: Row) -> list[tuple[str, str, str]]:
    found = await grants.of_collections(db, world.operator, [table.id])
    return [(row.subject_type, row.subject_name, row.mode) for row in found.get(table.id, [])]


async def test_granting_is_a_change_of_the_table(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    assert shape(await allow(db, world.operator, table, world.writers, "READ")) == ("ORG", "READ", "READ", "READ")
    assert shape(await allow(db, world.operator, table, world.bob, "WRITE")) == ("ORG", "READ", "WRITE", "WRITE")
    assert shape(await allow(db, world.operator, table, world.bob, "NONE")) == ("ORG", "READ", "NONE", "NONE")
    assert await listed(db, world, table) == [("GUILD", "writers", "READ"), ("AGENT", "Bob", "NONE")]
    assert shape(await allow(db, world.operator, table, world.bob, None)) == ("ORG", "READ", None, "READ")
    assert shape(await allow(db, world.operator, table, world.writers, None)) == ("ORG", None, None, "NONE")
    assert await listed(db, world, table) == []
    assert (await trail(db, world.org))[1:] == [("GRANT", "leads", version, "leads", "Olga") for version in range(2, 7)]
    after = await collections.get(db, world.operator, name="leads")
    assert after is not None
    assert after.version == 6


async def test_a_guilds_own_table_takes_rows_of_its_agents_only(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    before = await everything(db)
    for subject, message in (
        (world.writers, "is a guild's own table and takes no guild grant"),
        (world.readers, "is a guild's own table and takes no guild grant"),
        (world.cyd, "only agents of that guild take a grant on it"),
        (world.loner, "only agents of that guild take a grant on it"),
    ):
        for mode in ("READ", "WRITE", None):
            with pytest.raises(Unprocessable, match=message):
                await allow(db, world.operator, table, subject, mode)
    assert await everything(db) == before
    assert shape(await allow(db, world.operator, table, world.bob, "READ")) == ("GUILD", "WRITE", "READ", "READ")


async def test_a_guild_is_not_refused_by_a_row(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    before = await everything(db)
    with pytest.raises(Unprocessable, match="a guild's grant is READ or WRITE"):
        await allow(db, world.operator, table, world.writers, "NONE")
    assert await everything(db) == before


async def test_unknown_subjects_and_tables(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    before = await everything(db)
    wrong: list[tuple[str, SubjectType, str, type[MunimentError]]] = [
        (table.id, SubjectType.GUILD, world.ada.id, NotFound),
        (table.id, SubjectType.AGENT, world.writers, NotFound),
        (table.id, SubjectType.AGENT, world.foreign_agent.id, NotFound),
        (table.id, SubjectType.AGENT, world.operator.id, NotFound),
        ("nope", SubjectType.AGENT, world.ada.id, NotFound),
        (table.id, SubjectType.AGENT, "a\x00", Unprocessable),
        ("\ud800", SubjectType.AGENT, world.ada.id, Unprocessable),
    ]
    for collection_id, kind, subject_id, refusal in wrong:
        with pytest.raises(refusal):
            await grants.set_grant(
                db, world.operator, collection_id=collection_id, subject_type=kind, subject_id=subject_id, mode=AccessMode.READ
            )
    with pytest.raises(NotFound, match="unknown collection"):
        await allow(db, world.stranger, table, world.foreign_agent, "READ")
    assert await everything(db) == before


async def test_agents_neither_grant_nor_read_grants(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    before = await everything(db)
    for attempt in (
        allow(db, world.ada, table, world.ada, "WRITE"),
        grants.of_collections(db, world.ada, [table.id]),
        grants.guild_access(db, world.ada, [world.writers]),
        grants.agent_access(db, world.ada, [world.ada.id, world.bob.id]),
    ):
        with pytest.raises(Forbidden):
            await attempt
    assert await everything(db) == before


async def test_what_guilds_and_agents_reach(db: Database, world: World) -> None:
    granted, ungranted = await add_table(db, world.operator, "b_granted"), await add_table(db, world.operator, "a_not")
    own = await add_table(db, world.operator, "own", guild=world.writers)
    await add_table(db, world.operator, "theirs", guild=world.readers)
    await allow(db, world.operator, granted, world.writers, "READ")
    await allow(db, world.operator, granted, world.bob, "WRITE")
    await allow(db, world.operator, own, world.bob, "READ")
    names = {own.id: "own", granted.id: "granted", ungranted.id: "not"}

    def told(rows: list[Row]) -> list[tuple[Any, ...]]:
        return [(names.get(row.collection_id, "theirs"), *shape(row)) for row in rows]

    guilds = await grants.guild_access(db, world.operator, [world.writers, "nope", "\x00"])
    assert list(guilds) == [world.writers]
    assert told(guilds[world.writers]) == [
        ("own", "GUILD", "WRITE", None, "WRITE"),
        ("not", "ORG", None, None, "NONE"),
        ("granted", "ORG", "READ", "READ", "READ"),
    ]
    agents = await grants.agent_access(db, world.operator, [world.ada.id, world.bob.id, world.loner.id])
    assert told(agents[world.ada.id]) == [
        ("own", "GUILD", "WRITE", None, "WRITE"),
        ("not", "ORG", None, None, "NONE"),
        ("granted", "ORG", "READ", None, "READ"),
    ]
    assert told(agents[world.bob.id]) == [
        ("own", "GUILD", "WRITE", "READ", "READ"),
        ("not", "ORG", None, None, "NONE"),
        ("granted", "ORG", "READ", "WRITE", "WRITE"),
    ]
    assert told(agents[world.loner.id]) == [("not", "ORG", None, None, "NONE"), ("granted", "ORG", None, None, "NONE")]
    mine = await grants.agent_access(db, world.bob, [world.bob.id])
    assert told(mine[world.bob.id]) == [("own", "GUILD", "WRITE", "READ", "READ"), ("granted", "ORG", "READ", "WRITE", "WRITE")]
    assert await grants.agent_access(db, world.stranger, [world.ada.id]) == {}
    assert await grants.guild_access(db, world.stranger, [world.writers]) == {}
    assert await grants.of_collections(db, world.stranger, [granted.id]) == {}


async def test_a_subject_that_goes_takes_its_rows_along(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    own = await add_table(db, world.operator, "own", guild=world.writers)
    for agent in (world.ada, world.bob):
        await allow(db, world.operator, table, agent, "READ")
        await allow(db, world.operator, own, agent, "READ")
    async with db.write() as writer:
        await grants.drop_subject(writer, world.operator, SubjectType.AGENT, world.ada.id)
        await grants.drop_subject(writer, world.operator, SubjectType.AGENT, world.bob.id, guild_id=world.writers)
        await grants.drop_subject(writer, world.operator, SubjectType.GUILD, world.readers)
    assert await listed(db, world, table) == [("AGENT", "Bob", "READ")]
    assert await listed(db, world, own) == []
    assert sorted((await trail(db, world.org))[-3:]) == [
        ("GRANT", "leads", 4, "leads", "Olga"),
        ("GRANT", "own", 4, "own", "Olga"),
        ("GRANT", "own", 5, "own", "Olga"),
    ]


async def test_grants_that_are_made_at_once_all_count(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    agents = (world.ada, world.bob, world.cyd, world.loner)
    await asyncio.gather(*(allow(db, world.operator, table, agent, "READ") for agent in agents for _ in range(3)))
    assert len(await listed(db, world, table)) == 4
    assert [version for _, _, version, _, _ in await trail(db, world.org)] == list(range(1, 14))
