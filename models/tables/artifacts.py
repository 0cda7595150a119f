from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlmodel import Field, SQLModel

from models.tables.columns import Saved, body, digest, filled_in, moment, within_org

_LIVE = "deleted_at IS NULL"
_LIVE_FILE = text(f"{_LIVE} AND kind <> 'OBJECT'")


class Collection(Saved, table=True):
    """A typed table of the organisation, or of one guild. `revision` grows with every write to it or to a record of it."""

    __tablename__ = "artifact_collections"
    __table_args__ = (
        within_org("guild_id", "guilds"),
        Index("collections_live_name", "org_id", "name", unique=True, postgresql_where=text(_LIVE)),
    )

    org_id: str = Field(primary_key=True, foreign_key="organisations.org_id")
    id: str = Field(primary_key=True)
    name: str
    purpose: str
    columns: list[dict[str, Any]] = body(nullable=False)
    guild_id: str | None = None
    next_id: int = filled_in(1, "1", sa_type=BigInteger)
    record_count: int = filled_in(0, "0")
    revision: int = filled_in(0, "0", sa_type=BigInteger)
    version: int = 1
    deleted_at: datetime | None = moment(nullable=True)


class Artifact(Saved, table=True):
    """A note, a record (kind OBJECT), an agent's memory or a script.

    A record has `collection_id`, `number`, `content_json`, and `identity` with its SHA-256 where the collection has a unique column
    (the digest carries the unique index, since an index entry has less room than a value). `search` has the words of
    `search_blob`; where it lacks some of their positions, `search_words` has them all (models.words). `written_by_agent` is set
    for a note that somebody moved: the agent that wrote its text, whose rights decide what it embeds.
    """

    __tablename__ = "artifacts"
    __table_args__ = (
        within_org("collection_id", "artifact_collections"),
        CheckConstraint("(kind = 'OBJECT') = (collection_id IS NOT NULL)", name="artifacts_records_have_a_collection"),
        Index("artifacts_live_key", "org_id", "owner_id", "kind", "key", unique=True, postgresql_where=_LIVE_FILE),
        Index("artifacts_past_key", "org_id", "owner_id", "kind", "key", "version", postgresql_where=text("kind <> 'OBJECT'")),
        Index("artifacts_record", "org_id", "collection_id", "number", unique=True, postgresql_where=text("kind = 'OBJECT'")),
        Index("artifacts_live_identity", "org_id", "collection_id", "identity_hash", unique=True, postgresql_where=text(_LIVE)),
        Index("artifacts_record_updated", "org_id", "collection_id", "updated_at", postgresql_where=text(f"{_LIVE} AND kind = 'OBJECT'")),
        Index("artifacts_words", "search", postgresql_using="gin", postgresql_where=text(_LIVE)),
        Index(
            "artifacts_substrings",
            "search_blob",
            postgresql_using="gin",
            postgresql_ops={"search_blob": "gin_trgm_ops"},
            postgresql_where=text(_LIVE),
        ),
    )

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    kind: str
    level: str
    owner_id: str
    key: str
    content: str | None = None
    collection_id: str | None = None
    number: int | None = Field(default=None, sa_type=BigInteger)
    content_json: dict[str, Any] | None = body()
    identity: str | None = None
    identity_hash: bytes | None = digest(nullable=True)
    search_blob: str | None = None
    search: str | None = Field(default=None, sa_type=TSVECTOR)
    search_words: str | None = None
    written_by_agent: str | None = None
    version: int = 1
    deleted_at: datetime | None = moment(nullable=True)


class CollectionAccess(SQLModel, table=True):
    """A grant: a guild's base, or an agent's own mode over it."""

    __tablename__ = "collection_access"
    __table_args__ = (
        within_org("collection_id", "artifact_collections"),
        CheckConstraint("mode IN ('READ', 'WRITE') OR (mode = 'NONE' AND subject_type = 'AGENT')", name="collection_access_modes"),
        Index("collection_access_by_subject", "org_id", "subject_id"),
    )

    org_id: str = Field(primary_key=True)
    collection_id: str = Field(primary_key=True)
    subject_type: str = Field(primary_key=True)
    subject_id: str = Field(primary_key=True)
    mode: str


class MemoryRevision(SQLModel, table=True):
    """A previous version of an agent's memory, at `history-archive/<stamp>-<source>.md`."""

    __tablename__ = "memory_revisions"
    __table_args__ = (within_org("agent_id", "agents"),)

    org_id: str = Field(primary_key=True)
    agent_id: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    stamp: str
    source: str
    content: str
    saved_at: datetime = moment()
    saved_by_kind: str
    saved_by_id: str
    saved_by_name: str


class TaskRevision(SQLModel, table=True):
    """A previous save of an agent's task."""

    __tablename__ = "task_revisions"
    __table_args__ = (within_org("agent_id", "agents"),)

    org_id: str = Field(primary_key=True)
    agent_id: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    source: str
    content: str
    saved_at: datetime = moment()
    saved_by_kind: str
    saved_by_id: str
    saved_by_name: str


class IdempotencyKey(SQLModel, table=True):
    """What a recordAdd with this key answered, so that a repetition answers the same and writes nothing."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("idempotency_keys_by_age", "created_at"),)

    org_id: str = Field(primary_key=True)
    caller_id: str = Field(primary_key=True)
    collection_id: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    body_hash: bytes = digest()
    answer: dict[str, Any] = body(nullable=False)
    created_at: datetime = moment()
