"""Who reaches a table."""

from typing import TYPE_CHECKING, Annotated

import strawberry
from strawberry import ID

from models.kinds import AccessMode, CollectionScope, SubjectType
from resolvers import collections
from schema.fields import field

if TYPE_CHECKING:
    from schema.collections import Collection

_Collection = Annotated["Collection", strawberry.lazy("schema.collections")]


@strawberry.type(description="One stored grant.")
class Grant:
    collection: _Collection = field(resolver=collections.of_row, description="The table.")
    subject_type: SubjectType = field(description="Whether a guild or an agent has it.")
    subject_id: ID = field(description="The guild's or agent's id.")
    subject_name: str = field(description="The guild's or agent's name.")
    mode: AccessMode = field(description="What it allows.")


@strawberry.type(description="What a guild or an agent may do with one table, and why.")
class CollectionAccess:
    collection: _Collection = field(resolver=collections.of_row, description="The table.")
    scope: CollectionScope = field(description="Whether it belongs to the organisation or to a guild.")
    base: AccessMode | None = field(description="What the guild gives its members: its grant, or WRITE on its own table.")
    grant: AccessMode | None = field(description="The subject's own row: for an agent its override, for a guild its grant.")
    effective: AccessMode = field(description="What comes of both.")
