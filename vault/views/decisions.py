"""DECISIONS.md: what was decided, and what is only proposed."""

from __future__ import annotations

from vault.kinds import STATUSES
from vault.record import Record
from vault.views.pieces import Piece, Shelves, cell, latest_first, link, row, table, text_of

SUMMARY = "decisions/summary"
ACCEPTED = "decisions/accepted"
PROPOSED = "decisions/proposed"
_COUNTS = "decisions/count/"


def pieces(record: Record) -> list[Piece]:
    """Return the record's parts of this page."""
    if record.kind != "decision":
        return []
    order = (latest_first(record.updated),)
    cells = (cell(record.id), link(record), cell(record.status), cell(record.updated), cell(text_of(record, "supersedes")))
    found = [Piece(SUMMARY, order, row(*cells)), Piece(_COUNTS + record.status, order)]
    if record.status in ("active", "shipped"):
        found.append(Piece(ACCEPTED, order, _section(record)))
    elif record.status == "paused":
        found.append(Piece(PROPOSED, order, _section(record)))
    return found


def page(shelves: Shelves) -> str:
    """Return the page below its head."""
    counts = {status: len(shelves[_COUNTS + status]) for status in STATUSES}
    text = (
        f"Total: {len(shelves[SUMMARY])} (accepted {counts['active'] + counts['shipped']}, proposed {counts['paused']}, "
        f"superseded {counts['superseded']}, archived {counts['archived']}, completed {counts['completed']})\n\n"
    )
    text += "## Summary\n\n" + table("ID", "Title", "Status", "Updated", "Supersedes") + shelves[SUMMARY].joined()
    text += "\n## Accepted\n\n" + (shelves[ACCEPTED].joined() or "None.\n\n")
    return text + "## Proposed\n\n" + (shelves[PROPOSED].joined() or "None.\n")


def _section(record: Record) -> str:
    rationale = text_of(record, "rationale")
    why = f"\n**Rationale**: {cell(rationale)}\n" if rationale else ""
    facts = f"Status: {cell(record.status)} · Updated: {cell(record.updated)} · Record: {link(record, record.slug)}"
    return f"### {cell(record.title)}\n\n{facts}\n{why}\n{_opening(record.body)}\n\n"


def _opening(body: str) -> str:
    """The first paragraph that is no heading: the summary of a decision."""
    for paragraph in body.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if lines and not lines[0].lstrip().startswith(("```", "~~~")):
            return "\n".join(lines)
    return ""
