from collections.abc import AsyncIterator

from models.cursor import Cursor
from models.kinds import FileKind
from resolvers.context import Info
from resolvers.inputs import ID
from store.feed import FeedChange


async def file_changes(
    info: Info,
    after: Cursor | None = None,
    paths: list[str] | None = None,
    prefix: str | None = None,
    kinds: list[FileKind] | None = None,
    run_id: ID | None = None,
) -> AsyncIterator[FeedChange]:
    context = info.context
    async for change in context.feed.subscribe(context.caller, after=after, paths=paths, prefix=prefix, kinds=kinds, run_id=run_id):
        yield change
