"""Collections, and who reaches them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from server.rest.models.base import Access, Actor, Scope, Shape


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
