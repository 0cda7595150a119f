"""The routes of provenance."""

from pydantic import Field

from server.rest import models, shapes
from server.rest.arguments import Body, Query
from server.rest.fields import Limit, Paths, Position, Text
from server.rest.route import Answer, Call, Route
from store import agents, guilds, provenance, runs
from store.database import Row


class HistoryQuery(Query):
    """Which changes."""

    display_path: Text | None = Field(default=None, description="Only those of the file at this path.")
    run_id: Text | None = Field(default=None, description="Only those made in this run.")
    limit: Limit = Field(default=50, description="1 to 100.")
    before: Position | None = Field(default=None, description="The cursor of a change: only those before it.")


class LatestQuery(Query):
    """Which files."""

    display_paths: Paths = Field(description="Paths, separated by commas; 500 at most. A path with a comma in it is asked for by POST.")


class LatestBody(Body):
    """Which files."""

    display_paths: list[str] = Field(description="500 at most.")


async def history(call: Call, args: HistoryQuery) -> Answer:
    """The changes of a file, of a run, or of everything, newest first."""
    rows = await provenance.history(
        call.db, call.caller, display_path=args.display_path, run_id=args.run_id, limit=args.limit, before=args.before
    )
    return await _shown(call, rows)


async def latest(call: Call, args: LatestQuery) -> Answer:
    """The newest change of each path, in the order asked; unknown paths are left out."""
    return await _shown(call, await provenance.latest(call.db, call.caller, args.display_paths))


async def latest_of(call: Call, args: LatestBody) -> Answer:
    """The same, for paths in the body."""
    return await _shown(call, await provenance.latest(call.db, call.caller, args.display_paths))


async def _shown(call: Call, rows: list[Row]) -> Answer:
    """The changes with their runs, which are read for all of them together."""
    expanded = await _runs(call, list({row.run_id for row in rows if row.run_id}))
    return Answer({"changes": [shapes.change(row, expanded) for row in rows]})


async def _runs(call: Call, ids: list[str]) -> dict[str, shapes.Json]:
    if not ids:
        return {}
    org = call.caller.org_id
    found = await runs.by_ids(call.db, org, ids)
    who = await agents.by_ids(call.db, org, list({run.agent_id for run in found.values()}))
    teams = await guilds.by_ids(call.db, org, list({run.guild_id for run in found.values() if run.guild_id}))
    return {run_id: shapes.run(run, who, teams) for run_id, run in found.items()}


_GROUP = "file changes"
_LATEST = "/api/file-changes/latest"
ROUTES = (
    Route("GET", "/api/file-changes", history, _GROUP, query=HistoryQuery, answer=models.Changes),
    Route("GET", _LATEST, latest, _GROUP, query=LatestQuery, answer=models.Changes),
    Route("POST", _LATEST, latest_of, _GROUP, body=LatestBody, answer=models.Changes),
)
