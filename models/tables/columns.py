"""Kinds of column that several tables share."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKeyConstraint, LargeBinary, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import UserDefinedType
from sqlmodel import Field, SQLModel


class Xid8(UserDefinedType[int]):
    """PostgreSQL's 64-bit transaction id."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """The type's name in DDL."""
        return "xid8"


def moment(*, nullable: bool = False) -> Any:
    """A point in time with a zone."""
    return Field(default=None, sa_type=DateTime(timezone=True), nullable=nullable)


def body(*, nullable: bool = True) -> Any:
    """A JSON value."""
    return Field(default=None, sa_type=JSONB, nullable=nullable)


def digest(*, nullable: bool = False) -> Any:
    """The 32 bytes of a SHA-256."""
    return Field(default=None, sa_type=LargeBinary, nullable=nullable)


def flag(*, default: bool) -> Any:
    """A boolean whose default the database fills in."""
    return filled_in(default, "true" if default else "false")


def filled_in(default: Any, server_default: str, **options: Any) -> Any:
    """A column whose default the database fills in, as SQL, so that a statement may leave it out."""
    # Without this None, SQLModel makes the value a default of SQLAlchemy's, which a compiled statement sends as NULL.
    return Field(default=default, sa_column_kwargs={"server_default": text(server_default), "default": None}, **options)


def within_org(column: str, table: str) -> ForeignKeyConstraint:
    """A reference to a row of the same organisation."""
    return ForeignKeyConstraint(["org_id", column], [f"{table}.org_id", f"{table}.id"])


class Created(SQLModel):
    """When a row was made, and by whom; names are kept as they were, so that they outlive their bearer."""

    created_at: datetime = moment()
    created_by_kind: str
    created_by_id: str
    created_by_name: str


class Saved(Created):
    """When a row was last changed, and by whom."""

    updated_at: datetime = moment()
    updated_by_kind: str
    updated_by_id: str
    updated_by_name: str
