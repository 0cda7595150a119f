"""Whether the process lives, and whether it can serve."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server import migrate
from server.services import Services

# Seconds to wait for the database; whoever asks usually waits no longer either.
_PATIENCE = 3.0


class Health:
    """The two endpoints."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def live(self, _request: Request) -> Response:
        """200 as long as the process answers."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _request: Request) -> Response:
        """200 when the database answers, its schema is ours and the bell is connected; else 503 with what is not so."""
        checks = {
            "database": await self._database(),
            "migrations": await self._migrations(),
            "bell": "ok" if self._services.bell.connected else "not connected; changes of other processes arrive with a delay",
        }
        sound = all(answer == "ok" for answer in checks.values())
        return JSONResponse({"status": "ok" if sound else "unavailable", "checks": checks}, status_code=200 if sound else 503)

    async def _database(self) -> str:
        try:
            async with asyncio.timeout(_PATIENCE), self._services.db.read() as reader:
                await reader.value("SELECT 1")
        except Exception:  # noqa: BLE001  # whatever it is, the answer is that it does not serve
            return "does not answer"
        return "ok"

    async def _migrations(self) -> str:
        try:
            async with asyncio.timeout(_PATIENCE), self._services.db.read() as reader:
                current = await reader.value("SELECT version_num FROM alembic_version")
        except Exception:  # noqa: BLE001  # as above
            return "unknown"
        return "ok" if current == migrate.head() else f"the database is at {current}; run `muniment migrate`"
