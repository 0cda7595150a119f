"""Options that verbs share. The global ones may stand before or behind the verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from vault.kinds import KINDS, SEVERITIES, STATUSES, one_of

VERDICTS = ("helpful", "not_helpful", "stale", "wrong")
VIEWS = ("traps", "decisions", "index", "prompts", "sessions")

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def words(choices: Sequence[str]) -> Completer:
    """Return a completer of fixed words. They are no click.Choice: a wrong one is the vault's to refuse, with its code."""
    return lambda _context, _parameter, begun: [CompletionItem(word) for word in choices if word.startswith(begun)]


def record_ids(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the project's ids that begin so, with their titles; nothing for whatever goes wrong at a prompt."""
    from vault.cli.session import Session
    from vault.errors import VaultError

    given = {key: context.params.get(key) for key in ("cwd", "vault_root", "project_id")}
    session = context.ensure_object(Session).below(**given)
    try:
        records = session.vault.list_records(session.project) if session.vault.root.is_dir() else []
    except (VaultError, OSError):
        return []
    return [CompletionItem(record.id, help=record.title) for record in records if record.id.startswith(begun)]


JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON value; a refusal too ({code, message}).")
CWD = click.option("--cwd", type=click.Path(path_type=Path), help="Work as if started in this folder.")
ROOT = click.option("--vault-root", type=click.Path(path_type=Path), help="The vault's folder, instead of $SPEC_MEMO_ROOT or ~/.spec-memo.")
PROJECT = click.option("--project-id", metavar="ID", help="The project, instead of the folder's.")

SLUG = click.option("--slug", help="The record's file name without .md.")
TAGS = click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
kinds, statuses, severities = words(KINDS), words(STATUSES), words(SEVERITIES)
KINDS_HELP, STATUSES_HELP = f"{one_of(KINDS)}.", f"{one_of(STATUSES)}."
KIND = click.option("--kind", shell_complete=kinds, help=f"Its kind: {KINDS_HELP}")

_ID = click.argument("record_id", metavar="[ID]", required=False, shell_complete=record_ids)
_ID_OPTION = click.option("--id", "id_option", metavar="ID", shell_complete=record_ids, help="The record's id, as an option.")


def which(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what names one record: an id, or kind and slug."""
    for option in (SLUG, KIND, _ID_OPTION, _ID):
        function = option(function)
    return function
