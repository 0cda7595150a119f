"""Tokens: shown once, kept as a digest, listed without secrets, revoked by id or by themselves."""

import asyncio

import pytest

from models.errors import NotFound, Unauthenticated, Unprocessable
from store import agents, callers, organisations, tokens
from store.database import Database
from tests.store.trail import everything
from tests.world import World


async def stored(db: Database) -> str:
    async with db.read() as reader:
        return str(await reader.value("SELECT jsonb_agg(t)::text FROM tokens t"))


async def test_a_token_of_a_user(db: Database, world: World) -> None:
    secret = await tokens.create_for_user(db, world.org, "Olga")
    assert secret.startswith("mun_")
    assert len(secret) == 47
    assert secret not in await stored(db)
    caller = await callers.resolve(db, secret)
    assert (caller.org_id, caller.kind, caller.id, caller.name) == (world.org, "USER", world.operator.id, "Olga")
    assert not caller.is_agent


async def test_a_token_of_a_new_user(db: Database, world: World) -> None:
    first = await callers.resolve(db, await tokens.create_for_user(db, world.org, "Nora"))
    second = await callers.resolve(db, await tokens.create_for_user(db, world.org, "Nora"))
    assert first.id == second.id != world.operator.id
    assert first.token_id != second.token_id
    assert first.name == "Nora"


async def test_users_made_at_once_are_one(db: Database, world: World) -> None:
    secrets = await asyncio.gather(*(tokens.create_for_user(db, world.org, "Nora") for _ in range(6)))
    assert len({(await callers.resolve(db, secret)).id for secret in secrets}) == 1


async def test_a_token_of_an_agent_needs_no_organisation(db: Database, world: World) -> None:
    caller = await callers.resolve(db, await tokens.create_for_agent(db, world.ada.id))
    assert (caller.org_id, caller.kind, caller.id, caller.name, caller.guild_id) == (world.org, "AGENT", world.ada.id, "Ada", world.writers)


async def test_creation_refuses(db: Database, world: World) -> None:
    other = world.stranger.org_id
    before = await everything(db)
    with pytest.raises(NotFound, match="unknown organisation nowhere"):
        await tokens.create_for_user(db, "nowhere", "Nora")
    with pytest.raises(NotFound, match="unknown agent nobody"):
        await tokens.create_for_agent(db, "nobody")
    with pytest.raises(NotFound, match="unknown agent"):
        await tokens.create_for_agent(db, world.ada.id, org_id=other)
    for name in ("", "  ", "a\x00", "x" * 201, "a\nb"):
        with pytest.raises(Unprocessable):
            await tokens.create_for_user(db, world.org, name)
    assert await everything(db) == before


async def test_listed_by_organisation_without_secrets(db: Database, world: World) -> None:
    secrets = [
        await tokens.create_for_user(db, world.org, "Olga", name="laptop"),
        await tokens.create_for_agent(db, world.ada.id),
        await tokens.create_for_user(db, world.stranger.org_id, "Olga"),
    ]
    rows = await tokens.listed(db, world.org)
    assert [(row.kind, row.bearer_id, row.bearer_name, row.name, row.last_used_at) for row in rows] == [
        ("USER", world.operator.id, "Olga", "laptop", None),
        ("AGENT", world.ada.id, "Ada", "Ada", None),
    ]
    assert len(await tokens.listed(db)) == 3
    shown = repr([tuple(row) for row in await tokens.listed(db)])
    assert not any(secret in shown for secret in secrets)
    await callers.resolve(db, secrets[0])
    assert (await tokens.listed(db, world.org))[0].last_used_at is not None


async def test_revoked_by_id_or_by_itself(db: Database, world: World) -> None:
    by_id, by_itself, kept = [await tokens.create_for_agent(db, world.ada.id) for _ in range(3)]
    first = (await callers.resolve(db, by_id)).token_id
    assert first is not None
    assert await tokens.revoke(db, first) == first
    second = await tokens.revoke(db, by_itself)
    for secret in (by_id, by_itself):
        with pytest.raises(Unauthenticated, match="revoked"):
            await callers.resolve(db, secret)
    third = (await callers.resolve(db, kept)).token_id
    assert [row.id for row in await tokens.listed(db)] == [third]
    for gone in (first, second, by_itself, "nothing", "", "mun_nothing"):
        with pytest.raises(NotFound, match="unknown, or has been revoked"):
            await tokens.revoke(db, gone)
    with pytest.raises(NotFound):
        await tokens.revoke(db, kept, org_id=world.stranger.org_id)
    assert (await callers.resolve(db, kept)).token_id == third


async def test_a_refusal_never_repeats_a_secret(db: Database) -> None:
    with pytest.raises(NotFound) as refusal:
        await tokens.revoke(db, "mun_very-secret")
    assert "very-secret" not in refusal.value.message


async def test_a_deleted_agent_and_a_dismissed_user_have_no_tokens(db: Database, world: World) -> None:
    agent, user = await tokens.create_for_agent(db, world.ada.id), await tokens.create_for_user(db, world.org, "Olga")
    caller = await callers.resolve(db, agent)
    await agents.delete(db, world.operator, world.ada.id)
    assert await organisations.dismiss(db, world.org, world.operator.id) is True
    assert await organisations.dismiss(db, world.org, world.operator.id) is False
    for secret in (agent, user):
        with pytest.raises(Unauthenticated):
            await callers.resolve(db, secret)
    assert await callers.still_valid(db, caller) is None
    assert caller.token_id not in [row.id for row in await tokens.listed(db, world.org)]
    assert (await callers.resolve(db, await tokens.create_for_user(db, world.org, "Olga"))).id == world.operator.id


async def test_a_secret_may_come_from_elsewhere(db: Database, world: World) -> None:
    assert await tokens.create_for_agent(db, world.ada.id, source=lambda: "mun_known") == "mun_known"
    assert (await callers.resolve(db, "mun_known")).id == world.ada.id
