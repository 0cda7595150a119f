from datetime import datetime

from sqlalchemy import Index
from sqlmodel import Field, SQLModel

from models.tables.columns import digest, moment, within_org


class SignInCode(SQLModel, table=True):
    """A code that signs an operator in once, kept as its SHA-256 only."""

    __tablename__ = "sign_in_codes"
    __table_args__ = (within_org("user_id", "users"), Index("sign_in_codes_by_secret", "secret_hash"))

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    secret_hash: bytes = digest()
    user_id: str
    created_at: datetime = moment()
    expires_at: datetime = moment()
    used_at: datetime | None = moment(nullable=True)


class Session(SQLModel, table=True):
    """An operator's session in one browser. Its cookie is kept as its SHA-256 only; `token_id` is the token that opened it, if one did."""

    __tablename__ = "sessions"
    __table_args__ = (within_org("user_id", "users"), within_org("token_id", "tokens"), Index("sessions_by_secret", "secret_hash"))

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    secret_hash: bytes = digest()
    user_id: str
    token_id: str | None = None
    created_at: datetime = moment()
    last_used_at: datetime | None = moment(nullable=True)
    expires_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)
