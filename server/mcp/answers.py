"""The shapes in which tools answer: names in snake_case, levels in lower case, times in UTC, bodies with their numbers exact."""

import json
from collections.abc import Sequence
from typing import Any

from models.datetimes import stored
from models.errors import Problem
from store.agent_files import AgentFileRow
from store.database import Row

Answer = dict[str, Any]


def note(row: Row, *, content: bool) -> Answer:
    """A note, with its text if that was asked for."""
    return {
        "display_path": row.display_path,
        "level": row.level.lower(),
        "key": row.key,
        **({"content": row.content} if content else {}),
        "version": row.version,
        "created_at": stored(row.created_at),
        "updated_at": stored(row.updated_at),
        "updated_by": _saver(row),
    }


def note_hit(row: Row) -> Answer:
    """A note that was found, with the text around the match."""
    return {
        "display_path": row.display_path,
        "level": row.level.lower(),
        "key": row.key,
        "snippet": row.snippet,
        "version": row.version,
        "updated_at": stored(row.updated_at),
    }


def record(row: Row) -> Answer:
    """A record; `body` holds the declared columns."""
    return {
        "id": row.id,
        "collection": row.collection,
        # Parsed, since to_json writes it again with integers of any size exact, within the answer's own text.
        "body": json.loads(row.body),
        "created_at": stored(row.created_at),
        "updated_at": stored(row.updated_at),
        "updated_by": _saver(row),
        "version": row.version,
        "display_path": row.display_path,
    }


def records(rows: Sequence[Row]) -> list[Answer]:
    """Records in their order."""
    return [record(row) for row in rows]


def agent_file(row: AgentFileRow, *, content: bool) -> Answer:
    """An agent's memory or script, with its text if that was asked for."""
    return {
        "display_path": row.display_path,
        "name": row.name,
        **({"content": row.content} if content else {}),
        "version": row.version,
        "created_at": stored(row.created_at),
        "updated_at": stored(row.updated_at),
        "updated_by": _saver(row),
    }


def problems(found: Sequence[Problem]) -> list[Answer]:
    """What is wrong, column by column."""
    return [problem.as_json() for problem in found]


def _saver(row: Row | AgentFileRow) -> Answer:
    kind, name = row.updated_by_kind, row.updated_by_name
    return {"kind": kind.lower(), "id": row.updated_by_id, "name": name}
