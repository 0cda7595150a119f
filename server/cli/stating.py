"""What `muniment state` shows."""

import json

import typer

from models.caller import system
from models.errors import Unprocessable
from models.text import check
from server import runtime
from server.settings import Settings
from store import agents, organisations, state
from store.agents import AgentRow
from store.database import Database
from store.organisations import OrganisationRow
from store.state import AgentState


def show(settings: Settings, agent: str, org: str | None) -> None:
    """Print the State. Raises NotFound, Unprocessable for a name that agents of several organisations have."""
    found = runtime.run(settings, lambda db: _state(db, agent, org))
    typer.echo(json.dumps(state.as_json(found), ensure_ascii=False, indent=2))


async def _state(db: Database, agent: str, org: str | None) -> AgentState:
    check(agent=agent, org=org)
    rows = [await organisations.get(db, org)] if org is not None else await organisations.listed(db)
    found = [(row, one) for row in rows for one in await agents.listed(db, row.id) if agent in {one.id, one.name}]
    if not found:
        raise agents.unknown(agent)
    if len(found) > 1:
        raise Unprocessable(
            "\n".join([f"several organisations have an agent {agent}; say which with --org ID, or name it by its id", *map(_line, found)])
        )
    organisation, one = found[0]
    return await state.of_agent(db, system(organisation.id), one.id)


def _line(found: tuple[OrganisationRow, AgentRow]) -> str:
    organisation, agent = found
    return f"  {agent.id}  {organisation.name} ({organisation.id})"
