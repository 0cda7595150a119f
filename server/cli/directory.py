"""muniment org, token, sign-in: who may call."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from server import runtime
from server import settings as settings_module
from server.cli.choosing import organisation
from server.cli.serving import DatabaseUrl, Home
from server.listening import address, sign_in_address
from store import organisations, sessions, tokens
from store.database import Database
from store.sql import Shape
from store.tokens import TokenRow

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

    async def work(db: Database) -> list[TokenRow]:
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


def sign_in(
    org: Annotated[str | None, typer.Option(help="Organisation; needed only where there are several.")] = None,
    user: Annotated[str, typer.Option(help="Name of the operator, who is made if there is none of this name.")] = "operator",
    port: Annotated[
        int | None, typer.Option(help="Port that the server listens on [MUNIMENT_PORT, else 8000].", show_default=False)
    ] = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Print an address that signs an operator in. It is good once, for ten minutes."""
    settings = settings_module.read(port=port, database_url=database_url, home=home)

    async def work(db: Database) -> str:
        operator = await organisations.operator(db, await organisation(db, org), user)
        return await sessions.create_code(db, operator.org_id, operator.id)

    typer.echo(sign_in_address(address(settings, settings.port), runtime.run(settings, work)))


def _show(rows: Sequence[Shape], columns: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        for row in rows:
            typer.echo(
                json.dumps(
                    {column: getattr(row, column) for column in columns}, default=lambda value: value.isoformat(), ensure_ascii=False
                )
            )
        return
    table = Table(box=None, pad_edge=False, show_header=bool(rows))
    for column in columns:
        table.add_column(column.removesuffix("_at").replace("_", " "), overflow="fold", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(getattr(row, column)) for column in columns))
    # Lines are for people and for cut and grep alike: one a row, whatever the width of the window.
    Console(width=400 if rows else None, soft_wrap=True, highlight=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "never"
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(_org, name="org")
    app.add_typer(_token, name="token")
    app.command("sign-in")(sign_in)
