from datetime import datetime

from sqlalchemy import BigInteger, Identity, Index, text
from sqlmodel import Field, SQLModel

from models.tables.columns import Xid8, flag, moment


class FileChange(SQLModel, table=True):
    """One write to one file: at once the audit trail and the feed.

    `xid` is the writing transaction's; the feed reads in (xid, id) order and only what no open transaction can still precede.
    `file_id` is the artifact's, collection's or agent's id; `level`, `owner_id` and `collection_id` say who may see the change.
    """

    __tablename__ = "file_changes"
    __table_args__ = (
        Index("file_changes_feed", "org_id", "xid", "id"),
        Index("file_changes_by_path", "org_id", "display_path", "id"),
        Index("file_changes_by_previous", "org_id", "previous_path", postgresql_where=text("previous_path IS NOT NULL")),
        Index("file_changes_by_run", "org_id", "run_id", "id", postgresql_where=text("run_id IS NOT NULL")),
        Index("file_changes_by_age", "at"),
    )

    org_id: str = Field(primary_key=True)
    id: int | None = Field(default=None, sa_type=BigInteger, primary_key=True, sa_column_args=[Identity()])
    xid: int | None = Field(default=None, sa_type=Xid8, nullable=False, sa_column_kwargs={"server_default": text("pg_current_xact_id()")})
    file_id: str
    display_path: str
    event_path: str
    previous_path: str | None = None
    kind: str
    operation: str
    version: int | None = None
    level: str | None = None
    owner_id: str | None = None
    collection_id: str | None = None
    actor_kind: str
    actor_id: str
    actor_name: str
    run_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    at: datetime = moment()


class FeedHorizon(SQLModel, table=True):
    """The last position of an organisation's feed from which changes were pruned: a reader that stopped before it has missed some.

    `rebased`: the positions were counted anew after the data came into another cluster, whose transaction ids are lower.
    """

    __tablename__ = "feed_horizons"

    org_id: str = Field(primary_key=True)
    xid: int = Field(sa_type=Xid8, nullable=False)
    id: int = Field(sa_type=BigInteger, nullable=False)
    rebased: bool = flag(default=False)


class DepartedAccess(SQLModel, table=True):
    """A grant as it was when its collection was deleted, so that those who could read the collection learn of its end."""

    __tablename__ = "departed_access"

    org_id: str = Field(primary_key=True)
    collection_id: str = Field(primary_key=True)
    subject_type: str = Field(primary_key=True)
    subject_id: str = Field(primary_key=True)
    mode: str
