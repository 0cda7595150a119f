"""What a run is given of an agent's standing resources when it is created."""

from datetime import datetime

import strawberry

from models.kinds import AccessMode, CollectionScope, FileKind
from schema.collections import Column
from schema.fields import field


@strawberry.type(description="A note that the agent can read.")
class NoteEntry:
    display_path: str = field(description="Its path, to read it with.")
    version: int = field(description="Its version.")
    updated_at: datetime = field(description="When it was last written.")


@strawberry.type(description="A script of the agent.")
class ScriptEntry:
    display_path: str = field(description="Its path, to read it with.")
    name: str = field(description="Its file name.")
    version: int = field(description="Its version.")


@strawberry.type(description="A table that the agent is granted, or, with `truncated`, the sign that there are more than are listed.")
class StateCollection:
    name: str | None = field(description="The table's name.")
    purpose: str | None = field(description="What it is for.")
    access: AccessMode | None = field(description="READ or WRITE.")
    scope: CollectionScope | None = field(description="Whether it belongs to the organisation or to the agent's guild.")
    display_path: str | None = field(description="Its path.")
    columns: list[Column] | None = field(description="Its columns.")
    truncated: bool = field(description="True on the last entry where the list was cut; the entry has nothing else.")


@strawberry.type(description="The agent's standing resources as a new run sees them.")
class AgentState:
    task: str = field(description="The task, embeds inlined.")
    memory: str | None = field(description="The agent's memory, if it has written any.")
    notes: list[NoteEntry] = field(description="The notes that the agent can read.")
    scripts: list[ScriptEntry] = field(description="The agent's scripts.")
    collections: list[StateCollection] = field(
        description="The tables that the agent is granted: at most 50, then one entry that says there are more."
    )


@strawberry.type(description="Something that a task can embed.")
class Embeddable:
    display_path: str = field(description="Its path.")
    name: str = field(description="The note's key or the table's name.")
    kind: FileKind = field(description="NOTE or COLLECTION.")
    markup: str = field(description="What to put into the task.")
