"""What people see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from vault.doctor import Report, SyncReport
    from vault.reading import SearchHit
    from vault.record import Record
    from vault.retire import Collected

_SHOWN = ("severity", "layer", "module", "tags", "pathPatterns", "supersedes", "occurrences", "hits", "expires_at", "links")


def heading(record: Record) -> str:
    """Return one line that names a record and says what is special about it."""
    marks = [record.status] if record.status != "active" else []
    marks += ["expired"] if record.expired else []
    marks += ["stale"] if record.stale else []
    suffix = f"  [{', '.join(marks)}]" if marks else ""
    return f"{typer.style(record.id, bold=True)}  {record.kind}  {record.title}{typer.style(suffix, fg='yellow')}"


def whole(record: Record) -> str:
    """Return a record with its main facts and its body."""
    facts = [f"{record.display_path}", f"created {record.created}  updated {record.updated}"]
    facts += [f"{key}: {_value(record.frontmatter[key])}" for key in _SHOWN if record.frontmatter.get(key) not in (None, [], "")]
    return "\n".join([heading(record), *(typer.style(fact, dim=True) for fact in facts), "", record.body])


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join(f"{item.get('type')} {item.get('target')}" if isinstance(item, dict) else str(item) for item in value)


def listing(records: Sequence[Record], project: str) -> str:
    """Return one line for each record, ids and kinds in columns."""
    if not records:
        return f"No records in {project}."
    widths = max(len(record.id) for record in records), max(len(record.kind) for record in records)
    return "\n".join(_row(record, *widths) for record in records)


def _row(record: Record, id_width: int, kind_width: int) -> str:
    state = "expired" if record.expired else "stale" if record.stale else record.status
    name = typer.style(record.id.ljust(id_width), bold=True)
    return f"{record.updated[:10]}  {record.kind:<{kind_width}}  {name}  {state:<10}  {record.title}"


def hits(found: Sequence[SearchHit], query: str) -> str:
    """Return the hits with their snippets."""
    if not found:
        return f"Nothing found for {query!r}."
    return "\n\n".join(f"{heading(hit.record)}\n  {' '.join(hit.snippet.split())}" for hit in found)


def written(verb: str, record: Record) -> str:
    """Return one line about a write."""
    return f"{typer.style(verb, fg='green')} {record.kind} {typer.style(record.id, bold=True)}  ({record.display_path})"


def collected(found: Sequence[Collected], *, dry_run: bool) -> str:
    """Return what was collected."""
    if not found:
        return "Nothing has expired."
    lead = "Would be " if dry_run else ""
    return "\n".join(f"{lead}{entry.action}: {entry.kind} {entry.id}  ({entry.path})" for entry in found)


def examined(report: Report) -> str:
    """Return a check's findings."""
    lines = [f"{report.records} records in {report.projects} projects"]
    lines += [f"repaired: {text}" for text in report.repaired]
    lines += [f"{typer.style(problem.type, fg='red')}  {problem.path}\n  {problem.message}" for problem in report.problems]
    return "\n".join([*lines, typer.style("All is well.", fg="green") if report.ok else f"{len(report.problems)} problems"])


def synced(report: SyncReport) -> str:
    """Return what a sync did."""
    lines = [f"views brought up to date: {', '.join(report.projects)}"] if report.projects else []
    lines += [f"files indexed: {report.indexed}"] if report.indexed else []
    if report.git.enabled:
        lines.append(f"committed {report.git.commit}" if report.git.commit else "nothing to commit")
        lines += ["pushed"] if report.git.pushed else []
    return "\n".join(lines) or "Everything was up to date."
