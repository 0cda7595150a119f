"""What people see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vault.doctor import Report, SyncReport
    from vault.reading import SearchHit
    from vault.record import Record
    from vault.retire import Collected

# What a terminal would obey instead of show: a record written by somebody else must not paint, type or hide there.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SHOWN = ("severity", "layer", "module", "tags", "pathPatterns", "supersedes", "occurrences", "hits", "expires_at", "links")


def plain(text: str) -> str:
    """Return the text with control characters made visible; line breaks and tabs stay."""
    return _COMMANDS.sub(lambda found: f"\\x{ord(found.group()):02x}", text.replace("\r\n", "\n"))


def counted(number: int, noun: str) -> str:
    """Return `1 record`, `2 records`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def heading(record: Record) -> str:
    """Return one line that names a record and says what is special about it."""
    marks = [record.status] if record.status != "active" else []
    marks += ["expired"] if record.expired else []
    marks += ["stale"] if record.stale else []
    suffix = f"  [{', '.join(marks)}]" if marks else ""
    return f"{click.style(plain(record.id), bold=True)}  {record.kind}  {plain(record.title)}{click.style(suffix, fg='yellow')}"


def whole(record: Record) -> str:
    """Return a record with its main facts and its body."""
    facts = [f"{record.display_path}", f"created {record.created}  updated {record.updated}"]
    facts += [f"{key}: {_value(record.frontmatter[key])}" for key in _SHOWN if record.frontmatter.get(key) not in (None, [], "")]
    return "\n".join([heading(record), *(click.style(plain(fact), dim=True) for fact in facts), "", plain(record.body)])


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
    name = click.style(plain(record.id).ljust(id_width), bold=True)
    return f"{record.updated[:10]}  {record.kind:<{kind_width}}  {name}  {state:<10}  {plain(record.title)}"


def hits(found: Sequence[SearchHit], query: str) -> str:
    """Return the hits with their snippets."""
    if not found:
        return f"Nothing found for {query!r}."
    return "\n\n".join(f"{heading(hit.record)}\n  {plain(' '.join(hit.snippet.split()))}" for hit in found)


def written(verb: str, record: Record) -> str:
    """Return one line about a write."""
    return f"{click.style(verb, fg='green')} {record.kind} {click.style(plain(record.id), bold=True)}  ({record.display_path})"


def collected(found: Sequence[Collected], *, dry_run: bool) -> str:
    """Return what was collected."""
    if not found:
        return "Nothing has expired."
    lead = "Would be " if dry_run else ""
    return "\n".join(f"{lead}{entry.action}: {entry.kind} {plain(entry.id)}  ({entry.path})" for entry in found)


def examined(report: Report) -> str:
    """Return a check's findings."""
    lines = [f"{counted(report.records, 'record')} in {counted(report.projects, 'project')}"]
    lines += [f"repaired: {text}" for text in report.repaired]
    lines += [f"not in the history yet (memo sync): {plain(path)}" for path in report.uncommitted]
    lines += [f"{click.style(problem.type, fg='red')}  {plain(problem.path)}\n  {plain(problem.message)}" for problem in report.problems]
    return "\n".join([*lines, click.style("All is well.", fg="green") if report.ok else counted(len(report.problems), "problem")])


def synced(report: SyncReport) -> str:
    """Return what a sync did."""
    lines = [f"views brought up to date: {', '.join(report.projects)}"] if report.projects else []
    lines += [f"files indexed: {report.indexed}"] if report.indexed else []
    if report.git.enabled:
        lines.append(f"committed {report.git.commit}" if report.git.commit else "nothing to commit")
        lines += ["pushed"] if report.git.pushed else []
    return "\n".join(lines) or "Everything was up to date."
