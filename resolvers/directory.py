from typing import Any

from strawberry import UNSET

from models.caller import Caller
from resolvers.context import Info
from resolvers.inputs import ID, given, required_if_given
from store import agents, guilds, organisations, runs, schedules
from store.agents import AgentRow
from store.guilds import GuildRow
from store.organisations import OrganisationRow
from store.runs import RunRow, StartedRunRow
from store.schedules import RoutineRow


async def viewer(info: Info) -> Caller:
    return info.context.caller


async def organisation(info: Info) -> OrganisationRow:
    return await organisations.get(info.context.db, info.context.caller.org_id)


async def organisation_of(root: Any, info: Info) -> OrganisationRow:  # noqa: ARG001  # every caller is of one organisation
    return await organisation(info)


async def agent_of_viewer(root: Caller, info: Info) -> AgentRow | None:
    return await info.context.load.agent.load(root.id) if root.is_agent else None


async def guild(info: Info, id: ID) -> GuildRow | None:
    found = await info.context.load.guild.load(id)
    return found if found is not None and found.deleted_at is None else None


async def agent(info: Info, id: ID) -> AgentRow | None:
    found = await info.context.load.agent.load(id)
    return found if found is not None and found.deleted_at is None else None


async def run(info: Info, id: ID) -> RunRow | None:
    return await info.context.load.run.load(id)


async def guild_of(root: AgentRow | RunRow, info: Info) -> GuildRow | None:
    return await info.context.load.guild.load(root.guild_id) if root.guild_id else None


async def agent_of(root: RunRow | RoutineRow, info: Info) -> AgentRow | None:
    return await info.context.load.agent.load(root.agent_id)


async def guilds_of_organisation(root: OrganisationRow, info: Info) -> list[GuildRow]:
    return await guilds.listed(info.context.db, root.id)


async def agents_of_organisation(root: OrganisationRow, info: Info) -> list[AgentRow]:
    return await agents.listed(info.context.db, root.id)


async def agents_of_guild(root: GuildRow, info: Info) -> list[AgentRow]:
    return await info.context.load.agents_of_guild.load(root.id)


async def routines_of_agent(root: AgentRow, info: Info) -> list[RoutineRow]:
    return await info.context.load.routines.load(root.id)


async def guild_create(info: Info, name: str) -> GuildRow:
    return await guilds.create(info.context.db, info.context.caller, name)


async def guild_delete(info: Info, id: ID) -> bool:
    await guilds.delete(info.context.db, info.context.caller, id)
    return True


async def agent_create(info: Info, name: str, guild_id: ID | None = None, task: str | None = None) -> AgentRow:
    return await agents.create(info.context.db, info.context.caller, name=name, guild_id=guild_id, task=task)


async def agent_update(
    info: Info,
    id: ID,
    name: str | None = UNSET,
    guild_id: ID | None = UNSET,
    read_guild: bool | None = UNSET,
    read_org: bool | None = UNSET,
    write_guild: bool | None = UNSET,
    write_org: bool | None = UNSET,
) -> AgentRow:
    changes = required_if_given(name=name, read_guild=read_guild, read_org=read_org, write_guild=write_guild, write_org=write_org)
    return await agents.update(info.context.db, info.context.caller, id, guild_id=given(guild_id), **changes)


async def agent_delete(info: Info, id: ID) -> bool:
    await agents.delete(info.context.db, info.context.caller, id)
    return True


async def run_start(info: Info, agent_id: ID, kind: str, routine: str | None = None) -> StartedRunRow:
    return await runs.start(info.context.db, info.context.caller, agent_id=agent_id, kind=kind, routine=routine)


async def run_finish(info: Info, id: ID, status: str) -> RunRow:
    return await runs.finish(info.context.db, info.context.caller, id, status)


async def routine_save(info: Info, agent_id: ID, name: str, instruction: str) -> RoutineRow:
    return await schedules.save(info.context.db, info.context.caller, agent_id=agent_id, name=name, instruction=instruction)


async def routine_delete(info: Info, id: ID) -> bool:
    await schedules.delete(info.context.db, info.context.caller, id)
    return True


async def routine_fire(info: Info, id: ID) -> StartedRunRow:
    return await schedules.fire(info.context.db, info.context.caller, id)
