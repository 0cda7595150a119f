"""The whole application on a fresh database, called as a client calls it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager

from server.app import App
from server.settings import Settings
from store import sessions
from store import tokens as secrets
from store.database import Database
from tests.world import World


@dataclass(frozen=True)
class Tokens:
    """A token for each caller of the world."""

    operator: str
    ada: str
    bob: str
    cyd: str
    loner: str
    stranger: str
    foreign_agent: str


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings for one process with its bell in memory; override it to test others."""
    return Settings(home=tmp_path, broadcast_url="memory://", database_connections=5, allowed_hosts=("muniment.test",))


@pytest.fixture
async def app(settings: Settings, dsn: str) -> AsyncIterator[App]:
    """The application, started."""
    application = App(settings, dsn)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):
        yield application


@pytest.fixture
async def tokens(db: Database, world: World) -> Tokens:
    async def agent(agent_id: str) -> str:
        return await secrets.create_for_agent(db, agent_id)

    return Tokens(
        operator=await secrets.create_for_user(db, world.org, world.operator.name),
        ada=await agent(world.ada.id),
        bob=await agent(world.bob.id),
        cyd=await agent(world.cyd.id),
        loner=await agent(world.loner.id),
        stranger=await secrets.create_for_user(db, world.stranger.org_id, world.stranger.name),
        foreign_agent=await agent(world.foreign_agent.id),
    )


@pytest.fixture
async def session(db: Database, world: World) -> str:
    """The cookie of the operator's session."""
    return await sessions.open_by_token(db, world.operator)


@pytest.fixture
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client that nobody has signed in; give `headers=bearer(token)`."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://muniment.test") as found:
        yield found


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
