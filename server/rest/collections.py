"""The routes of collections, and of who reaches them."""

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from models.errors import Unprocessable
from models.kinds import SubjectType
from server.rest import models, shapes
from server.rest.arguments import Body
from server.rest.fields import GuildMode, Mode
from server.rest.route import Answer, Call, Guard, NoQuery, Route, Tag
from store import access, agents, collections, grants, guilds
from store.agents import AgentRow
from store.database import Row
from store.guilds import GuildRow

_COLUMN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "type", "description"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"},
        "type": {"type": "string", "enum": ["text", "number", "boolean", "datetime", "array"]},
        "description": {"type": "string", "minLength": 1, "maxLength": 200},
        "required": {"type": "boolean", "default": False},
        "unique": {"type": "boolean", "default": False, "description": "Text or number; one column at most."},
        "values": {"type": ["array", "null"], "items": {"type": "string"}, "description": "The only values that it accepts."},
        "rename_from": {"type": ["string", "null"], "description": "The present name of the column whose values this one takes."},
    },
}
# The store checks these with everything else about them, and tells every problem.
Name = Annotated[Any, WithJsonSchema({"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,62}$"})]
Purpose = Annotated[Any, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 400})]
Columns = Annotated[list[Any], WithJsonSchema({"type": "array", "items": _COLUMN_SCHEMA, "minItems": 1, "maxItems": 64})]


class CollectionCreate(Body):
    """A new collection."""

    name: Name
    purpose: Purpose
    columns: Columns
    guild_id: str | None = Field(default=None, description="The guild whose table it is; null for a table of the organisation.")


class CollectionPatch(Body):
    """What changes of a collection."""

    name: Name = None
    purpose: Purpose = None
    columns: Columns = Field(default_factory=list, description="All columns as they will be; a renamed one carries rename_from.")
    guild_id: str | None = Field(default=None, description="Moves the table to a guild, or with null to the organisation.")


class GuildAccessPut(Body):
    """A guild's mode on a collection."""

    collection_id: str
    mode: GuildMode | None = Field(description="Null takes the grant away.")


class AgentAccessPut(Body):
    """An agent's own mode on a collection."""

    collection_id: str
    mode: Mode | None = Field(description="Null takes the grant away, so that its guild's holds; none keeps the agent out.")


async def found(call: Call, collection_id: str) -> Row:
    """The collection of this id. Raises NotFound where the caller does not read one."""
    row = await collections.get(call.db, call.caller, collection_id=collection_id)
    if row is None:
        raise access.unknown(collection_id)
    return row


async def listed(call: Call, _args: NoQuery) -> Answer:
    """Every live collection that the caller reads, by name, with its record count."""
    return Answer({"collections": [shapes.collection(row) for row in await collections.listed(call.db, call.caller)]})


async def create(call: Call, args: CollectionCreate) -> Answer:
    """Make a collection."""
    row = await collections.create(call.db, call.caller, name=args.name, purpose=args.purpose, columns=args.columns, guild_id=args.guild_id)
    return Answer(shapes.collection(row), row.version, location=f"/api/collections/{row.id}")


async def get(call: Call, _args: NoQuery) -> Answer:
    """The collection with its record count and, for operators, who has a grant on it."""
    row = await found(call, call.path["id"])
    given = None if call.caller.is_agent else (await grants.of_collections(call.db, call.caller, [row.id])).get(row.id, [])
    return Answer({**shapes.collection(row), "access_list": None if given is None else shapes.access_list(given)}, row.version)


async def update(call: Call, args: CollectionPatch) -> Answer:
    """Change a collection; its records follow its columns in the same transaction."""
    # What was sent counts, not what differs from the default: guild_id null moves the table, its absence does not.
    changes = {name: getattr(args, name) for name in args.model_fields_set}
    if not changes:
        raise Unprocessable(f"say what to change: {', '.join(CollectionPatch.model_fields)}")
    row = await collections.update(call.db, call.caller, call.path["id"], expected_version=call.expected, **changes)
    return Answer(shapes.collection(row), row.version)


async def delete(call: Call, _args: NoQuery) -> Answer:
    """Delete a collection with its records and grants."""
    await collections.delete(call.db, call.caller, call.path["id"], expected_version=call.expected)
    return Answer()


async def guild_access(call: Call, _args: NoQuery) -> Answer:
    """The guild's own tables, then every table of the organisation with the guild's grant."""
    guild = call.path["id"]
    rows = (await grants.guild_access(call.db, call.caller, [guild])).get(guild, [])
    # No tables is an answer for a guild that lives; only then is it worth another statement to tell the two apart.
    if not rows and not _lives((await guilds.by_ids(call.db, call.caller.org_id, [guild])).get(guild)):
        raise guilds.unknown(guild)
    return Answer({"guild_id": guild, "collections": [_of_guild(row, table) for row, table in await _with_tables(call, rows)]})


async def agent_access(call: Call, _args: NoQuery) -> Answer:
    """The tables of the agent's guild, then every table of the organisation: the guild's grant, the agent's, and what holds."""
    agent = call.path["id"]
    rows = (await grants.agent_access(call.db, call.caller, [agent])).get(agent, [])
    if not rows and not _lives((await agents.by_ids(call.db, call.caller.org_id, [agent])).get(agent)):
        raise agents.unknown(agent)
    return Answer({"agent_id": agent, "collections": [_of_agent(row, table) for row, table in await _with_tables(call, rows)]})


async def set_guild_access(call: Call, args: GuildAccessPut) -> Answer:
    """Give a guild its mode on a table of the organisation, or take it away."""
    row, table = await _set(call, args, SubjectType.GUILD)
    return Answer(_of_guild(row, table))


async def set_agent_access(call: Call, args: AgentAccessPut) -> Answer:
    """Give an agent its own mode on a table, which wins over its guild's, or take it away."""
    row, table = await _set(call, args, SubjectType.AGENT)
    return Answer(_of_agent(row, table))


async def _set(call: Call, args: GuildAccessPut | AgentAccessPut, kind: SubjectType) -> tuple[Row, Row]:
    row = await grants.set_grant(
        call.db, call.caller, collection_id=args.collection_id, subject_type=kind, subject_id=call.path["id"], mode=args.mode
    )
    return row, await found(call, args.collection_id)


async def _with_tables(call: Call, rows: list[Row]) -> list[tuple[Row, Row]]:
    tables = await collections.by_ids(call.db, call.caller, [row.collection_id for row in rows])
    return [(row, tables[row.collection_id]) for row in rows if row.collection_id in tables]


def _lives(row: AgentRow | GuildRow | None) -> bool:
    return row is not None and row.deleted_at is None


def _of_guild(row: Row, table: Row) -> shapes.Json:
    return {
        "collection_id": table.id,
        **shapes.plain(table, "name", "display_path"),
        "scope": row.scope.lower(),
        "mode": shapes.low(row.base),
    }


def _of_agent(row: Row, table: Row) -> shapes.Json:
    modes = {name: shapes.low(row[name]) for name in ("base", "grant", "effective")}
    return {"collection_id": table.id, **shapes.plain(table, "name", "display_path"), "scope": row.scope.lower(), **modes}


_GROUP = "collections"
_ONE = "/api/collections/{id}"
_GUILD, _AGENT = "/api/guilds/{id}/collection-access", "/api/agents/{id}/collection-access"
ROUTES = (
    Route("GET", "/api/collections", listed, _GROUP, answer=models.Collections),
    Route("POST", "/api/collections", create, _GROUP, body=CollectionCreate, answer=models.Collection, status=201, tag=Tag.CONTENT),
    Route("GET", _ONE, get, _GROUP, answer=models.CollectionDetail, tag=Tag.CONTENT),
    Route("PATCH", _ONE, update, _GROUP, body=CollectionPatch, answer=models.Collection, tag=Tag.CONTENT, guard=Guard.MATCH),
    Route("DELETE", _ONE, delete, _GROUP, status=204, guard=Guard.MATCH),
    Route("GET", _GUILD, guild_access, "access", answer=models.GuildAccess),
    Route("PUT", _GUILD, set_guild_access, "access", body=GuildAccessPut, answer=models.SubjectGrant),
    Route("GET", _AGENT, agent_access, "access", answer=models.AgentAccess),
    Route("PUT", _AGENT, set_agent_access, "access", body=AgentAccessPut, answer=models.AgentGrant),
)
