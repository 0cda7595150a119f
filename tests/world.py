"""A small organisation for tests, put straight into the tables, and callers of every role."""

from dataclasses import dataclass

from models.caller import ActorKind, Caller
from models.clock import new_id, now
from store.database import Database


@dataclass(frozen=True)
class World:
    """Two guilds, two agents in the first, one in the second, one in none; and another organisation's operator and agent."""

    org: str
    operator: Caller
    writers: str
    readers: str
    ada: Caller
    bob: Caller
    cyd: Caller
    loner: Caller
    stranger: Caller
    foreign_agent: Caller


async def add_org(db: Database, name: str) -> tuple[str, Caller]:
    org, user = new_id(), new_id()
    async with db.write() as tx:
        await tx.execute("INSERT INTO organisations VALUES ($1, $2, $3)", org, name, now())
        await tx.execute("INSERT INTO users VALUES ($1, $2, $3, $4)", org, user, "Olga", now())
        await tx.execute("INSERT INTO memberships (org_id, user_id, role, created_at) VALUES ($1, $2, 'operator', $3)", org, user, now())
    return org, Caller(org_id=org, kind=ActorKind.USER, id=user, name="Olga")


async def add_guild(db: Database, org: str, name: str) -> str:
    guild = new_id()
    async with db.write() as tx:
        await tx.execute("INSERT INTO guilds (org_id, id, name, created_at) VALUES ($1, $2, $3, $4)", org, guild, name, now())
    return guild


async def add_agent(db: Database, org: str, name: str, guild: str | None, *, write_org: bool = False) -> Caller:
    agent = new_id()
    async with db.write() as tx:
        await tx.execute(
            """INSERT INTO agents (org_id, id, name, guild_id, write_org, created_at, created_by_kind, created_by_id, created_by_name,
                updated_at, updated_by_kind, updated_by_id, updated_by_name)
            VALUES ($1, $2, $3, $4, $5, $6, 'SYSTEM', 'system', 'muniment', $6, 'SYSTEM', 'system', 'muniment')""",
            org,
            agent,
            name,
            guild,
            write_org,
            now(),
        )
    return Caller(
        org_id=org,
        kind=ActorKind.AGENT,
        id=agent,
        name=name,
        guild_id=guild,
        read_guild=True,
        read_org=True,
        write_guild=True,
        write_org=write_org,
    )


async def add_run(db: Database, agent: Caller, *, kind: str = "chat", status: str = "running", routine: str | None = None) -> str:
    run = new_id()
    async with db.write() as tx:
        await tx.execute(
            "INSERT INTO runs (org_id, id, agent_id, guild_id, kind, status, routine, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            agent.org_id,
            run,
            agent.id,
            agent.guild_id,
            kind,
            status,
            routine,
            now(),
        )
    return run


async def build(db: Database) -> World:
    org, operator = await add_org(db, "Acme")
    other, stranger = await add_org(db, "Other")
    writers, readers = await add_guild(db, org, "writers"), await add_guild(db, org, "readers")
    return World(
        org=org,
        operator=operator,
        writers=writers,
        readers=readers,
        ada=await add_agent(db, org, "Ada", writers),
        bob=await add_agent(db, org, "Bob", writers),
        cyd=await add_agent(db, org, "Cyd", readers),
        loner=await add_agent(db, org, "Loner", None),
        stranger=stranger,
        foreign_agent=await add_agent(db, other, "Spy", await add_guild(db, other, "spies")),
    )
