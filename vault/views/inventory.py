"""INDEX.md, PROMPTS.md and SESSIONS.md: what there is."""

from __future__ import annotations

from datetime import timedelta

from vault.kinds import DURABLE_KINDS
from vault.record import Record
from vault.times import parse_time
from vault.views.pieces import Piece, Shelves, cell, latest_first, link, row, table, text_of

LATEST_PROMPTS = 50
_SNIPPET = 60
_ALL, _ACTIVE = "index/all/", "index/active/"
_IDES, _PROMPTS, _SESSIONS = "prompts/ide/", "prompts/all", "sessions/all"


def pieces(record: Record) -> list[Piece]:
    """Return the record's parts of these pages."""
    if record.kind not in DURABLE_KINDS:
        return []
    order = (latest_first(record.updated),)
    name = f"{link(record)} / {cell(record.slug)}"
    found = [Piece(_ALL + record.kind, order, row(cell(record.id), name, cell(record.status), cell(record.updated)))]
    if record.status == "active":
        found.append(Piece(_ACTIVE + record.kind, order))
    if record.kind == "prompt":
        found += _prompt(record)
    if record.kind == "session":
        found.append(_session(record))
    return found


def index_page(shelves: Shelves) -> str:
    """Return INDEX.md below its head."""
    counts = "".join(row(kind, str(len(shelves[_ACTIVE + kind])), str(len(shelves[_ALL + kind]))) for kind in DURABLE_KINDS)
    text = "## Inventory\n\n" + table("Kind", "Active", "Total") + counts
    for kind in DURABLE_KINDS:
        rows = shelves[_ALL + kind]
        text += f"\n## {kind.capitalize()} ({len(rows)})\n\n"
        text += table("ID", "Title / Slug", "Status", "Updated") + rows.joined() if len(rows) else "None.\n"
    return text


def prompts_page(shelves: Shelves) -> str:
    """Return PROMPTS.md below its head."""
    rows = shelves[_PROMPTS]
    text = f"Total: {len(rows)}\n\n## By IDE\n\n" + table("IDE", "Prompts")
    text += "".join(row(name, str(len(shelves[_IDES + name]))) for name in shelves.names(_IDES))
    text += f"\n## Latest {LATEST_PROMPTS}\n\n" + table("ID", "Created", "IDE", "Model", "Session", "Turn", "Intent Snippet")
    return text + rows.joined(LATEST_PROMPTS)


def sessions_page(shelves: Shelves) -> str:
    """Return SESSIONS.md below its head."""
    rows = shelves[_SESSIONS]
    head = table("ID", "Session ID", "Status", "Task Slug", "Client", "Duration", "Deliverables", "Started")
    return f"Total: {len(rows)}\n\n## Sessions\n\n{head}{rows.joined()}"


def _prompt(record: Record) -> list[Piece]:
    order = (latest_first(record.created),)
    ide = cell(text_of(record, "ide")) or "unknown"
    details = (cell(text_of(record, key)) for key in ("model", "sessionId", "turn"))
    return [
        Piece(_PROMPTS, order, row(link(record, record.id), cell(record.created), ide, *details, cell(_snippet(record.body)))),
        Piece(_IDES + ide, order),
    ]


def _snippet(body: str) -> str:
    text = " ".join(body.split())
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"


def _session(record: Record) -> Piece:
    started = text_of(record, "startTime") or record.created
    cells = (
        link(record, record.id),
        cell(text_of(record, "sessionId")),
        cell(record.status),
        cell(text_of(record, "taskSlug")),
        cell(text_of(record, "client")),
        _duration(record),
        cell(_deliverables(record)),
        cell(started),
    )
    return Piece(_SESSIONS, (latest_first(started),), row(*cells))


def _duration(record: Record) -> str:
    start, end = (parse_time(record.frontmatter.get(key)) for key in ("startTime", "endTime"))
    if start is None or end is None or end < start:
        return ""
    minutes, seconds = divmod(int((end - start) / timedelta(seconds=1)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {seconds:02d}s"


def _deliverables(record: Record) -> str:
    entries = record.frontmatter.get("deliverables")
    if not isinstance(entries, list):
        return ""
    return ", ".join(_deliverable(entry) for entry in entries if isinstance(entry, dict))


def _deliverable(entry: dict[str, object]) -> str:
    name = next((entry[key] for key in ("ref", "id", "url", "title", "target", "path", "sha") if entry.get(key)), "")
    return f"{entry.get('type', '')} {name}".strip()
