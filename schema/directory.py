"""Organisations, guilds, agents and their runs."""

from datetime import datetime

import strawberry
from strawberry import ID

from engine import column
from models.caller import ActorKind
from resolvers import agent_files, collections, directory, grants, notes, provenance
from schema.access import CollectionAccess
from schema.collections import Collection
from schema.fields import field
from schema.files import FileChange, Memory, Note, Script, Task
from schema.state import AgentState


@strawberry.type(description="A team of agents.")
class Guild:
    id: ID = field(description="Its id, which is part of its paths.")
    name: str = field(description="Its name.")
    agents: list["Agent"] = field(resolver=directory.agents_of_guild, description="Its living members, by name.")
    notes: list[Note] = field(resolver=notes.of_owner, description="Its notes, side by side, by key.")
    collection_access: list[CollectionAccess] = field(
        resolver=grants.of_guild, description="Its own tables, and every organisation table with its grant; for operators."
    )


@strawberry.type(description="An agent.")
class Agent:
    id: ID = field(description="Its id, which is part of its paths.")
    name: str = field(description="Its name.")
    guild: Guild | None = field(resolver=directory.guild_of, description="Its guild, if it has one.")
    read_guild: bool = field(description="Whether it reads its guild's notes.")
    read_org: bool = field(description="Whether it reads the organisation's notes.")
    write_guild: bool = field(description="Whether it writes its guild's notes.")
    write_org: bool = field(description="Whether it writes the organisation's notes.")
    task: Task = field(resolver=agent_files.task, description="Its standing task; for operators and the agent itself.")
    memory: Memory | None = field(resolver=agent_files.agent_memory, description="Its memory; for operators and the agent itself.")
    notes: list[Note] = field(resolver=notes.of_owner, description="Its own notes, by key; for an agent other than the caller none.")
    scripts: list[Script] = field(resolver=agent_files.agent_scripts, description="Its scripts; for operators and the agent itself.")
    collection_access: list[CollectionAccess] = field(
        resolver=grants.of_agent,
        description="Its guild's own tables, and every organisation table, with what the guild gives, its own grant and what comes of both.",
    )
    state: AgentState = field(
        resolver=agent_files.agent_state, description="What a new run of it is given; for operators and the agent itself."
    )
    routines: list["Routine"] = field(
        resolver=directory.routines_of_agent, description="What it is told to do again and again; for an agent other than the caller none."
    )


@strawberry.type(description="Something that an agent is told to do again and again.")
class Routine:
    id: ID = field(description="Its id.")
    name: str = field(description="Its name, unique for the agent.")
    instruction: str = field(description="What the agent is told when it fires.")
    previous_run_at: datetime | None = field(description="When it last fired: `since` of a record list picks up what changed after.")
    created_at: datetime = field(description="When it was made.")


@strawberry.type(description="One run of an agent.")
class Run:
    id: ID = field(description="Its id.")
    kind: str = field(description="What sort of run it is, such as chat or routine.")
    status: str = field(description="running, or how it ended.")
    agent: Agent = field(resolver=directory.agent_of, description="The agent that ran; a deleted one keeps its name.")
    guild: Guild | None = field(resolver=directory.guild_of, description="The guild that the agent had at its start.")
    routine: str | None = field(description="The routine that started it, if one did.")
    started_at: datetime = field(description="When it started.")
    finished_at: datetime | None = field(description="When it ended; null while it runs.")
    changes: list[FileChange] = field(resolver=provenance.changes_of_run, description="Everything that it wrote, newest first.")


@strawberry.type(description="A routine that has just fired.")
class Wakeup:
    @column(description="The run that began.")
    def run(self) -> Run:
        return self  # type: ignore[return-value]  # the row is the run's, with what follows beside it

    instruction: str = field(description="What the agent is told.")
    previous_run_at: datetime | None = field(description="When the routine fired before: pass it as `since` to pick up what changed after.")


@strawberry.type(description="A tenant, with all that is its own.")
class Organisation:
    id: ID = field(description="Its id, the beginning of every path.")
    name: str = field(description="Its name.")
    guilds: list[Guild] = field(resolver=directory.guilds_of_organisation, description="Its guilds, by name.")
    agents: list[Agent] = field(resolver=directory.agents_of_organisation, description="Its agents, by name.")
    collections: list[Collection] = field(resolver=collections.listed_of, description="The tables that the caller reaches, by name.")
    notes: list[Note] = field(resolver=notes.of_owner, description="The notes of the organisation itself, by key.")


@strawberry.type(description="Who is asking.")
class Viewer:
    kind: ActorKind = field(description="A person or an agent.")
    id: ID = field(description="The person's or agent's id.")
    name: str = field(description="The name.")
    organisation: Organisation = field(resolver=directory.organisation_of, description="The organisation that is worked in.")
    agent: Agent | None = field(resolver=directory.agent_of_viewer, description="The agent, if one is asking.")
