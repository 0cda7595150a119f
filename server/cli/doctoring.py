"""What `muniment doctor` looks at: the settings, the database, the bell, and what is stored."""

import asyncio
from pathlib import Path

import typer

from server import migrate, runtime
from server.migrate import MigrationError
from server.postgres import PostgresError
from server.runtime import OldSchema
from server.services import broadcast_url
from server.settings import Settings, SettingsError, read
from store import health, invariants
from store.bell import Bell
from store.database import Database, DatabaseUnavailable

_PATIENCE = 5.0  # seconds


def run(database_url: str | None, home: Path | None) -> None:
    """Print a line for each check, and more for each thing that is broken; exits with 1 if anything is."""
    report = _Report()
    try:
        settings = read(database_url=database_url, home=home)
        report.sound("settings", _described(settings))
        with runtime.database(settings) as dsn:
            asyncio.run(_examine(settings, dsn, report))
    except SettingsError as error:
        report.broken("settings", str(error))
    except (OldSchema, MigrationError) as error:
        report.broken("migrations", str(error))
    except (PostgresError, DatabaseUnavailable, OSError) as error:
        report.broken("database", str(error))
    report.end()


class _Report:
    """The lines, with what they are about in front."""

    def __init__(self) -> None:
        self.faults = 0

    def sound(self, what: str, text: str) -> None:
        self.tell("ok", what, text)

    def broken(self, what: str, text: str) -> None:
        self.tell("broken", what, text)

    def tell(self, state: str, what: str, text: str) -> None:
        self.faults += state == "broken"
        first, *more = text.splitlines()
        typer.echo(f"{state:<7} {what:<12} {first}")
        for line in more:
            typer.echo(f"{'':21}{line}")

    def end(self) -> None:
        if self.faults:
            typer.echo(f"muniment: {self.faults} thing{'s are' if self.faults > 1 else ' is'} broken", err=True)
            raise typer.Exit(1)


def _described(settings: Settings) -> str:
    place = "the database of MUNIMENT_DATABASE_URL" if settings.database_url else f"the embedded database in {settings.home}"
    return f"{place}; {'production' if settings.production else 'development'}"


async def _examine(settings: Settings, dsn: str, report: _Report) -> None:
    # Checks of a large store may take longer than any request may.
    db = await Database(dsn, size=2, statement_timeout=0).open()
    try:
        async with db.read() as reader:
            for what, state, text in await health.of_server(reader):
                report.tell(state, what, text)
        report.sound("migrations", f"revision {migrate.head()}")
        await _bell(settings, dsn, report)
        await _stored(db, report)
    finally:
        await db.close()


async def _bell(settings: Settings, dsn: str, report: _Report) -> None:
    url = broadcast_url(settings, dsn)
    scheme = url.partition("://")[0]
    bell = Bell(url)
    await bell.start()
    try:
        async with asyncio.timeout(_PATIENCE):
            while not bell.connected:  # noqa: ASYNC110  # the bell tells its state, not when it changes
                await asyncio.sleep(0.02)
        report.sound("bell", f"reached over {scheme}")
    except TimeoutError:
        report.broken("bell", f"not reached over {scheme} within {_PATIENCE:.0f} s; changes of other processes arrive late")
    finally:
        await bell.stop()


async def _stored(db: Database, report: _Report) -> None:
    found = await invariants.findings(db)
    for finding in found:
        report.broken("stored", f"{finding.message} (organisation {finding.org_id})")
    broken = {finding.invariant for finding in found}
    for invariant in invariants.INVARIANTS:
        if invariant not in broken:
            report.sound("stored", invariant)
