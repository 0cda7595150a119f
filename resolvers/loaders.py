"""Rows by key: each loader answers all keys of a level in one statement. Nothing is kept, since a socket's context outlives many events."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from models.caller import Caller
from store import agents, collections, grants, guilds, memory, notes, provenance, record_list, record_pages, runs, schedules, scripts, tasks
from store.agent_files import AgentFileRow, TaskRow
from store.agents import AgentRow
from store.database import Database, Row
from store.feed.sight import Seen
from store.guilds import GuildRow
from store.record_list import RecordPage
from store.revisions import RevisionRow
from store.runs import RunRow
from store.schedules import RoutineRow

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def _by_key(
    fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]], missing: Callable[[], Any] = lambda: None
) -> DataLoader[Key, Any]:
    async def load(keys: list[Key]) -> list[Any]:
        # Without its cache the loader hands over a key as often as it was asked for.
        found = await fetch(list(dict.fromkeys(keys)))
        return [found[key] if key in found else missing() for key in keys]

    return DataLoader(load_fn=load, cache=False)


class Loaders:
    """One loader for each way that rows hang together."""

    def __init__(self, db: Database, caller: Caller) -> None:
        org = caller.org_id
        self.guild: DataLoader[str, GuildRow | None] = _by_key(lambda ids: guilds.by_ids(db, org, ids))
        self.agent: DataLoader[str, AgentRow | None] = _by_key(lambda ids: agents.by_ids(db, org, ids))
        self.run: DataLoader[str, RunRow | None] = _by_key(lambda ids: runs.by_ids(db, org, ids))
        self.collection = _by_key(lambda ids: collections.by_ids(db, caller, ids))
        self.agents_of_guild: DataLoader[str, list[AgentRow]] = _by_key(lambda ids: agents.of_guilds(db, org, ids), list)
        self.notes_of_owner = _by_key(lambda ids: notes.of_owners(db, caller, ids), list)
        self.note_heads_of_owner = _by_key(lambda ids: notes.of_owners(db, caller, ids, content=False), list)
        self.grants_of_collection = _by_key(lambda ids: grants.of_collections(db, caller, ids), list)
        self.access_of_guild = _by_key(lambda ids: grants.guild_access(db, caller, ids), list)
        self.access_of_agent = _by_key(lambda ids: grants.agent_access(db, caller, ids), list)
        self.latest_change: DataLoader[tuple[str, str], Seen] = _by_key(lambda keys: provenance.latest_seen(db, caller, keys))
        self.task: DataLoader[str, TaskRow] = _by_key(lambda ids: tasks.of_agents(db, caller, ids))
        self.memory: DataLoader[str, AgentFileRow | None] = _by_key(lambda ids: memory.of_agents(db, caller, ids))
        self.scripts: DataLoader[str, list[AgentFileRow]] = _by_key(lambda ids: scripts.of_agents(db, caller, ids), list)
        self.task_revisions: DataLoader[str, list[RevisionRow]] = _by_key(lambda ids: tasks.revisions(db, caller, ids), list)
        self.memory_revisions: DataLoader[str, list[RevisionRow]] = _by_key(lambda ids: memory.revisions(db, caller, ids), list)
        self.routines: DataLoader[str, list[RoutineRow]] = _by_key(lambda ids: schedules.of_agents(db, caller, ids), list)
        self._db, self._caller = db, caller
        self._records: dict[tuple[int, int], DataLoader[Row, RecordPage]] = {}
        self._changes: dict[tuple[int, str | None], DataLoader[str, list[Seen]]] = {}

    def records(self, limit: int, offset: int) -> DataLoader[Row, RecordPage]:
        """The loader of a page of a collection's records, for one page's bounds; its keys are collections."""
        if (limit, offset) not in self._records:
            db, caller = self._db, self._caller

            async def load(tables: list[Row]) -> list[RecordPage]:
                if len(tables) == 1:
                    return [await record_list.for_collection(db, caller, tables[0], limit=limit, offset=offset)]
                pages = await record_pages.of_collections(db, caller, tables, limit, offset)
                return [pages[table.id] for table in tables]

            self._records[limit, offset] = DataLoader(load_fn=load, cache=False)
        return self._records[limit, offset]

    def changes(self, limit: int, before: Any) -> DataLoader[str, list[Seen]]:
        """The loader of the changes of a path, for one page's bounds."""
        bounds = (limit, None if before is None else str(before))
        if bounds not in self._changes:
            db, caller = self._db, self._caller
            self._changes[bounds] = _by_key(lambda paths: provenance.changes_seen(db, caller, paths, limit, before), list)
        return self._changes[bounds]
