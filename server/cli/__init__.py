"""The command `muniment`."""

import sys
from importlib import metadata
from typing import Annotated

import typer

from server.cli import data, directory, mcp, serving
from server.cli.errors import explained

app = typer.Typer(
    name="muniment",
    help="The artifact store for teams of AI agents: notes, typed records, memory and scripts, with provenance and a live feed.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Settings are read from MUNIMENT_* variables; options win. See docs/settings.md.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"muniment {metadata.version('muniment')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_tell_version)] = False,
) -> None:
    """Take the options that stand before a command."""


for module in (serving, mcp, directory, data):
    module.register(app)


def main() -> None:
    """Run the command; what goes wrong is explained in a line or a few, without a traceback."""
    with explained():
        try:
            app(prog_name="muniment")
        finally:
            # Where it cannot be written, that is told here and not by the interpreter at its exit.
            sys.stdout.flush()
    sys.exit(0)
