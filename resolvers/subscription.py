from collections.abc import AsyncIterator

from models.cursor import Cursor
from models.errors import Unavailable
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
    context, caller = info.context, info.context.caller
    if context.feed.subscribers >= context.most_subscriptions:
        raise Unavailable(f"this server has {context.most_subscriptions:,} subscriptions open, which is its limit; try again later")
    # Not a generator, which would begin with the first event: what is wrong is told at once, and nothing is missed from here on.
    return await context.feed.open(caller, after=after, paths=paths, prefix=prefix, kinds=kinds, run_id=run_id)
