"""What `muniment export --all` and `muniment import --all` do."""

from collections.abc import Callable
from pathlib import Path

import typer

from server import backup, runtime
from server.backup import Manifest
from server.cli.choosing import organisation
from server.cli.progress import progress
from server.settings import Settings
from store.database import Database


def write(settings: Settings, folder: Path, org: str | None) -> None:
    """Write the organisation into the folder, and say what is in it."""

    async def work(db: Database, tell: Callable[[str, int], None]) -> Manifest:
        return await backup.write(db, await organisation(db, org), folder, tell)

    with progress("Exporting") as shown:
        manifest = runtime.run(settings, lambda db: work(db, _counted(shown)))
    _summary(f"{manifest.organisation['name']} ({manifest.organisation['id']}) written to {folder}", manifest)
    for table, why in manifest.left_out.items():
        typer.echo(f"Left out: {table} ({why}).", err=True)


def bring_in(settings: Settings, folder: Path) -> None:
    """Bring the organisation in, and say what came."""
    with progress("Importing") as shown:
        manifest = runtime.run(settings, lambda db: backup.bring_in(db, folder, _counted(shown)))
    _summary(f"{manifest.organisation['name']} ({manifest.organisation['id']}) brought in from {folder}", manifest)
    typer.echo("Its tokens are not among that; issue new ones with `muniment token create`.", err=True)


def _counted(shown: Callable[[int], None]) -> Callable[[str, int], None]:
    done = 0

    def tell(_table: str, rows: int) -> None:
        nonlocal done
        done += rows
        shown(done)

    return tell


def _summary(heading: str, manifest: Manifest) -> None:
    typer.echo(f"{heading}: {manifest.rows:,} rows", err=True)
    width = max(len(table) for table in manifest.tables)
    for table, facts in manifest.tables.items():
        if facts.rows:
            typer.echo(f"  {table:<{width}}  {facts.rows:>9,}", err=True)
    # Alone on stdout, for scripts; everything for people is on stderr.
    typer.echo(manifest.organisation["id"])
