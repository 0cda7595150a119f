from datetime import datetime

from sqlalchemy import CheckConstraint, Index, text
from sqlmodel import Field, SQLModel

from models.tables.columns import Saved, digest, filled_in, flag, moment, within_org

_LIVE = text("deleted_at IS NULL")


class Organisation(SQLModel, table=True):
    """A tenant: nothing of it is ever seen by another."""

    __tablename__ = "organisations"

    org_id: str = Field(primary_key=True)
    name: str
    created_at: datetime = moment()


class User(SQLModel, table=True):
    """A person."""

    __tablename__ = "users"

    org_id: str = Field(primary_key=True, foreign_key="organisations.org_id")
    id: str = Field(primary_key=True)
    name: str
    created_at: datetime = moment()


class Membership(SQLModel, table=True):
    """That a person operates an organisation; an ended one operates nothing."""

    __tablename__ = "memberships"
    __table_args__ = (within_org("user_id", "users"),)

    org_id: str = Field(primary_key=True)
    user_id: str = Field(primary_key=True)
    role: str = Field(default="operator")
    created_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)


class Guild(SQLModel, table=True):
    """A team of agents."""

    __tablename__ = "guilds"
    __table_args__ = (Index("guilds_live_name", "org_id", "name", unique=True, postgresql_where=_LIVE),)

    org_id: str = Field(primary_key=True, foreign_key="organisations.org_id")
    id: str = Field(primary_key=True)
    name: str
    created_at: datetime = moment()
    deleted_at: datetime | None = moment(nullable=True)


class Agent(Saved, table=True):
    """An agent with its four note bindings; its standing task is a column, kept by operators. `updated_*` is the task's last save."""

    __tablename__ = "agents"
    __table_args__ = (
        within_org("guild_id", "guilds"),
        Index("agents_live_name", "org_id", "name", unique=True, postgresql_where=_LIVE),
        Index("agents_by_guild", "org_id", "guild_id"),
    )

    org_id: str = Field(primary_key=True, foreign_key="organisations.org_id")
    id: str = Field(primary_key=True)
    name: str
    guild_id: str | None = None
    read_guild: bool = flag(default=True)
    read_org: bool = flag(default=True)
    write_guild: bool = flag(default=True)
    write_org: bool = flag(default=False)
    task: str = filled_in("", "''")
    task_version: int = filled_in(0, "0")
    deleted_at: datetime | None = moment(nullable=True)


class Schedule(SQLModel, table=True):
    """A routine: what an agent is told to do again and again, and when it last was."""

    __tablename__ = "schedules"
    __table_args__ = (
        within_org("agent_id", "agents"),
        Index("schedules_live_name", "org_id", "agent_id", "name", unique=True, postgresql_where=_LIVE),
    )

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    agent_id: str
    name: str
    instruction: str
    previous_run_at: datetime | None = moment(nullable=True)
    created_at: datetime = moment()
    deleted_at: datetime | None = moment(nullable=True)


class Run(SQLModel, table=True):
    """One run of an agent; `guild_id` is the guild it had at its start."""

    __tablename__ = "runs"
    __table_args__ = (
        within_org("agent_id", "agents"),
        within_org("guild_id", "guilds"),
        within_org("schedule_id", "schedules"),
        Index("runs_by_agent", "org_id", "agent_id", "started_at"),
    )

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    agent_id: str
    guild_id: str | None = None
    schedule_id: str | None = None
    kind: str
    status: str
    routine: str | None = None
    started_at: datetime = moment()
    finished_at: datetime | None = moment(nullable=True)


class Token(SQLModel, table=True):
    """A bearer secret of a user or of an agent, kept as its SHA-256 only."""

    __tablename__ = "tokens"
    __table_args__ = (
        within_org("user_id", "users"),
        within_org("agent_id", "agents"),
        CheckConstraint("(user_id IS NULL) <> (agent_id IS NULL)", name="tokens_one_bearer"),
        Index("tokens_by_secret", "secret_hash"),
    )

    org_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    secret_hash: bytes = digest()
    user_id: str | None = None
    agent_id: str | None = None
    name: str
    created_at: datetime = moment()
    last_used_at: datetime | None = moment(nullable=True)
    revoked_at: datetime | None = moment(nullable=True)
