"""Running the server: the database, the demo, the address that signs in, and uvicorn."""

import asyncio
import logging
import os
from pathlib import Path
from socket import socket
from typing import Any

import typer
import uvicorn
from uvicorn.supervisors import Multiprocess

from server import logs, operator_token, runtime
from server.app import App
from server.http_protocol import BoundedProtocol
from server.listening import address, bound, sign_in_address
from server.services import require_vault
from server.settings import Settings, read
from server.telemetry import require_telemetry
from store import sessions
from store.database import Database

_DSN = "MUNIMENT_SERVED_DSN"


class Server(uvicorn.Server):
    """A server that says so once it serves."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, then greet."""
        await super().startup(sockets)
        if self.started:
            typer.echo(self._greeting)


def serve(settings: Settings, *, demo: bool) -> None:
    """Serve until a signal ends it.

    Raises CannotListen, what `runtime.database` raises, and SettingsError for a vault that is none and for traces that cannot be sent.
    """
    logs.configure(settings)
    require_telemetry(settings)
    # Before a database is started or made: an address that is taken is the commonest fault, and should be told at once.
    with bound(settings) as listener, runtime.database(settings) as dsn:
        code = asyncio.run(_prepare(settings, dsn, with_demo=demo))
        _listen(settings, dsn, code, listener)


async def _prepare(settings: Settings, dsn: str, *, with_demo: bool) -> str | None:
    """Load the demo where nothing is yet. Return a code that signs the operator of the home folder in, if there is one."""
    db = await Database(dsn, size=2).open()
    try:
        if with_demo:
            from server import demo  # its content is read once in the life of a database

            await demo.load_if_new(db)
        await require_vault(settings, db)
        operator = await operator_token.keep(db, settings.home) if settings.database_url is None else None
        return await sessions.create_code(db, operator.org_id, operator.id) if operator else None
    finally:
        await db.close()


def _listen(settings: Settings, dsn: str, code: str | None, listener: socket) -> None:
    config = uvicorn_config(
        App(settings, dsn) if settings.workers == 1 else "server.serve:worker",
        factory=settings.workers > 1,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        ws_max_size=settings.max_body_bytes,
        timeout_graceful_shutdown=3,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    greeting = _greeting(settings, listener.getsockname()[1], code)
    if settings.workers == 1:
        Server(config, greeting).run(sockets=[listener])
        return
    os.environ |= {_DSN: dsn, **_as_environment(settings)}
    # Whoever is quicker than the processes waits for them instead of being refused.
    listener.listen(config.backlog)
    typer.echo(greeting)
    Multiprocess(config, sockets=[listener]).run()


def uvicorn_config(app: App | str, **options: Any) -> uvicorn.Config:
    """How uvicorn serves the application, with whatever else it should know."""
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="websockets-sansio",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        **options,
    )


def worker() -> App:
    """The application of one of several processes, made from the environment that `serve` left."""
    return App(read(), os.environ[_DSN])


def _as_environment(settings: Settings) -> dict[str, str]:
    given = {name: getattr(settings, name) for name in settings.model_fields_set - {"jwt_secret", "allowed_origins", "allowed_hosts"}}
    return {f"MUNIMENT_{name.upper()}": _text(value) for name, value in given.items() if value is not None}


def _text(value: object) -> str:
    return str(value.resolve()) if isinstance(value, Path) else str(value)


def _greeting(settings: Settings, port: int, code: str | None) -> str:
    base = address(settings, port)
    if code is None:
        return f"""Muniment serves at {base}/graphql
`muniment sign-in --org ID --user NAME` prints an address that signs an operator in; `muniment org create NAME` makes an organisation."""
    return f"""Muniment serves. Open this address within ten minutes to sign in as the operator:

  {sign_in_address(base, code)}

It is good once; `muniment sign-in` prints another. Ctrl-C stops everything."""
