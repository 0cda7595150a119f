from typing import Any

from strawberry import UNSET

from models.errors import Unprocessable
from resolvers.context import Info
from resolvers.inputs import ID, ColumnInput, given, required_if_given
from store import collections
from store.database import Row


async def listed(info: Info) -> list[Row]:
    return await collections.listed(info.context.db, info.context.caller)


async def listed_of(root: Any, info: Info) -> list[Row]:  # noqa: ARG001  # the organisation is the caller's
    return await listed(info)


async def get(info: Info, id: ID | None = None, name: str | None = None) -> Row | None:
    if (id is None) == (name is None):
        raise Unprocessable("give either id or name")
    return await collections.get(info.context.db, info.context.caller, collection_id=id, name=name)


async def of_row(root: Any, info: Info) -> Row:
    found: Row = await info.context.load.collection.load(root.collection_id)
    return found


async def create(info: Info, name: str, purpose: str, columns: list[ColumnInput], guild_id: ID | None = None) -> Row:
    definitions = [column.as_dict() for column in columns]
    return await collections.create(
        info.context.db, info.context.caller, name=name, purpose=purpose, columns=definitions, guild_id=guild_id
    )


async def update(
    info: Info,
    id: ID,
    name: str | None = UNSET,
    purpose: str | None = UNSET,
    columns: list[ColumnInput] | None = UNSET,
    guild_id: ID | None = UNSET,
) -> Row:
    changes = required_if_given(name=name, purpose=purpose, columns=columns)
    if isinstance(columns, list):
        changes["columns"] = [column.as_dict() for column in columns]
    return await collections.update(info.context.db, info.context.caller, id, guild_id=given(guild_id), **changes)


async def delete(info: Info, id: ID) -> Row:
    return await collections.delete(info.context.db, info.context.caller, id)


async def clear(info: Info, id: ID) -> int:
    return await collections.clear(info.context.db, info.context.caller, id)
