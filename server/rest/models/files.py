"""Notes, the files of agents, and State."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from server.rest.models.base import Actor, Scope, Shape
from server.rest.models.tables import Column


class NoteEntry(Shape):
    """A note without its text."""

    display_path: str
    level: Literal["agent", "guild", "org"]
    owner_id: str
    key: str
    version: int
    created_at: datetime
    created_by: Actor
    updated_at: datetime
    updated_by: Actor


class Note(NoteEntry):
    """A note."""

    content: str


class Notes(Shape):
    """Notes of one owner by key."""

    notes: list[NoteEntry]


class NoteHit(Shape):
    """A note that matches, and the text around the first match."""

    display_path: str
    level: Literal["agent", "guild", "org"]
    key: str
    snippet: str
    version: int
    updated_at: datetime


class NoteHits(Shape):
    """Notes that match, the best first."""

    notes: list[NoteHit]


class AgentFile(Shape):
    """What an agent's task, memory and scripts have in common."""

    agent_id: str
    display_path: str
    content: str
    version: int
    updated_at: datetime
    updated_by: Actor


class Task(AgentFile):
    """An agent's standing task; version 0 where none was ever saved."""

    rendered: str = Field(description="The task with its embeds inlined.")


class Memory(AgentFile):
    """An agent's memory."""


class Script(AgentFile):
    """A script of an agent."""

    name: str


class ScriptEntry(Shape):
    """A script without its text."""

    agent_id: str
    display_path: str
    name: str
    version: int
    updated_at: datetime
    updated_by: Actor


class Scripts(Shape):
    """An agent's scripts by name."""

    scripts: list[ScriptEntry]


class Revision(Shape):
    """A previous version of a task or a memory."""

    display_path: str | None
    content: str
    version: int
    source: str
    saved_at: datetime
    saved_by: Actor


class Revisions(Shape):
    """Previous versions, newest first."""

    revisions: list[Revision]


class StateNote(Shape):
    """A note that the agent reads."""

    display_path: str
    version: int
    updated_at: datetime


class StateScript(Shape):
    """A script of the agent."""

    display_path: str
    name: str
    version: int


class StateCollection(Shape):
    """A table that the agent is granted."""

    name: str
    purpose: str
    access: Literal["read", "write"]
    scope: Scope
    display_path: str
    columns: list[Column]


class Truncated(Shape):
    """The sign that there are more tables."""

    truncated: Literal[True]


class State(Shape):
    """What a new run of the agent is given."""

    task: str
    memory: str | None
    notes: list[StateNote]
    scripts: list[StateScript]
    collections: list[StateCollection | Truncated]
