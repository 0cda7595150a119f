"""The display paths of spec 1 as SQL expressions over the tables, or over aliases of them."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from models.kinds import ArtifactKind, NoteLevel
from models.paths import TASK_KEY
from models.tables import Agent, Artifact, Collection, MemoryRevision
from store.sql import fragment

Text = sa.ColumnElement[str]


def artifact_path(file: type[Artifact]) -> Text:
    """Return the path of a note, a memory or a script."""
    owner = sa.case(
        (col(file.level) == NoteLevel.GUILD, sa.literal("/guilds/") + col(file.owner_id)),
        (col(file.level) == NoteLevel.AGENT, sa.literal("/agents/") + col(file.owner_id)),
        else_="",
    )
    folder = sa.case((col(file.kind) == ArtifactKind.SCRIPT, "/scripts/"), else_="/")
    return _in_org(file) + owner + folder + col(file.key)


def collection_path(collection: type[Collection]) -> Text:
    """Return the path of a collection."""
    return _in_org(collection) + sa.literal("/collections/") + col(collection.name)


def record_path(collection: type[Collection], number: sa.ColumnElement[Any]) -> Text:
    """Return the path of the record of this number."""
    return collection_path(collection) + sa.literal("/") + sa.cast(number, sa.Text)


def task_path(agent: type[Agent]) -> Text:
    """Return the path of an agent's task."""
    return _in_org(agent) + sa.literal("/agents/") + col(agent.id) + sa.literal(f"/{TASK_KEY}")


def archive_key(revision: type[MemoryRevision]) -> Text:
    """Return the file name of a previous version of a memory."""
    return col(revision.stamp) + sa.literal("-") + col(revision.source) + sa.literal(".md")


def archive_path(revision: type[MemoryRevision]) -> Text:
    """Return the path of a previous version of a memory."""
    return _in_org(revision) + sa.literal("/agents/") + col(revision.agent_id) + sa.literal("/history-archive/") + archive_key(revision)


def _in_org(row: Any) -> Text:
    return sa.literal("org/") + col(row.org_id)


# For statements that are text: artifacts AS a, artifact_collections AS k.
ARTIFACT_PATH = fragment(artifact_path(aliased(Artifact, name="a")))
COLLECTION_PATH = fragment(collection_path(aliased(Collection, name="k")))
