"""What the feed delivers, and who may see it."""

from dataclasses import dataclass, replace
from datetime import datetime

from models.cursor import Cursor
from models.errors import NotFound, Unprocessable
from models.kinds import FileKind, FileOperation, NoteLevel
from models.paths import parse
from store.database import Row


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True, kw_only=True)
class FeedChange:
    """One change, with the attributes of store.changes.COLUMNS.

    Subscribers with the same rights and filter get the same object, so that what is made of it can be kept by its identity.
    """

    change_id: int
    xid: int
    file_id: str
    display_path: str
    event_path: str
    previous_path: str | None
    kind: str
    operation: str
    version: int | None
    level: str | None
    owner_id: str | None
    collection_id: str | None
    actor_kind: str
    actor_id: str
    actor_name: str
    run_id: str | None
    tool_call_id: str | None
    tool_name: str | None
    at: datetime
    recorded: bool

    @classmethod
    def of(cls, row: Row) -> "FeedChange":
        """The change of a row of store.changes.COLUMNS."""
        return cls(**dict(row))

    @property
    def cursor(self) -> Cursor:
        """The change's position in the feed."""
        return Cursor(self.xid, self.change_id)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which changes a subscriber asked for; every condition must hold. `paths` matches any of a change's three paths."""

    paths: frozenset[str] | None = None
    prefix: str | None = None
    kinds: frozenset[str] | None = None
    run_id: str | None = None

    def takes(self, change: FeedChange) -> bool:
        """Whether the change was asked for."""
        paths = (change.display_path, change.event_path, change.previous_path)
        return (
            (self.kinds is None or change.kind in self.kinds)
            and (self.run_id is None or change.run_id == self.run_id)
            and (self.paths is None or not self.paths.isdisjoint(paths))
            and (self.prefix is None or any(path is not None and path.startswith(self.prefix) for path in paths))
        )


@dataclass(frozen=True, slots=True)
class Rights:
    """What a caller can read just now. `departed` holds the deleted collections that it could read at their end."""

    everything: bool = False
    agent_id: str | None = None
    guild_id: str | None = None
    org_notes: bool = False
    collections: frozenset[str] = frozenset()
    departed: frozenset[str] = frozenset()

    def seen(self, change: FeedChange) -> FeedChange | None:
        """The change as this caller may see it: whole, without a previous path that it cannot read, or not at all."""
        if self.everything:
            return change
        if not self._reads(change):
            return None
        if change.previous_path is None or change.kind != FileKind.NOTE or self._reads_note(change, change.previous_path):
            return change
        # The note came from where this caller does not read: that it exists now is all that may be told.
        return replace(change, previous_path=None)

    def _reads(self, change: FeedChange) -> bool:
        match change.kind:
            case FileKind.VAULT:
                return True
            case FileKind.RECORD | FileKind.COLLECTION:
                # The grants of a deleted table are kept apart for this one change; its records are told of no more.
                gone = change.kind == FileKind.COLLECTION and change.operation == FileOperation.DELETE
                return change.collection_id in self.collections or (gone and change.collection_id in self.departed)
            # The archive is for operators, also where the memory itself is the agent's own.
            case FileKind.MEMORY if "/history-archive/" in change.display_path:
                return False
            case _:
                return self._reads_level(change.level, change.owner_id)

    def _reads_level(self, level: str | None, owner_id: str | None) -> bool:
        match level:
            case NoteLevel.AGENT:
                return owner_id == self.agent_id
            case NoteLevel.GUILD:
                return owner_id is not None and owner_id == self.guild_id
            case NoteLevel.ORG:
                return self.org_notes
        return False

    def _reads_note(self, change: FeedChange, path: str) -> bool:
        org_id = change.display_path.split("/", 2)[1]
        try:
            parsed = parse(path, org_id)
        except (NotFound, Unprocessable):
            return False
        return self._reads_level(parsed.level, parsed.owner_id)


class Batch:
    """Changes that follow each other in the feed, judged once for all subscribers with the same rights and filter."""

    def __init__(self, changes: list[FeedChange]) -> None:
        self._changes = changes
        self._views: dict[tuple[Rights, Filter], list[FeedChange]] = {}
        self._seen: dict[Rights, list[FeedChange]] = {}
        self.end = changes[-1].cursor

    def __len__(self) -> int:
        return len(self._changes)

    def view(self, rights: Rights, wanted: Filter) -> list[FeedChange]:
        """The changes that these rights and this filter leave, in order; the same list each time."""
        view = self._views.get((rights, wanted))
        if view is None:
            view = self._views[rights, wanted] = [change for change in self._visible(rights) if wanted.takes(change)]
        return view

    def _visible(self, rights: Rights) -> list[FeedChange]:
        seen = self._seen.get(rights)
        if seen is None:
            found = (rights.seen(change) for change in self._changes)
            seen = self._seen[rights] = [change for change in found if change is not None]
        return seen
