"""muniment mcp: the tools of agents for a client that starts its own server."""

from typing import Annotated

import typer

from server.cli.serving import DatabaseUrl, Home


def mcp(
    token: Annotated[
        str | None,
        typer.Option(help="Token, or signed JWT, of the caller. Others can see options: prefer the variable.", envvar="MUNIMENT_TOKEN"),
    ] = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Serve the tools of agents (MCP) over standard input and output, as whoever the token belongs to.

    `muniment token create --agent ID` makes a token. A running server offers the same tools over HTTP at /mcp.
    """
    if not token:
        raise typer.BadParameter("give --token or set MUNIMENT_TOKEN; `muniment token create --agent ID` makes a token")
    from server import logs, runtime
    from server import settings as settings_module
    from server.mcp import stdio

    settings = settings_module.read(database_url=database_url, home=home)
    logs.configure(settings)
    runtime.run(settings, lambda db: stdio.serve(settings, db, token))


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(short_help="Serve the tools of agents (MCP) over standard input and output.")(mcp)
