from typing import Any

import pytest

from models.errors import Forbidden, NotFound, Unprocessable
from store import access, collections, records
from store.database import Database
from tests.store.tables import add_table, allow, everything
from tests.world import World

CALLERS = ("operator", "ada", "bob", "cyd", "loner", "stranger", "foreign_agent")
NONE = dict.fromkeys(CALLERS, "NONE")


async def reach(db: Database, world: World, name: str = "leads") -> dict[str, str]:
    """What each caller has on the table, found out by every way of asking, and by trying to write."""
    modes = {}
    for role in CALLERS:
        caller = getattr(world, role)
        found = await collections.get(db, caller, name=name)
        assert [row.access for row in await collections.listed(db, caller) if row.name == name] == ([found.access] if found else [])
        modes[role] = found.access if found else "NONE"
        assert modes[role] == await tried(db, caller, name)
    return modes


async def tried(db: Database, caller: Any, name: str) -> str:
    try:
        await records.remove(db, caller, name, "999")
    except Forbidden as error:
        assert error.message == f"collection {name} may only be read; writing to it needs a write grant"  # noqa: PT017  # both refusals are answers here
        return "READ"
    except NotFound as error:
        return "WRITE" if error.message.startswith("unknown record") else "NONE"
    raise AssertionError("a record that is none was removed")


async def test_without_grants_only_operators_reach_a_table(db: Database, world: World) -> None:
    await add_table(db, world.operator)
    assert await reach(db, world) == {**NONE, "operator": "WRITE"}


@pytest.mark.parametrize("mode", ["READ", "WRITE"])
async def test_a_guilds_grant_is_its_members_base(db: Database, world: World, mode: str) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.writers, mode)
    assert await reach(db, world) == {**NONE, "operator": "WRITE", "ada": mode, "bob": mode}


@pytest.mark.parametrize("base", [None, "READ", "WRITE"])
@pytest.mark.parametrize("own", ["NONE", "READ", "WRITE"])
async def test_an_agents_row_overrides_its_base(db: Database, world: World, base: str | None, own: str) -> None:
    table = await add_table(db, world.operator)
    if base:
        await allow(db, world.operator, table, world.writers, base)
    await allow(db, world.operator, table, world.bob, own)
    await allow(db, world.operator, table, world.loner, own)
    assert await reach(db, world) == {**NONE, "operator": "WRITE", "ada": base or "NONE", "bob": own, "loner": own}


@pytest.mark.parametrize("own", [None, "NONE", "READ", "WRITE"])
async def test_a_guilds_own_table(db: Database, world: World, own: str | None) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    if own:
        await allow(db, world.operator, table, world.bob, own)
    assert await reach(db, world) == {**NONE, "operator": "WRITE", "ada": "WRITE", "bob": own or "WRITE"}


async def test_a_row_of_an_agent_that_is_not_of_the_guild_counts_for_nothing(db: Database, world: World) -> None:
    table = await add_table(db, world.operator, guild=world.writers)
    async with db.write() as tx:
        await tx.execute("INSERT INTO collection_access VALUES ($1, $2, 'AGENT', $3, 'WRITE')", world.org, table.id, world.cyd.id)
        await tx.execute("INSERT INTO collection_access VALUES ($1, $2, 'GUILD', $3, 'WRITE')", world.org, table.id, world.readers)
    assert await reach(db, world) == {**NONE, "operator": "WRITE", "ada": "WRITE", "bob": "WRITE"}


async def test_what_each_role_may_do_to_records(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.writers, "READ")
    await allow(db, world.operator, table, world.ada, "WRITE")
    await records.add(db, world.operator, "leads", {"status": "new"})
    before = await everything(db)
    refusals: dict[str, type[Exception]] = {
        "bob": Forbidden,
        "cyd": NotFound,
        "loner": NotFound,
        "stranger": NotFound,
        "foreign_agent": NotFound,
    }
    for role, refusal in refusals.items():
        caller = getattr(world, role)
        for attempt in (
            records.add(db, caller, "leads", {"status": "new"}),
            records.add(db, caller, "leads", {"status": "new"}, idempotency_key="k"),
            records.update(db, caller, "leads", "1", {"score": 1}),
            records.remove(db, caller, "leads", "1"),
        ):
            with pytest.raises(refusal):
                await attempt
        assert (await records.get(db, caller, "leads", "1") is not None) is (role == "bob")
    assert await everything(db) == before
    assert (await records.add(db, world.ada, "leads", {"status": "new"})).record.created_by_name == "Ada"
    assert (await records.update(db, world.ada, "leads", "1", {"score": 1})).record.updated_by_kind == "AGENT"
    assert await records.remove(db, world.ada, "leads", "1") == "1"


async def test_for_read_and_for_write(db: Database, world: World) -> None:
    table = await add_table(db, world.operator)
    await allow(db, world.operator, table, world.bob, "READ")
    async with db.read() as reader:
        assert (await access.for_read(reader, world.bob, "leads")).access == "READ"
        with pytest.raises(NotFound, match=r"^unknown collection leads$"):
            await access.for_read(reader, world.cyd, "leads")
        with pytest.raises(Forbidden, match="collection leads may only be read"):
            await access.for_write(reader, world.bob, "leads")
        with pytest.raises(Unprocessable):
            await access.for_read(reader, world.operator, "leads\x00")
        assert [row.name for row in await access.readable(reader, world.bob)] == ["leads"]
        assert await access.readable(reader, world.cyd) == []
        assert await access.of_ids(reader, world.cyd, [table.id]) == []
