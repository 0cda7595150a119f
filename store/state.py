"""State: an agent's standing resources as a new run is given them."""

from dataclasses import dataclass
from typing import Any

from models.caller import Caller
from models.columns import ColumnDef, load
from models.datetimes import stored
from models.kinds import AccessMode, ArtifactKind, CollectionScope
from models.limits import STATE_COLLECTIONS
from models.text import check
from store import access, agent_files, agents, embeds
from store.database import Database, Reader, Row
from store.display_paths import ARTIFACT_PATH, COLLECTION_PATH

_AGENT = """SELECT id, guild_id, read_guild, read_org, task FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"""
_FILES = f"""SELECT a.kind, a.key AS name, {ARTIFACT_PATH} AS display_path, a.version,
        CASE a.kind WHEN 'MEMORY' THEN a.content END AS content
    FROM artifacts a WHERE a.org_id = $1 AND a.owner_id = $2 AND a.kind IN ('MEMORY', 'SCRIPT') AND a.deleted_at IS NULL
    ORDER BY lower(a.key), a.key"""
# The agent's own notes, then its guild's, then the organisation's; a null guild and organisation stand for what it does not read.
_NOTES = f"""SELECT {ARTIFACT_PATH} AS display_path, a.version, a.updated_at FROM artifacts a
    WHERE a.org_id = $1 AND a.kind = 'NOTE' AND a.deleted_at IS NULL AND a.owner_id = ANY($2::text[])
        AND (a.level, a.owner_id) IN (('AGENT', $3::text), ('GUILD', $4::text), ('ORG', $5::text))
    ORDER BY a.level, lower(a.key), a.key"""
_COLLECTIONS = f"""SELECT k.name, k.purpose, {access.effective()} AS access,
        CASE WHEN k.guild_id IS NULL THEN 'ORG' ELSE 'GUILD' END AS scope,
        {COLLECTION_PATH} AS display_path, k.columns
    FROM artifact_collections k {access.joins()}
    WHERE k.org_id = $1 AND k.deleted_at IS NULL AND {access.effective()} <> 'NONE' ORDER BY k.name LIMIT {STATE_COLLECTIONS + 1}"""


@dataclass(frozen=True, slots=True)
class StateCollection:
    """A table that the agent is granted, or with `truncated` the sign that there are more, which has nothing else."""

    name: str | None = None
    purpose: str | None = None
    access: AccessMode | None = None
    scope: CollectionScope | None = None
    display_path: str | None = None
    columns: list[ColumnDef] | None = None
    truncated: bool = False

    def as_json(self) -> dict[str, Any]:
        """The entry as agents read it: modes, scopes and types in lower case."""
        if self.truncated:
            return {"truncated": True}
        return {
            "name": self.name,
            "purpose": self.purpose,
            "access": str(self.access).lower(),
            "scope": str(self.scope).lower(),
            "display_path": self.display_path,
            "columns": [column.stored() for column in self.columns or ()],
        }


@dataclass(frozen=True, slots=True)
class AgentState:
    """`task` has its embeds inlined; `notes` are (display_path, version, updated_at), `scripts` (display_path, name, version)."""

    task: str
    memory: str | None
    notes: list[Row]
    scripts: list[Row]
    collections: list[StateCollection]


async def of_agent(db: Database, caller: Caller, agent_id: str) -> AgentState:
    """An agent's State as of one moment, for operators and the agent itself: what the agent may read, whoever asks.

    Six statements at most, whatever its size. Raises Forbidden for another agent, NotFound for an unknown one.
    """
    check(agentId=agent_id)
    agent_files.require_own(caller, [agent_id], "State")
    # One moment for all of it: a run must not get a task that names a table which its list does not have yet.
    async with db.snapshot() as reader:
        agent = await reader.row(_AGENT, caller.org_id, agent_id)
        if agent is None:
            raise agents.unknown(agent_id)
        files = await reader.rows(_FILES, caller.org_id, agent_id)
        return AgentState(
            task=await embeds.inlined(reader, caller.org_id, agent.task),
            memory=next((file.content for file in files if file.kind == ArtifactKind.MEMORY), None),
            notes=await _notes(reader, caller.org_id, agent),
            scripts=[file for file in files if file.kind == ArtifactKind.SCRIPT],
            collections=await _collections(reader, caller.org_id, agent),
        )


async def _notes(reader: Reader, org_id: str, agent: Row) -> list[Row]:
    owners = (agent.id, agent.guild_id if agent.read_guild else None, org_id if agent.read_org else None)
    return await reader.rows(_NOTES, org_id, [owner for owner in owners if owner is not None], *owners)


async def _collections(reader: Reader, org_id: str, agent: Row) -> list[StateCollection]:
    rows = await reader.rows(_COLLECTIONS, org_id, agent.id, agent.guild_id)
    entries = [
        StateCollection(
            name=row.name,
            purpose=row.purpose,
            access=AccessMode(row.access),
            scope=CollectionScope(row.scope),
            display_path=row.display_path,
            columns=list(load(row.columns)),
        )
        for row in rows[:STATE_COLLECTIONS]
    ]
    return [*entries, StateCollection(truncated=True)] if len(rows) > STATE_COLLECTIONS else entries


def as_json(state: AgentState) -> dict[str, Any]:
    """State in the shape that REST and the command line show."""
    return {
        "task": state.task,
        "memory": state.memory,
        "notes": [
            {"display_path": note.display_path, "version": note.version, "updated_at": stored(note.updated_at)} for note in state.notes
        ],
        "scripts": [{"display_path": file.display_path, "name": file.name, "version": file.version} for file in state.scripts],
        "collections": [entry.as_json() for entry in state.collections],
    }
