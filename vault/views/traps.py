"""TRAPS.md: what to look out for, worst first."""

from __future__ import annotations

from typing import Any

from vault.kinds import DEFAULT_LAYER, DEFAULT_SEVERITY, SEVERITIES
from vault.record import Record
from vault.salience import count
from vault.views.pieces import Piece, Shelves, cell, latest_first, link, row, table

ACTIVE = "traps/active"
INACTIVE = "traps/inactive"


def pieces(record: Record) -> list[Piece]:
    """Return the record's parts of this page."""
    if record.kind != "trap":
        return []
    order: tuple[Any, ...] = (-_weight(record), latest_first(record.updated))
    if record.status == "active":
        return [Piece(ACTIVE, order, _section(record))]
    cells = (cell(record.id), link(record), cell(record.status), cell(_severity(record)), cell(record.updated))
    return [Piece(INACTIVE, (record.status, latest_first(record.updated)), row(*cells))]


def page(shelves: Shelves) -> str:
    """Return the page below its head."""
    active, inactive = shelves[ACTIVE], shelves[INACTIVE]
    text = f"Total: {len(active) + len(inactive)} ({len(active)} active, {len(inactive)} inactive)\n\n## Active traps\n\n"
    text += active.joined() or "None.\n\n"
    text += "## Inactive traps\n\n"
    return text + (table("ID", "Title", "Status", "Severity", "Updated") + inactive.joined() if len(inactive) else "None.\n")


def _severity(record: Record) -> str:
    severity = record.frontmatter.get("severity")
    return severity if severity in SEVERITIES else DEFAULT_SEVERITY


def _weight(record: Record) -> int:
    return SEVERITIES.index(_severity(record)) + 1


def _section(record: Record) -> str:
    data = record.frontmatter
    layer = cell(data.get("layer") or DEFAULT_LAYER)
    facts = f"Severity: {_severity(record)} · Layer: {layer} · Occurrences: {count(data, 'occurrences') or 1} · Hits: {count(data, 'hits')}"
    origin = f"Source: {cell(data.get('source'))} · Updated: {cell(record.updated)}"
    stale = " · Reported stale" if record.stale else ""
    head = f"### [{_severity(record).upper()}] {cell(record.title)}\n\n{_patterns(record)}{facts} · {origin}{stale}"
    return f"{head} · Record: {link(record, record.slug)}\n\n{_quiet(record.body)}\n\n"


def _patterns(record: Record) -> str:
    patterns = record.frontmatter.get("pathPatterns")
    if not isinstance(patterns, list) or not patterns:
        return ""
    return "Paths: " + ", ".join(f"`{str(pattern).replace('`', '')}`" for pattern in patterns) + "\n\n"


def _quiet(body: str) -> str:
    """A body changes nothing behind it: its headings go below the trap's own; an open fence or comment is closed."""
    lines, fenced, hidden = [], False, False
    for line in body.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if (not fenced and "<!--" in line) or hidden:
            hidden = "-->" not in line.rpartition("<!--")[2]
        level = len(line) - len(line.lstrip("#"))
        heading = not fenced and 0 < level <= 6 and line[level : level + 1] == " "  # noqa: PLR2004  Markdown has six levels
        lines.append("#" * (min(6, level + 3) - level) + line if heading else line)
    if hidden:
        lines.append("-->")
    if fenced:
        lines.append("```")
    return "\n".join(lines)
