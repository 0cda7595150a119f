"""Rows as the JSON of the REST door: snake_case, and the names of closed sets in lower case."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from models.cursor import Cursor
from store.agent_files import AgentFileRow, TaskRow
from store.agents import AgentRow
from store.database import Row
from store.guilds import GuildRow
from store.revisions import RevisionRow
from store.runs import RunRow
from store.transfer import ImportResult

Json = dict[str, Any]


def dumps(content: Any) -> bytes:
    """JSON text; datetimes are RFC 3339 in UTC with a Z, JSON that the database gave is passed through."""
    return orjson.dumps(content, option=orjson.OPT_UTC_Z)


def plain(row: Any, *names: str) -> Json:
    """The values of these names as they are."""
    return {name: getattr(row, name) for name in names}


def low(value: str | None) -> str | None:
    """The name of a member of a closed set as this door spells it."""
    return None if value is None else value.lower()


def actor(row: object, role: str) -> Json:
    """Return who did it; `role` is the beginning of the columns that say so."""
    kind, actor_id, name = (getattr(row, f"{role}_{fact}") for fact in ("kind", "id", "name"))
    return {"kind": kind.lower(), "id": actor_id, "name": name}


def _saved(row: Row | AgentFileRow | TaskRow) -> Json:
    return {"version": row.version, "updated_at": row.updated_at, "updated_by": actor(row, "updated_by")}


def _made(row: Row) -> Json:
    return {"created_at": row.created_at, "created_by": actor(row, "created_by"), **_saved(row)}


def columns(row: Row) -> orjson.Fragment:
    """The columns of a collection."""
    return orjson.Fragment(row.columns)


def collection(row: Row) -> Json:
    """A collection."""
    facts = plain(row, "id", "name", "display_path", "purpose", "guild_id", "record_count")
    return {**facts, "scope": low(row.scope), "access": low(row.access), "columns": columns(row), **_made(row)}


def access_list(rows: Sequence[Row]) -> Json:
    """The grants of a collection by kind of subject."""
    found: Json = {"guilds": [], "agents": []}
    for row in rows:
        found[f"{row.subject_type.lower()}s"].append({"id": row.subject_id, "name": row.subject_name, "mode": low(row.mode)})
    return found


def record(row: Row) -> Json:
    """A record."""
    # The body goes out as the database gave it: parsing would round numbers that JSON text keeps exact.
    return {**plain(row, "id", "collection", "display_path"), "body": orjson.Fragment(row.body), **_made(row)}


def note_entry(row: Row) -> Json:
    """A note without its text."""
    return {**plain(row, "display_path", "owner_id", "key"), "level": low(row.level), **_made(row)}


def note(row: Row) -> Json:
    """A note."""
    return {**note_entry(row), "content": row.content}


def note_hit(row: Row) -> Json:
    """A note that was found."""
    return {**plain(row, "display_path", "key", "snippet", "version", "updated_at"), "level": low(row.level)}


def agent_file(row: AgentFileRow | TaskRow) -> Json:
    """A task or a memory."""
    return {**plain(row, "agent_id", "display_path", "content"), **_saved(row)}


def script_entry(row: AgentFileRow) -> Json:
    """A script without its text."""
    return {**plain(row, "agent_id", "display_path", "name"), **_saved(row)}


def script(row: AgentFileRow) -> Json:
    """A script."""
    return {**script_entry(row), "content": row.content}


def revision(row: RevisionRow) -> Json:
    """A previous version."""
    return {**plain(row, "display_path", "content", "version", "source", "saved_at"), "saved_by": actor(row, "saved_by")}


def change(row: Row, runs: Mapping[str, Json]) -> Json:
    """A change; `runs` has the run that it was made in, if it was made in one."""
    return {
        "cursor": str(Cursor(row.xid, row.change_id)),
        **plain(row, "display_path", "event_path", "previous_path", "version", "tool_call_id", "tool_name", "at", "recorded"),
        "kind": low(row.kind),
        "operation": low(row.operation),
        "actor": actor(row, "actor"),
        "run": runs.get(row.run_id) if row.run_id else None,
    }


def run(row: RunRow, agents: Mapping[str, AgentRow], guilds: Mapping[str, GuildRow]) -> Json:
    """A run with its agent and guild."""
    facts = plain(row, "id", "kind", "status", "routine", "started_at", "finished_at")
    guild = guilds.get(row.guild_id) if row.guild_id else None
    return {**facts, "agent": plain(agents[row.agent_id], "id", "name"), "guild": None if guild is None else plain(guild, "id", "name")}


def imported(result: ImportResult) -> Json:
    """What an import did."""
    problems = [plain(problem, "line", "column", "message") for problem in result.problems]
    return {**plain(result, "rows", "added", "merged", "merged_within", "skipped", "written", "problem_count"), "problems": problems}
