"""The verbs of `memo`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vault.cli import options
from vault.cli.session import Session, json_object, one_id, text_or_stdin

app = typer.Typer(
    name="memo",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Durable project memory as Markdown files.\n\nGlobal options may stand before or behind the verb.",
    epilog="Examples:  memo upsert --kind trap --title 'Pool leaks' --body 'Close it in finally.'   memo search 'pool AND leak'",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _global(context: typer.Context, json: options.Json = False, cwd: options.Cwd = None, vault_root: options.Root = None) -> None:
    context.obj = Session(json, cwd, vault_root)


def _session(context: typer.Context, *given: Any) -> Session:
    """Return the call's session; `given`: --json, --cwd, --vault-root and --project-id as they stand behind the verb."""
    as_json, cwd, root, project_id = given
    session: Session = context.obj.with_options(as_json=as_json, cwd=cwd, root=root, project_id=project_id)
    return session


@app.command(epilog="Example:  echo 'Use UTC everywhere.' | memo upsert --kind decision --slug utc --tag time")
def upsert(
    context: typer.Context,
    *,
    kind: Annotated[str, typer.Option("--kind", help="The kind of record.")],
    body: Annotated[str | None, typer.Option("--body", help="The text; without it, or with -, standard input.", show_default=False)] = None,
    slug: options.Slug = None,
    title: Annotated[str | None, typer.Option("--title", show_default=False)] = None,
    severity: Annotated[str | None, typer.Option("--severity", help="low, medium, high or critical.", show_default=False)] = None,
    path_patterns: Annotated[
        list[str] | None, typer.Option("--path-patterns", help="Paths it is about; may be repeated, also a,b.", show_default=False)
    ] = None,
    tag: options.Tags = None,
    supersedes: Annotated[str | None, typer.Option("--supersedes", help="The id of the record it replaces.", show_default=False)] = None,
    rationale: Annotated[str | None, typer.Option("--rationale", show_default=False)] = None,
    ttl: Annotated[str | None, typer.Option("--ttl", help="7d, 48h, 30m, or a date.", show_default=False)] = None,
    expires_at: Annotated[str | None, typer.Option("--expires-at", help="A date or a date and time.", show_default=False)] = None,
    path: Annotated[str | None, typer.Option("--path", help="One path it is about.", show_default=False)] = None,
    frontmatter: Annotated[str | None, typer.Option("--frontmatter", help="Any keys, as a JSON object.", show_default=False)] = None,
    allow_duplicate: Annotated[bool, typer.Option("--allow-duplicate", help="Write a trap even if it repeats another.")] = False,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Create a record, or merge into the one of that kind and slug."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    with session.refusals():
        text = text_or_stdin(body, "--body")
        named = {
            "title": title,
            "severity": severity,
            "supersedes": supersedes,
            "rationale": rationale,
            "ttl": ttl,
            "expires_at": expires_at,
        }
        given = json_object(frontmatter, "--frontmatter") | {key: value for key, value in named.items() if value is not None}
        given |= {"pathPatterns": _split(path_patterns)} if path_patterns else {}
        given |= {"tags": list(tag)} if tag else {}
        result = session.vault.upsert(
            session.project, kind, text, slug=slug, frontmatter=given, path=path, allow_duplicate=allow_duplicate, repo=session.place.repo
        )
        verb = "Counted again" if result.recurrence else "Created" if result.created else "Updated"
        session.answer(result.to_dict(), lambda: printing.written(verb, result.record))
        session.warn(result.warnings)


def _split(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


@app.command(epilog="Example:  memo get pool-leaks   memo get --kind decision --slug utc --json")
def get(
    context: typer.Context,
    *,
    record_id: options.Identifier = None,
    id_option: options.IdOption = None,
    kind: options.Kind = None,
    slug: options.Slug = None,
    session_id: Annotated[str | None, typer.Option("--session-id", help="Count the hit once per session.", show_default=False)] = None,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Show one record, by its id or by kind and slug."""
    from vault.arguments import describe
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    wanted = one_id(record_id, id_option, kind, slug)
    with session.refusals():
        found = session.vault.get(session.project, wanted, kind=kind, slug=slug, session_id=session_id, siblings=project_id is None)
        if found is None:
            session.refuse("RECORD_NOT_FOUND", f"Record not found: {describe(wanted, kind, slug)} in project {session.project}")
        session.answer(found.to_dict(), lambda: printing.whole(found))


@app.command(epilog="""Example:  memo append 'Deployed 1.4' --details '{"tags": ["deploy"]}'""")
def append(
    context: typer.Context,
    *,
    event: Annotated[str | None, typer.Argument(metavar="[EVENT]", help="The event.", show_default=False)] = None,
    event_option: Annotated[str | None, typer.Option("--event", help="The event.", show_default=False)] = None,
    kind: Annotated[str, typer.Option("--kind", help="The kind of record.")] = "log",
    details: Annotated[str | None, typer.Option("--details", help="Further keys, as a JSON object.", show_default=False)] = None,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Write an event; it is never changed again."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    if event is not None and event_option is not None:
        raise typer.BadParameter("give the event once")
    with session.refusals():
        text = text_or_stdin(event if event is not None else event_option, "EVENT")
        given = json_object(details, "--details")
        record = session.vault.append(session.project, text, kind=kind, details=given, repo=session.place.repo)
        session.answer(record.to_dict(), lambda: printing.written("Appended", record))


@app.command(epilog="Example:  memo forget pool-leaks   memo forget old-note --purge")
def forget(
    context: typer.Context,
    *,
    record_id: options.Identifier = None,
    id_option: options.IdOption = None,
    kind: options.Kind = None,
    slug: options.Slug = None,
    purge: Annotated[bool, typer.Option("--purge", help="Remove the file for good and leave a tombstone.")] = False,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Archive a record, or remove it for good."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    wanted = one_id(record_id, id_option, kind, slug)
    with session.refusals():
        result = session.vault.forget(session.project, wanted, kind=kind, slug=slug, purge=purge)
        session.answer(result.to_dict(), lambda: printing.written("Purged" if purge else "Archived", result.record))
        session.warn(result.warnings)


@app.command(epilog="Example:  memo feedback pool-leaks helpful")
def feedback(
    context: typer.Context,
    *,
    record_id: options.Identifier = None,
    verdict: Annotated[str | None, typer.Argument(help="helpful, not_helpful, stale or wrong.", show_default=False)] = None,
    id_option: options.IdOption = None,
    verdict_option: Annotated[
        str | None, typer.Option("--verdict", help="helpful, not_helpful, stale or wrong.", show_default=False)
    ] = None,
    kind: options.Kind = None,
    slug: options.Slug = None,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Say whether a record was of use."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    named = id_option is not None or (kind is not None and slug is not None)
    if named and verdict is None and verdict_option is None:
        record_id, verdict = None, record_id  # `memo feedback --id X helpful`: the only argument is the verdict
    said = verdict_option or verdict
    if said is None:
        raise typer.BadParameter("give a verdict: helpful, not_helpful, stale or wrong")
    wanted = one_id(record_id, id_option, kind, slug)
    with session.refusals():
        record = session.vault.feedback(session.project, said, wanted, kind=kind, slug=slug)
        session.answer({"record": record.to_dict()}, lambda: printing.written("Noted for", record))


@app.command(epilog="Example:  memo search 'pool AND leak' --kind trap   memo search 'café' --cross-project")
def search(
    context: typer.Context,
    *,
    query: Annotated[str, typer.Argument(help='Words, "phrases", AND, OR, NOT.')],
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated.", show_default=False)] = None,
    status: Annotated[list[str] | None, typer.Option("--status", help="Only this status; may be repeated.", show_default=False)] = None,
    tag: options.Tags = None,
    path: Annotated[str | None, typer.Option("--path", help="Only what is about this path.", show_default=False)] = None,
    include_scratch: Annotated[bool, typer.Option("--include-scratch", help="Scratch records too.")] = False,
    include_expired: Annotated[bool, typer.Option("--include-expired", help="Expired records too.")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", help="As it was then.", show_default=False)] = None,
    cross_project: Annotated[bool, typer.Option("--cross-project", help="In all projects.")] = False,
    limit: options.Limit = 20,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """Search the records, best first."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    with session.refusals():
        found = session.vault.search(
            query,
            session.project,
            kinds=kind or (),
            statuses=status or (),
            tags=tag or (),
            path=path,
            include_scratch=include_scratch,
            include_expired=include_expired,
            as_of=as_of,
            cross_project=cross_project,
            limit=limit,
        )
        session.answer({"hits": [hit.to_dict() for hit in found]}, lambda: printing.hits(found, query))


@app.command(name="list", epilog="Example:  memo list --kind trap --status active")
def list_(
    context: typer.Context,
    *,
    kind: options.Kind = None,
    status: Annotated[str | None, typer.Option("--status", help="Only this status.", show_default=False)] = None,
    tag: options.Tags = None,
    include_expired: Annotated[bool, typer.Option("--include-expired", help="Expired records too.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="At most this many.", show_default="all")] = None,
    project_id: options.Project = None,
    json: options.Json = False,
    cwd: options.Cwd = None,
    vault_root: options.Root = None,
) -> None:
    """List the records, the last updated first."""
    from vault.cli import printing

    session = _session(context, json, cwd, vault_root, project_id)
    with session.refusals():
        found = session.vault.list_records(
            session.project, kind=kind, status=status, tags=tag or (), include_expired=include_expired, limit=limit
        )
        session.answer({"records": [record.to_dict() for record in found]}, lambda: printing.listing(found, session.project))


def main() -> None:
    """Run `memo`."""
    from vault.cli import upkeep  # its verbs register themselves

    upkeep.register(app)
    app(prog_name="memo")
