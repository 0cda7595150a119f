"""Bearer tokens: random secrets that are shown once and kept as their SHA-256."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS
from models.tables import Agent, Session, Token, User
from models.text import check, check_name, printable
from store import organisations
from store.agents import unknown as unknown_agent
from store.database import Database, Writer
from store.sql import Shape, arg, command, query, table

PREFIX = "mun_"


class TokenRow(Shape):
    """A token without its secret; `kind` is USER or AGENT."""

    id: str
    org_id: str
    kind: str
    bearer_id: str
    bearer_name: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class _AgentRow(Shape):
    org_id: str
    name: str


class _RevokedRow(Shape):
    org_id: str
    id: str


_OF_ORG = sa.or_(arg("org_id", sa.Text).is_(None), col(Token.org_id) == arg("org_id", sa.Text))
_AGENT = query(
    _AgentRow,
    sa.select(col(Agent.org_id), col(Agent.name))
    .where(
        col(Agent.id) == arg("id"),
        sa.or_(arg("org_id", sa.Text).is_(None), col(Agent.org_id) == arg("org_id", sa.Text)),
        col(Agent.deleted_at).is_(None),
    )
    .with_for_update(read=True),
)
_ADD = command(
    sa.insert(Token).values(
        org_id=arg("org_id"),
        id=arg("id"),
        secret_hash=arg("secret_hash"),
        user_id=arg("user_id"),
        agent_id=arg("agent_id"),
        name=arg("name"),
        created_at=arg("at"),
    )
)
_LIST = query(
    TokenRow,
    sa.select(
        *(col(Token.id), col(Token.org_id), sa.case((col(Token.agent_id).is_(None), "USER"), else_="AGENT").label("kind")),
        sa.func.coalesce(col(Token.user_id), col(Token.agent_id)).label("bearer_id"),
        sa.func.coalesce(col(User.name), col(Agent.name)).label("bearer_name"),
        *(col(Token.name), col(Token.created_at), col(Token.last_used_at)),
    )
    .select_from(
        table(Token)
        .outerjoin(table(User), sa.and_(col(User.org_id) == col(Token.org_id), col(User.id) == col(Token.user_id)))
        .outerjoin(table(Agent), sa.and_(col(Agent.org_id) == col(Token.org_id), col(Agent.id) == col(Token.agent_id)))
    )
    .where(col(Token.revoked_at).is_(None), _OF_ORG)
    .order_by(col(Token.org_id), col(Token.created_at), col(Token.id)),
)
_REVOKE = query(
    _RevokedRow,
    sa.update(Token)
    .where(sa.or_(col(Token.id) == arg("id"), col(Token.secret_hash) == arg("secret_hash")), _OF_ORG, col(Token.revoked_at).is_(None))
    .values(revoked_at=arg("at"))
    .returning(col(Token.org_id), col(Token.id)),
)
_END_SESSIONS = command(
    sa.update(Session)
    .where(col(Session.org_id) == arg("org_id"), col(Session.token_id) == arg("id"), col(Session.ended_at).is_(None))
    .values(ended_at=arg("at"))
)


def random_secret() -> str:
    """Return a secret of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return what is kept of a secret. A secret of 256 random bits needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


async def create_for_user(db: Database, org_id: str, user_name: str, *, name: str = "", source: Callable[[], str] = random_secret) -> str:
    """Return a new secret of the operator of this name, whom it creates if there is none.

    Raises: NotFound for an unknown organisation, Unprocessable.
    """
    check(org=org_id)
    check_name("an operator", user_name, NAME_CHARACTERS)
    _check_label(name)
    await organisations.get(db, org_id)
    async with db.write() as writer:
        user = await organisations.ensure_operator(writer, org_id, user_name)
        return await _issue(writer, org_id, source(), user_id=user.id, name=name or user_name)


async def create_for_agent(
    db: Database, agent_id: str, *, org_id: str | None = None, name: str = "", source: Callable[[], str] = random_secret
) -> str:
    """Return a new secret of a live agent. Raises NotFound for an unknown one (in `org_id`, if that is given), Unprocessable."""
    check(agent=agent_id, org=org_id)
    _check_label(name)
    async with db.write() as writer:
        agent = await writer.row(_AGENT, id=agent_id, org_id=org_id)
        if agent is None:
            raise unknown_agent(agent_id)
        return await _issue(writer, agent.org_id, source(), agent_id=agent_id, name=name or agent.name)


def _check_label(name: str) -> None:
    if name:
        check_name("a token", name, NAME_CHARACTERS)


async def _issue(writer: Writer, org_id: str, secret: str, *, name: str, user_id: str | None = None, agent_id: str | None = None) -> str:
    bearer = {"user_id": user_id, "agent_id": agent_id}
    await writer.execute(_ADD, org_id=org_id, id=new_id(), secret_hash=digest(secret), name=name, at=now(), **bearer)
    return secret


async def listed(db: Database, org_id: str | None = None) -> list[TokenRow]:
    """Return the tokens that are not revoked, of one organisation or of all."""
    async with db.read() as reader:
        return await reader.rows(_LIST, org_id=org_id)


async def revoke(db: Database, id_or_secret: str, *, org_id: str | None = None) -> str:
    """Revoke a token, by its id or by itself, and end the sessions that it opened; return its id.

    Raises: NotFound for one that is unknown or revoked already.
    """
    check(token=id_or_secret)
    at = now()
    async with db.write() as writer:
        revoked = await writer.row(_REVOKE, id=id_or_secret, secret_hash=digest(id_or_secret), org_id=org_id, at=at)
        if revoked is not None:
            await writer.execute(_END_SESSIONS, org_id=revoked.org_id, id=revoked.id, at=at)
            return revoked.id
    # A secret is never repeated, not even to whoever sent it.
    shown = "this token" if id_or_secret.startswith(PREFIX) else f"a token with the id {printable(id_or_secret)[:100]}"
    raise NotFound(f"{shown} is unknown, or has been revoked already")
