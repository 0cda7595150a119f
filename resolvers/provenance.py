from typing import Any

from models.cursor import Cursor
from models.limits import DEFAULT_PAGE
from resolvers.context import Info
from resolvers.inputs import ID, or_default
from store import provenance
from store.database import Row
from store.feed.sight import Seen
from store.runs import RunRow

_HISTORY_PAGE = 50


def _file_id(root: Any) -> str:
    """A record's `id` is its number; what its changes name is the id of the stored artifact."""
    found: str = getattr(root, "file_id", None) or root.id
    return found


async def latest_change_if_any(root: Row, info: Info) -> Seen | None:
    found: Seen | None = await info.context.load.latest_change.load((_file_id(root), root.display_path))
    return found


async def latest_change(root: Row, info: Info) -> Seen:
    found: Seen = await info.context.load.latest_change.load((_file_id(root), root.display_path))
    return found


async def changes(root: Row, info: Info, limit: int | None = DEFAULT_PAGE, before: Cursor | None = None) -> list[Seen]:
    found: list[Seen] = await info.context.load.changes(or_default(limit, DEFAULT_PAGE), before).load(root.display_path)
    return found


async def history(
    info: Info,
    display_path: str | None = None,
    run_id: ID | None = None,
    limit: int | None = _HISTORY_PAGE,
    before: Cursor | None = None,
) -> list[Row]:
    return await provenance.history(
        info.context.db,
        info.context.caller,
        display_path=display_path,
        run_id=run_id,
        limit=or_default(limit, _HISTORY_PAGE),
        before=before,
    )


async def changes_of_run(root: Row, info: Info, limit: int | None = _HISTORY_PAGE, before: Cursor | None = None) -> list[Row]:
    return await history(info, run_id=ID(root.id), limit=limit, before=before)


async def latest(info: Info, display_paths: list[str]) -> list[Row]:
    return await provenance.latest(info.context.db, info.context.caller, display_paths)


async def run_of(root: Row, info: Info) -> RunRow | None:
    return await info.context.load.run.load(root.run_id) if root.run_id else None
