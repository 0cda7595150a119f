"""The shapes of answers, as they are documented; a test holds every answer to them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["note", "memory", "script", "task", "collection", "record", "vault"]
Operation = Literal["create", "update", "delete", "move", "clear", "grant", "restore"]
Access = Literal["none", "read", "write"]
Scope = Literal["org", "guild"]


class Shape(BaseModel):
    """An object with exactly these fields."""

    model_config = ConfigDict(extra="forbid")


class Actor(Shape):
    """Who did something, as they were called then."""

    kind: Literal["user", "agent", "system"]
    id: str
    name: str


class Column(Shape):
    """A column of a collection."""

    name: str
    type: Literal["text", "number", "boolean", "datetime", "array"]
    description: str
    required: bool
    unique: bool
    values: list[str] | None = Field(description="The only values that it accepts, or null for any.")


class Collection(Shape):
    """A typed table of the organisation or of one guild."""

    id: str
    name: str
    display_path: str
    purpose: str
    scope: Scope
    guild_id: str | None
    columns: list[Column]
    record_count: int = Field(description="How many live records it has.")
    access: Access = Field(description="What the caller may do with its records.")
    version: int
    created_at: datetime
    created_by: Actor
    updated_at: datetime
    updated_by: Actor


class Collections(Shape):
    """Collections by name."""

    collections: list[Collection]


class Grant(Shape):
    """The grant of a guild or an agent on a collection."""

    id: str
    name: str
    mode: Access


class AccessList(Shape):
    """Who has a grant on a collection. A guild's own table has none for the guild itself, which writes to it anyway."""

    guilds: list[Grant]
    agents: list[Grant]


class CollectionDetail(Collection):
    """A collection with who reaches it."""

    access_list: AccessList | None = Field(description="Null for agents, who may not know.")


class Record(Shape):
    """A record; its body holds the declared columns only."""

    id: str = Field(description="The decimal id within its collection.")
    collection: str
    display_path: str
    body: dict[str, Any]
    version: int
    created_at: datetime
    created_by: Actor
    updated_at: datetime
    updated_by: Actor


class RecordPage(Shape):
    """Some of the records that match."""

    total: int = Field(description="How many match, whatever the page.")
    records: list[Record]
    columns: list[Column]
    hint: str | None = Field(default=None, description="Why a narrowed list is empty.")


class ColumnProblem(Shape):
    """What is wrong with a value."""

    column: str | None
    message: str


class RecordAdded(Shape):
    """A record after an add."""

    record: Record
    merged: str | None = Field(description="The id of the live record that took the body as a patch, since it has the same unique value.")
    note: str | None


class RecordUpdated(Shape):
    """A record after an update."""

    record: Record
    warnings: list[ColumnProblem] = Field(description="What its other columns hold that the table would not accept now.")


class BatchProblem(Shape):
    """What is wrong with one body of a batch."""

    index: int
    column: str | None
    message: str


class RecordBatch(Shape):
    """What a batch did; with problems it did nothing."""

    added: int
    merged: int
    records: list[Record] = Field(description="One for each body; none in a dry run.")
    problems: list[BatchProblem]


class LineProblem(Shape):
    """What is wrong with a file, at a line where one is meant."""

    line: int | None
    column: str | None
    message: str


class ImportOutcome(Shape):
    """What an import did, or in a dry run would do."""

    rows: int
    added: int
    merged: int
    written: bool
    problem_count: int
    problems: list[LineProblem] = Field(description="The first thousand; a real import with problems is refused instead.")


class SubjectGrant(Shape):
    """A collection as a guild reaches it."""

    collection_id: str
    name: str
    display_path: str
    scope: Scope
    mode: Access | None = Field(description="Write on the guild's own tables; else the guild's grant, null where it has none.")


class GuildAccess(Shape):
    """The guild's own tables, then every table of the organisation."""

    guild_id: str
    collections: list[SubjectGrant]


class AgentGrant(Shape):
    """A collection as an agent reaches it."""

    collection_id: str
    name: str
    display_path: str
    scope: Scope
    base: Access | None = Field(description="What its guild has there.")
    grant: Access | None = Field(description="The agent's own row, which wins.")
    effective: Access


class AgentAccess(Shape):
    """The tables of the agent's guild, then every table of the organisation."""

    agent_id: str
    collections: list[AgentGrant]


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


class Named(Shape):
    """An agent or a guild."""

    id: str
    name: str


class Run(Shape):
    """The run that a change was made in."""

    id: str
    agent: Named
    guild: Named | None
    kind: str
    status: str
    routine: str | None
    started_at: datetime
    finished_at: datetime | None


class Change(Shape):
    """A change of a file."""

    cursor: str = Field(description="Its position, for `before`.")
    display_path: str
    event_path: str
    previous_path: str | None
    kind: Kind
    operation: Operation
    version: int | None
    actor: Actor
    run: Run | None
    tool_call_id: str | None
    tool_name: str | None
    at: datetime
    recorded: bool = Field(description="False: no change was recorded, these are the file's last-saved facts.")


class Changes(Shape):
    """Changes of files."""

    changes: list[Change]


class Refusal(BaseModel):
    """Why a request was refused. Some refusals tell more, such as `current_version`."""

    code: str
    status: int
    message: str
    problems: list[ColumnProblem]
