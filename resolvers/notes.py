from types import SimpleNamespace

from models.kinds import NoteLevel
from models.limits import DEFAULT_PAGE
from resolvers.context import Info
from resolvers.inputs import ID, or_default
from resolvers.selection import asks_for
from store import note_search, notes
from store.database import Row


async def find(info: Info, query: str, level: NoteLevel | None = None, limit: int | None = DEFAULT_PAGE) -> SimpleNamespace:
    hits = await note_search.find(info.context.db, info.context.caller, query, level, or_default(limit, DEFAULT_PAGE))
    return SimpleNamespace(notes=hits)


async def get(info: Info, path: str) -> Row:
    return await notes.get(info.context.db, info.context.caller, path)


async def listed(info: Info, level: NoteLevel, owner_id: ID | None = None) -> list[Row]:
    return await notes.listed(info.context.db, info.context.caller, level, owner_id, content=asks_for(info, "content"))


async def write(
    info: Info, level: NoteLevel, key: str, content: str, owner_id: ID | None = None, expected_version: int | None = None
) -> Row:
    return await notes.write(info.context.db, info.context.caller, level, key, content, owner_id, expected_version)


async def delete(info: Info, path: str) -> Row:
    return await notes.delete(info.context.db, info.context.caller, path)


async def move(info: Info, path: str, level: NoteLevel, key: str, owner_id: ID | None = None) -> Row:
    return await notes.move(info.context.db, info.context.caller, path, level, key, owner_id)


async def of_owner(root: Row, info: Info) -> list[Row]:
    load = info.context.load
    loader = load.notes_of_owner if asks_for(info, "content") else load.note_heads_of_owner
    found: list[Row] = await loader.load(root.id)
    return found
