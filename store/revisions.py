"""Previous versions of an agent's task and memory: how one is put away, and its shape when it is read."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from models.caller import ActorKind
from models.tables import Agent, Artifact
from store.sql import Shape, Statement, command

_SOURCES = {ActorKind.AGENT.value: "agent", ActorKind.USER.value: "operator"}


class SavedOnceShape(Shape):
    """The text of a previous version, and who saved it."""

    agent_id: str
    content: str
    version: int
    source: str
    saved_at: datetime
    saved_by_kind: str
    saved_by_id: str
    saved_by_name: str


class RevisionRow(SavedOnceShape):
    """A previous version; a task's has no path."""

    display_path: str | None


def source_of(row: type[Agent] | type[Artifact]) -> sa.ColumnElement[str]:
    """Return the word for who saved the row last: agent, operator or system."""
    return sa.case(_SOURCES, value=col(row.updated_by_kind), else_="system")


def put_away(table: type[SQLModel], row: type[Agent] | type[Artifact], values: Mapping[str, Any], *where: Any) -> Statement:
    """Return the statement that copies a row into a table of revisions, with who saved it and when."""
    facts = {
        **values,
        "saved_at": col(row.updated_at),
        "saved_by_kind": col(row.updated_by_kind),
        "saved_by_id": col(row.updated_by_id),
        "saved_by_name": col(row.updated_by_name),
    }
    return command(sa.insert(table).from_select(list(facts), sa.select(*facts.values()).where(*where)))
