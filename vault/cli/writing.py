"""The verbs that change records: upsert, append, forget, feedback."""

from __future__ import annotations

from typing import Any

import click

from vault.cli import options, printing
from vault.cli.command import verb
from vault.cli.session import Session, json_object, one_id, text_or_stdin

_NAMED = ("title", "severity", "supersedes", "rationale", "ttl", "expires_at")


@verb(
    "upsert",
    "echo 'Use UTC everywhere.' | memo upsert --kind decision --slug utc --tag time\n"
    "memo upsert --kind trap --title 'Pool leaks' --severity high --path src/pool.py --body 'Close it in finally.'",
)
@click.option("--kind", required=True, shell_complete=options.kinds, help=f"What it is: {options.KINDS_HELP}")
@click.option("--body", help="The text; without it, or with -, standard input.")
@options.SLUG
@click.option("--title", help="A line that names it; the slug is made from it.")
@click.option("--severity", shell_complete=options.severities, help="How bad a trap is: low, medium, high or critical.")
@click.option("--path-patterns", multiple=True, help="Paths it is about; may be repeated, also a,b.")
@options.TAGS
@click.option("--supersedes", metavar="ID", shell_complete=options.record_ids, help="The id of the record it replaces.")
@click.option("--rationale", help="Why it is so.")
@click.option("--ttl", help="How long it holds: 7d, 48h, 30m, or a date.")
@click.option("--expires-at", help="Until when it holds: a date or a date and time.")
@click.option("--path", help="One path it is about.")
@click.option("--frontmatter", metavar="JSON", help="Any keys, as a JSON object; the options above win.")
@click.option("--allow-duplicate", is_flag=True, help="Write a trap even if it repeats another.")
def upsert_(
    session: Session,
    *,
    kind: str,
    body: str | None,
    slug: str | None,
    path_patterns: tuple[str, ...],
    tags: tuple[str, ...],
    path: str | None,
    frontmatter: str | None,
    allow_duplicate: bool,
    **named: str | None,
) -> None:
    """Create a record, or merge into the one of that kind and slug."""
    text = text_or_stdin(body, "--body")
    given = json_object(frontmatter, "--frontmatter") | {key: named[key] for key in _NAMED if named[key] is not None}
    given |= {"pathPatterns": _split(path_patterns)} if path_patterns else {}
    given |= {"tags": list(tags)} if tags else {}
    result = session.vault.upsert(
        session.project, kind, text, slug=slug, frontmatter=given, path=path, allow_duplicate=allow_duplicate, repo=session.place.repo
    )
    done = "Counted again" if result.recurrence else "Created" if result.created else "Updated"
    session.answer(result.to_dict(), lambda: printing.written(done, result.record))


def _split(values: tuple[str, ...]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


@verb("append", """memo append 'Deployed 1.4' --details '{"tags": ["deploy"]}'\ngit log -1 --oneline | memo append""")
@click.argument("event", required=False)
@click.option("--event", "event_option", metavar="EVENT", help="The event, as an option; without either, standard input.")
@click.option("--kind", default="log", show_default=True, shell_complete=options.kinds, help="The kind of record.")
@click.option("--details", metavar="JSON", help="Further keys, as a JSON object.")
def append_(session: Session, *, event: str | None, event_option: str | None, kind: str, details: str | None) -> None:
    """Write an event; it is never changed again."""
    if event is not None and event_option is not None:
        raise click.UsageError("give the event once")
    text = text_or_stdin(event if event is not None else event_option, "EVENT")
    given = json_object(details, "--details")
    record = session.vault.append(session.project, text, kind=kind, details=given, repo=session.place.repo)
    session.answer(record.to_dict(), lambda: printing.written("Appended", record))


@verb("forget", "memo forget pool-leaks\nmemo forget --kind plan --slug old-plan --purge")
@options.which
@click.option("--purge", is_flag=True, help="Remove the file for good and leave a tombstone.")
def forget_(session: Session, *, purge: bool, **which: Any) -> None:
    """Archive a record, or remove it for good."""
    wanted, kind, slug = one_id(**which)
    result = session.vault.forget(session.project, wanted, kind=kind, slug=slug, purge=purge)
    session.answer(result.to_dict(), lambda: printing.written("Purged" if purge else "Archived", result.record))


@verb("feedback", "memo feedback pool-leaks helpful\nmemo feedback --kind trap --slug pool-leaks stale")
@options.which
@click.argument("verdict", required=False, shell_complete=options.words(options.VERDICTS))
@click.option(
    "--verdict",
    "verdict_option",
    shell_complete=options.words(options.VERDICTS),
    help="helpful, not_helpful, stale or wrong, as an option.",
)
def feedback_(session: Session, *, verdict: str | None, verdict_option: str | None, **which: Any) -> None:
    """Say whether a record was of use.

    VERDICT is helpful, not_helpful, stale or wrong.
    """
    named = which["id_option"] is not None or (which["kind"] is not None and which["slug"] is not None)
    if named and verdict is None and verdict_option is None:
        verdict, which["record_id"] = which["record_id"], None  # `memo feedback --id X helpful`: the only argument is the verdict
    said = verdict_option or verdict
    if said is None:
        raise click.UsageError("give a verdict: helpful, not_helpful, stale or wrong")
    wanted, kind, slug = one_id(**which)
    record = session.vault.feedback(session.project, said, wanted, kind=kind, slug=slug)
    session.answer({"record": record.to_dict()}, lambda: printing.written("Noted for", record))
