"""muniment serve, migrate, schema, queries."""

from pathlib import Path
from typing import Annotated

import typer

from server import settings as settings_module

Home = Annotated[Path | None, typer.Option("--home", help="Folder of all state [MUNIMENT_HOME, else ./.muniment].", show_default=False)]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", help="PostgreSQL to use instead of the embedded one [MUNIMENT_DATABASE_URL].", show_default=False),
]


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [MUNIMENT_HOST, else 127.0.0.1].", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes any free one [MUNIMENT_PORT, else 8000].", show_default=False)] = None,
    workers: Annotated[int | None, typer.Option(help="Server processes [MUNIMENT_WORKERS, else 1].", show_default=False)] = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="Load the demo organisation into a database that is new.")] = True,
) -> None:
    """Serve GraphQL, REST, MCP and GraphiQL until Ctrl-C.

    Without a database URL an embedded PostgreSQL is started in the home folder and stopped at the end. The address that is printed
    signs the operator in, once and within ten minutes.
    """
    from server.serve import serve as run

    run(settings_module.read(host=host, port=port, workers=workers, database_url=database_url, home=home), demo=demo)


def migrate(
    database_url: DatabaseUrl = None,
    home: Home = None,
    revision: Annotated[str, typer.Option(help="Revision to go up to.")] = "head",
) -> None:
    """Bring the database to the schema that this version needs. Several at once wait for each other."""
    from server.runtime import migrate_database

    print(migrate_database(settings_module.read(database_url=database_url, home=home), revision))  # noqa: T201  # the command line


def schema() -> None:
    """Print the GraphQL schema (SDL)."""
    from schema import sdl

    typer.echo(sdl(), nl=False)


def queries(
    name: Annotated[str | None, typer.Argument(help="Name of the operation; without it they are listed.", show_default=False)] = None,
) -> None:
    """Print an operation of the product whole, with the fragments that it needs.

    The text can be pasted into GraphiQL or sent as it is. Without NAME each operation is listed with its variables.

    muniment queries AddRecord
    """
    from server.documents import document, heads

    for line in [document(name).rstrip()] if name is not None else heads():
        typer.echo(line)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(serve)
    app.command()(migrate)
    app.command()(schema)
    app.command(short_help="Print an operation of the product, ready to paste.")(queries)
