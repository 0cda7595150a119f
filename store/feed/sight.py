"""A change in the history of a file, as a caller who reads that file may see it: by the rule of the feed."""

from collections.abc import Iterable
from dataclasses import fields
from typing import TypeAlias

from models.caller import Caller
from models.kinds import FileKind
from store.database import Row
from store.feed.change import FeedChange, Rights

Seen: TypeAlias = Row | FeedChange
_NAMES = tuple(field.name for field in fields(FeedChange))


def seen(caller: Caller, change: Row) -> Seen | None:
    """Return the change without a previous path that the caller cannot read, or None if it leads where the caller does not read."""
    # Only a note moves between owners; every other change stands where its reader reads.
    if not caller.is_agent or change.kind != FileKind.NOTE or change.previous_path is None:
        return change
    rights = Rights(agent_id=caller.id, guild_id=caller.guild_id if caller.read_guild else None, org_notes=caller.read_org)
    return rights.seen(FeedChange(**{name: change[name] for name in _NAMES}))


def all_seen(caller: Caller, changes: Iterable[Row]) -> list[Seen]:
    """Return those of the changes that the caller may see, each as it may see it."""
    return [found for change in changes if (found := seen(caller, change)) is not None]
