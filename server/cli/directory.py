"""muniment org, token: who may call."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from server import runtime
from server import settings as settings_module
from server.cli.serving import DatabaseUrl, Home
from store import organisations, tokens
from store.database import Database, Row

_org = typer.Typer(no_args_is_help=True, help="Organisations: each sees nothing of another.")
_token = typer.Typer(no_args_is_help=True, help="Bearer tokens of operators and agents. A token is shown once and stored hashed.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]


@_org.command("create")
def create_organisation(name: str, database_url: DatabaseUrl = None, home: Home = None) -> None:
    """Create an organisation and print its id."""
    settings = settings_module.read(database_url=database_url, home=home)
    typer.echo(runtime.run(settings, lambda db: organisations.create(db, name)).id)


@_org.command("list")
def list_organisations(*, as_json: Json = False, database_url: DatabaseUrl = None, home: Home = None) -> None:
    """List the organisations: id, name, when created."""
    settings = settings_module.read(database_url=database_url, home=home)
    _show(runtime.run(settings, organisations.listed), ("id", "name", "created_at"), as_json=as_json)


@_token.command("create", short_help="Create a token and print it.")
def create_token(
    org: Annotated[str | None, typer.Option(help="Organisation of the operator.")] = None,
    user: Annotated[str | None, typer.Option(help="Name of the operator, who is made if there is none of this name.")] = None,
    agent: Annotated[str | None, typer.Option(help="Id of the agent.")] = None,
    name: Annotated[str, typer.Option(help="What the token is for.")] = "",
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Create a token and print it: --org ID --user NAME for an operator, --agent ID for an agent. It is not shown again."""
    if (user is None) == (agent is None):
        raise typer.BadParameter("give either --user (with --org) or --agent")
    if user is not None and org is None:
        raise typer.BadParameter("--user needs --org ID; `muniment org list` shows the ids")
    settings = settings_module.read(database_url=database_url, home=home)
    if agent is not None:
        typer.echo(runtime.run(settings, lambda db: tokens.create_for_agent(db, agent, org_id=org, name=name)))
    elif user is not None and org is not None:
        typer.echo(runtime.run(settings, lambda db: tokens.create_for_user(db, org, user, name=name)))


@_token.command("list", short_help="List the tokens that are valid.")
def list_tokens(
    *,
    org: Annotated[str | None, typer.Option(help="Only of this organisation.")] = None,
    as_json: Json = False,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """List the tokens that are valid: id, kind, name, created, last used. The secrets are not known."""
    settings = settings_module.read(database_url=database_url, home=home)

    async def work(db: Database) -> list[Row]:
        if org is not None:
            await organisations.get(db, org)  # an id that is mistyped would look like an organisation without tokens
        return await tokens.listed(db, org)

    rows = runtime.run(settings, work)
    _show(rows, ("id", "kind", "name", "created_at", "last_used_at"), as_json=as_json)


@_token.command("revoke", short_help="Revoke a token by its id or by itself.")
def revoke_token(id_or_token: str, database_url: DatabaseUrl = None, home: Home = None) -> None:
    """Revoke a token by its id or by itself and print its id. Open subscriptions end within a second."""
    settings = settings_module.read(database_url=database_url, home=home)
    typer.echo(runtime.run(settings, lambda db: tokens.revoke(db, id_or_token)))


def _show(rows: list[Row], columns: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        for row in rows:
            typer.echo(json.dumps({column: row[column] for column in columns}, default=lambda value: value.isoformat(), ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False, show_header=bool(rows))
    for column in columns:
        table.add_column(column.removesuffix("_at").replace("_", " "), overflow="fold", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    # Lines are for people and for cut and grep alike: one a row, whatever the width of the window.
    Console(width=None if rows == [] else 400, soft_wrap=True, highlight=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "never"
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(_org, name="org")
    app.add_typer(_token, name="token")
