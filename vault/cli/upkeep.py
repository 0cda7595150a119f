"""The verbs that look after a vault and its use: gc, sync, doctor, mcp, completion."""

from __future__ import annotations

from pathlib import Path

import click

from vault.cli import printing
from vault.cli.command import Verb, verb
from vault.cli.session import Session

_SHELLS = ("bash", "zsh", "fish")


@verb("gc", "memo gc --dry-run\nmemo gc --all --purge")
@click.option("--purge", is_flag=True, help="Remove the files for good.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--all", "every", is_flag=True, help="In all projects.")
def gc_(session: Session, *, purge: bool, dry_run: bool, every: bool) -> None:
    """Archive (or purge) what has expired."""
    found = session.vault.gc(None if every else session.project, purge=purge, dry_run=dry_run)
    answer = {"collected": [entry.to_dict() for entry in found], "dryRun": dry_run}
    session.answer(answer, lambda: printing.collected(found, dry_run=dry_run))


@verb("sync", "memo sync", project=False)
def sync_(session: Session) -> None:
    """Pick up hand edits, commit and push.

    What is waiting for a commit is committed if vaultGit is enabled, and pushed if it has a remote.
    """
    report = session.vault.sync()
    session.answer(report.to_dict(), lambda: printing.synced(report))
    if report.git.error:
        session.warn((report.git.error,))
        raise click.exceptions.Exit(1)


@verb("doctor", "memo doctor\nmemo doctor --json", project=False)
def doctor_(session: Session) -> None:
    """Check every file, and repair views and index. Exits with 1 if something needs a person."""
    report = session.vault.doctor()
    session.answer(report.to_dict(), lambda: printing.examined(report))
    if not report.ok:
        raise click.exceptions.Exit(1)


@verb("mcp", "memo mcp\nmemo --vault-root ~/.spec-memo mcp --project-id widget", as_json=False)
@click.option(
    "--allow-root", multiple=True, type=click.Path(path_type=Path), help="Another vault that calls may name as vaultRoot; may be repeated."
)
def mcp_(session: Session, *, allow_root: tuple[Path, ...]) -> None:
    """Serve the vault to an agent over MCP.

    It speaks on standard input and output until its input ends.
    """
    from vault.mcp import serve

    serve(session.root, session.cwd, session.project_id, allow_root)


@click.command("completion", cls=Verb, epilog='eval "$(memo completion bash)"\nmemo completion fish > ~/.config/fish/completions/memo.fish')
@click.argument("shell", type=click.Choice(_SHELLS))
def completion_(shell: str) -> None:
    """Print a shell's completion script.

    The shell then completes verbs, options, kinds and ids.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is not None:
        from vault.cli.app import app

        click.echo(found(app, {}, "memo", "_MEMO_COMPLETE").source())
