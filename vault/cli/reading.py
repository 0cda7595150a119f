"""The verbs that show records: get, search, list, view, projects."""

from __future__ import annotations

from typing import Any

import click

from vault.cli import options, printing
from vault.cli.command import verb
from vault.cli.session import Session, one_id


@verb("get", "memo get pool-leaks\nmemo get --kind decision --slug utc --json")
@options.which
@click.option("--session-id", metavar="ID", help="Count the hit once per session.")
def get_(session: Session, *, session_id: str | None, **which: Any) -> None:
    """Show one record, by its id or by kind and slug."""
    wanted, kind, slug = one_id(**which)
    found = session.vault.get(session.project, wanted, kind=kind, slug=slug, session_id=session_id, siblings=session.place.guessed)
    if found is None:
        from vault.arguments import describe

        session.refuse("RECORD_NOT_FOUND", f"Record not found: {describe(wanted, kind, slug)} in project {session.project}")
    session.answer(found.to_dict(), lambda: printing.whole(found))


@verb("search", "memo search 'pool AND leak' --kind trap\nmemo search 'café' --cross-project")
@click.argument("query", nargs=-1, required=True)
@click.option("--kind", "kinds", multiple=True, shell_complete=options.kinds, help="Only this kind; may be repeated.")
@click.option("--status", "statuses", multiple=True, shell_complete=options.statuses, help="Only this status; may be repeated.")
@options.TAGS
@click.option("--path", help="Only what is about this path.")
@click.option("--include-scratch", is_flag=True, help="Scratch records too.")
@click.option("--include-expired", is_flag=True, help="Expired records too.")
@click.option("--as-of", metavar="TIME", help="As it was at this date or time.")
@click.option("--cross-project", is_flag=True, help="In all projects, without their scratch, state and reviews.")
@click.option("--limit", type=int, default=20, show_default=True, help="At most this many.")
def search_(session: Session, *, query: tuple[str, ...], **narrowed: Any) -> None:
    """Search the records, best first.

    QUERY is words, "phrases", AND, OR, NOT and parentheses.
    """
    text = " ".join(query)
    found = session.vault.search(text, session.project, **narrowed)
    session.answer({"hits": [hit.to_dict() for hit in found]}, lambda: printing.hits(found, text))


@verb("list", "memo list --kind trap --status active\nmemo list --tag db --limit 5")
@options.KIND
@click.option("--status", shell_complete=options.statuses, help=f"Only this status: {options.STATUSES_HELP}")
@options.TAGS
@click.option("--include-expired", is_flag=True, help="Expired records too.")
@click.option("--limit", type=int, help="At most this many; all without it.")
def list_(session: Session, **narrowed: Any) -> None:
    """List the records, the last updated first."""
    found = session.vault.list_records(session.project, **narrowed)
    session.answer({"records": [record.to_dict() for record in found]}, lambda: printing.listing(found, session.project))


@verb("view", "memo view traps")
@click.argument("name", default="index", shell_complete=options.words(options.VIEWS))
def view_(session: Session, *, name: str) -> None:
    """Print a compiled view.

    NAME is traps, decisions, index, prompts or sessions.
    """
    text = session.vault.view(session.project, name)
    session.answer(
        {"project": session.project, "name": name.strip().upper().removesuffix(".MD"), "text": text}, lambda: printing.plain(text)
    )


@verb("projects", "memo projects", project=False)
def projects_(session: Session) -> None:
    """List the vault's projects."""
    names = session.vault.projects()
    session.answer({"projects": names}, lambda: "\n".join(names) or "No projects yet.")
