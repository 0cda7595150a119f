"""Writing provenance: one `file_changes` row for each write, in the write's own transaction."""

from dataclasses import dataclass
from datetime import datetime

from models.caller import Caller
from models.kinds import FileKind, FileOperation, NoteLevel
from store.database import Row, Writer

# The columns that make up a FileChange wherever one is read; (xid, change_id) is its position in the feed.
COLUMNS = """c.id AS change_id, c.xid, c.file_id, c.display_path, c.event_path, c.previous_path, c.kind, c.operation, c.version,
    c.level, c.owner_id, c.collection_id, c.actor_kind, c.actor_id, c.actor_name,
    c.run_id, c.tool_call_id, c.tool_name, c.at, true AS recorded"""

INSERT_COLUMNS = """org_id, file_id, display_path, event_path, previous_path, kind, operation, version, level, owner_id, collection_id,
    actor_kind, actor_id, actor_name, run_id, tool_call_id, tool_name, at"""

_INSERT = f"""INSERT INTO file_changes AS c ({INSERT_COLUMNS})
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) RETURNING {COLUMNS}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happened to one file. `event_path` is the path that the feed publishes it for, `path` unless said otherwise."""

    kind: FileKind
    operation: FileOperation
    file_id: str
    path: str
    version: int | None
    at: datetime
    level: NoteLevel | None = None
    owner_id: str | None = None
    collection_id: str | None = None
    event_path: str | None = None
    previous_path: str | None = None

    def values(self, caller: Caller) -> tuple[object, ...]:
        """The row's values in the order of INSERT_COLUMNS."""
        event = self.event_path or self.path
        about = (self.kind, self.operation, self.version, self.level, self.owner_id, self.collection_id)
        who = (caller.kind, caller.id, caller.name, caller.run_id, caller.tool_call_id, caller.tool_name)
        return (caller.org_id, self.file_id, self.path, event, self.previous_path, *about, *who, self.at)


async def record(writer: Writer, caller: Caller, change: Change) -> Row:
    """Append the change to the trail; the stored row."""
    writer.touched.add(caller.org_id)
    row = await writer.row(_INSERT, *change.values(caller))
    if row is None:
        raise RuntimeError("an insert returned no row")
    return row


async def record_many(writer: Writer, caller: Caller, changes: list[Change]) -> None:
    """Append many changes in their order."""
    writer.touched.add(caller.org_id)
    await writer.execute_many(_INSERT.partition(" RETURNING")[0], [change.values(caller) for change in changes])


# The next version at a path: one more than the newest that a change there, or a move away from there, carries.
LAST_VERSION = """coalesce((SELECT max(v.version) FROM (
    (SELECT version FROM file_changes WHERE org_id = $1 AND display_path = $2 ORDER BY id DESC LIMIT 1)
    UNION ALL
    (SELECT version FROM file_changes WHERE org_id = $1 AND previous_path = $2 ORDER BY id DESC LIMIT 1)) v), 0)"""


async def last_version(reader: Writer, org_id: str, path: str) -> int:
    """The version that a path had last, 0 when it never had one: a path that is written again goes on from it."""
    version: int = await reader.value(f"SELECT {LAST_VERSION}", org_id, path)
    return version
