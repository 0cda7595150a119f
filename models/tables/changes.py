from datetime import datetime

from sqlalchemy import BigInteger, Identity, Index, text
from sqlmodel import Field, SQLModel

from models.tables.columns import Xid8, moment


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
