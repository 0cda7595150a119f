"""Provenance."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from server.rest.models.base import Actor, Shape

Kind = Literal["note", "memory", "script", "task", "collection", "record", "vault"]
Operation = Literal["create", "update", "delete", "move", "clear", "grant", "restore"]


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
