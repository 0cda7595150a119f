"""The command `memo` itself."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vault.cli import options
from vault.cli.command import Verbs
from vault.cli.session import Session

VERBS = {
    **dict.fromkeys(("upsert", "append", "forget", "feedback"), "vault.cli.writing"),
    **dict.fromkeys(("get", "search", "list", "view", "projects"), "vault.cli.reading"),
    **dict.fromkeys(("gc", "sync", "doctor", "mcp", "completion"), "vault.cli.upkeep"),
}
_EXAMPLES = """\
memo upsert --kind trap --title 'Pool leaks' --body 'Close it in finally.'
memo search 'pool AND leak'
memo get pool-leaks"""


@click.group(
    cls=Verbs,
    places=VERBS,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="muniment", message="memo %(version)s")
@options.JSON
@options.CWD
@options.ROOT
@click.pass_context
def app(context: click.Context, *, as_json: bool, cwd: Path | None, vault_root: Path | None) -> None:
    """Durable project memory as Markdown files.

    Options other than --version may stand before or behind the verb.
    """
    context.obj = Session(as_json, cwd, vault_root)


def main() -> None:
    """Run `memo`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter must not lose the answer
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="memo")
