"""muniment import, export, demo, doctor."""

from pathlib import Path
from typing import Annotated

import typer

from server import settings as settings_module
from server.cli.serving import DatabaseUrl, Home
from store.transfer import Format

Org = Annotated[str | None, typer.Option(help="Organisation; needed only where there are several.", show_default=False)]
Kind = Annotated[Format | None, typer.Option("--format", help="By default as the file's name ends.", show_default=False)]
Mapped = Annotated[
    list[str] | None, typer.Option("--map", help='A field and its column, as in --map "E-mail address=email".', show_default=False)
]
Missing = Annotated[
    str | None,
    typer.Option("--na", help='CSV cells without a value, as in --na "n/a,-"; not in text columns.', show_default=False),
]
Collection = Annotated[str | None, typer.Option(help="Name of the collection.", show_default=False)]


def import_(
    file: Annotated[Path | None, typer.Argument(help="CSV or JSON Lines; - reads what comes in.", show_default=False)] = None,
    *,
    collection: Collection = None,
    create: Annotated[bool, typer.Option("--create", help="Make the collection, with the columns that the file's rows fit.")] = False,
    purpose: Annotated[str | None, typer.Option(help="With --create: what the collection is for.", show_default=False)] = None,
    unique: Annotated[
        str | None, typer.Option(help="With --create: the column that tells records apart, or none.", show_default=False)
    ] = None,
    mapped: Mapped = None,
    missing: Missing = None,
    kind: Kind = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and say what would come of it; write nothing.")] = False,
    everything: Annotated[
        Path | None, typer.Option("--all", help="Bring in a whole organisation from a folder of `export --all`.", show_default=False)
    ] = None,
    org: Org = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Add the rows of a file to a collection, or bring in a whole organisation: all of it, or nothing.

    Fields go to the columns of their names, or to those that keep the field's name as their description. A row whose unique value is there
    already goes into that record as a patch. Problems are told by line and column. In a CSV a cell that is empty is missing, "" is an empty
    text, NA and N/A are no number and no time, and an array is written as JSON: ["a","b"]. A number that would lose digits is no number.

    muniment import leads.csv --collection leads --create --dry-run
    """
    # Checked before anything starts, for a database takes seconds to come up.
    if (file is None) == (everything is None):
        raise typer.BadParameter("give either a FILE (with --collection NAME) or --all DIR")
    settings = settings_module.read(database_url=database_url, home=home)
    if everything is not None:
        if collection or create or purpose or unique or mapped or missing or kind or dry_run or org:
            raise typer.BadParameter("--all takes a whole organisation and no other options")
        from server.cli import whole

        whole.bring_in(settings, everything)
    elif file is not None:
        if collection is None:
            raise typer.BadParameter("say with --collection NAME where the rows belong")
        if (purpose or unique) and not create:
            raise typer.BadParameter("--purpose and --unique belong to --create")
        from server.cli import importing

        request = importing.Request(
            file=file,
            collection=collection,
            org=org,
            kind=kind,
            create=create,
            purpose=purpose,
            unique=unique,
            dry_run=dry_run,
            reading=importing.reading(mapped or [], missing),
        )
        importing.import_file(settings, request)


def export(
    *,
    collection: Collection = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; by default stdout.", show_default=False)] = None,
    kind: Kind = None,
    facts: Annotated[bool, typer.Option("--facts", help="Also each record's id, times and writers, which an import passes over.")] = False,
    for_spreadsheet: Annotated[
        bool, typer.Option("--for-spreadsheet", help="CSV: put ' before texts that a spreadsheet would run as formulas.")
    ] = False,
    everything: Annotated[
        Path | None, typer.Option("--all", help="Write a whole organisation into this new folder.", show_default=False)
    ] = None,
    org: Org = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Write a collection's records as JSON Lines or CSV, or a whole organisation into a folder.

    An import of the file into a collection with the same columns makes the same records. A whole organisation has everything but tokens,
    whose secrets are not known: issue new ones after `import --all`.

    muniment export --collection leads --output leads.csv
    """
    if (collection is None) == (everything is None):
        raise typer.BadParameter("give either --collection NAME or --all DIR")
    settings = settings_module.read(database_url=database_url, home=home)
    if everything is not None:
        if output or kind or facts or for_spreadsheet:
            raise typer.BadParameter("--all takes no options but --org")
        from server.cli import whole

        whole.write(settings, everything, org)
    elif collection is not None:
        from server.cli import exporting

        chosen = exporting.Lines(kind, facts=facts, for_spreadsheet=for_spreadsheet)
        exporting.export_collection(settings, collection, chosen, org=org, output=output)


def demo(database_url: DatabaseUrl = None, home: Home = None) -> None:
    """Load the demo organisation into a database that has no organisation yet."""
    from server import demo as demos
    from server import runtime

    loaded = runtime.run(settings_module.read(database_url=database_url, home=home), demos.load_if_new)
    typer.echo("The demo organisation is loaded." if loaded else "There is an organisation already; the demo was not loaded.")


def doctor(database_url: DatabaseUrl = None, home: Home = None) -> None:
    """Check the settings, the database and what is stored there; exit with 1 and a line for each thing that is broken."""
    from server.cli import doctoring

    doctoring.run(database_url, home)


def state(
    agent: Annotated[str, typer.Argument(help="Id of the agent, or its name.", show_default=False)],
    *,
    org: Org = None,
    database_url: DatabaseUrl = None,
    home: Home = None,
) -> None:
    """Print an agent's State, as its next run would be given it, as JSON.

    muniment state AGENT | jq .collections
    """
    from server.cli import stating

    stating.show(settings_module.read(database_url=database_url, home=home), agent, org)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("import", short_help="Add a file's rows to a collection, or bring in an organisation.")(import_)
    app.command(short_help="Write a collection's records, or a whole organisation.")(export)
    app.command(short_help="Print what an agent's next run would be given.")(state)
    app.command(short_help="Load the demo into a database that is new.")(demo)
    app.command(short_help="Check the settings, the database and what is stored.")(doctor)
