"""The command `muniment`."""

import sys

import typer

from server.cli import data, directory, mcp, serving
from server.cli.errors import explained

app = typer.Typer(
    name="muniment",
    help="The artifact store for teams of AI agents: notes, typed records, memory and scripts, with provenance and a live feed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Settings are read from MUNIMENT_* variables; options win. See docs/settings.md.",
)
for module in (serving, mcp, directory, data):
    module.register(app)


def main() -> None:
    """Run the command; what goes wrong is explained in a line or a few, without a traceback."""
    with explained():
        app(prog_name="muniment")
    sys.exit(0)
