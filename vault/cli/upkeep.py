"""The verbs that look after a vault: gc, sync, doctor, view, projects, mcp."""

from __future__ import annotations

from typing import Annotated

import typer

from vault.cli import options
from vault.cli.session import Session


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command(epilog="Example:  memo gc --dry-run")(gc)
    app.command(epilog="Example:  memo sync")(sync)
    app.command(epilog="Example:  memo doctor --json")(doctor)
    app.command(epilog="Example:  memo view traps")(view)
    app.command(epilog="Example:  memo projects")(projects)
    app.command(epilog="Example, in an agent's settings:  memo --vault-root ~/.spec-memo mcp")(mcp)


def _session(context: typer.Context, **given: object) -> Session:
    session: Session = context.obj.with_options(**given)
    return session


def gc(
    context: typer.Context,
    *,
    purge: Annotated[bool, typer.Option("--purge", help="Remove the files for good.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    every: Annotated[bool, typer.Option("--all", help="In all projects.")] = False,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Archive (or purge) what has expired."""
    from vault.cli import printing

    session = _session(context, as_json=json, cwd=cwd, root=vault_root, project_id=project_id)
    with session.refusals():
        found = session.vault.gc(None if every else session.project, purge=purge, dry_run=dry_run)
        answer = {"collected": [entry.to_dict() for entry in found], "dryRun": dry_run}
        session.answer(answer, lambda: printing.collected(found, dry_run=dry_run))


def sync(context: typer.Context, json: options.Json = False, cwd: options.Cwd = None, vault_root: options.Root = None) -> None:
    """Pick up hand edits, commit what is waiting, and push if the vault has a remote."""
    from vault.cli import printing

    session = _session(context, as_json=json, cwd=cwd, root=vault_root)
    with session.refusals():
        report = session.vault.sync()
        if report.git.error:
            session.warn((report.git.error,))
        session.answer(report.to_dict(), lambda: printing.synced(report))
    if report.git.error:
        raise typer.Exit(1)


def doctor(context: typer.Context, json: options.Json = False, cwd: options.Cwd = None, vault_root: options.Root = None) -> None:
    """Check every file, and repair views and index. Exits with 1 if something needs a person."""
    from vault.cli import printing

    session = _session(context, as_json=json, cwd=cwd, root=vault_root)
    with session.refusals():
        report = session.vault.doctor()
        session.answer(report.to_dict(), lambda: printing.examined(report))
    if not report.ok:
        raise typer.Exit(1)


def view(
    context: typer.Context,
    *,
    name: Annotated[str, typer.Argument(help="traps, decisions, index, prompts or sessions.")] = "index",
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Print a compiled view."""
    session = _session(context, as_json=json, cwd=cwd, root=vault_root, project_id=project_id)
    with session.refusals():
        text = session.vault.view(session.project, name)
        session.answer({"project": session.project, "name": name.upper(), "text": text}, lambda: text)


def projects(context: typer.Context, json: options.Json = False, cwd: options.Cwd = None, vault_root: options.Root = None) -> None:
    """List the vault's projects."""
    session = _session(context, as_json=json, cwd=cwd, root=vault_root)
    with session.refusals():
        names = session.vault.projects()
        session.answer({"projects": names}, lambda: "\n".join(names) or "No projects yet.")


def mcp(context: typer.Context, cwd: options.Cwd = None, vault_root: options.Root = None, project_id: options.Project = None) -> None:
    """Serve the vault to an agent over MCP on standard input and output."""
    from vault.mcp import serve

    session = _session(context, as_json=False, cwd=cwd, root=vault_root, project_id=project_id)
    with session.refusals():
        serve(session.root, session.cwd, session.project_id)
