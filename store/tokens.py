"""Bearer tokens: random secrets that are shown once and kept as their SHA-256."""

import hashlib
import secrets
from collections.abc import Callable

from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS
from models.text import check, check_name, printable
from store import organisations
from store.agents import unknown as unknown_agent
from store.database import Database, Row, Writer

PREFIX = "mun_"

_AGENT = """SELECT org_id, id, name FROM agents WHERE id = $1 AND ($2::text IS NULL OR org_id = $2) AND deleted_at IS NULL FOR SHARE"""
_ADD = """INSERT INTO tokens (org_id, id, secret_hash, user_id, agent_id, name, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)"""
_LIVE = """SELECT t.id, t.org_id, CASE WHEN t.agent_id IS NULL THEN 'USER' ELSE 'AGENT' END AS kind,
        coalesce(t.user_id, t.agent_id) AS bearer_id, coalesce(u.name, a.name) AS bearer_name, t.name, t.created_at, t.last_used_at
    FROM tokens t
    LEFT JOIN users u ON u.org_id = t.org_id AND u.id = t.user_id
    LEFT JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
    WHERE t.revoked_at IS NULL"""
_LISTED = f"{_LIVE} AND ($1::text IS NULL OR t.org_id = $1) ORDER BY t.org_id, t.created_at, t.id"
_REVOKE = """UPDATE tokens SET revoked_at = $4
    WHERE (id = $1 OR secret_hash = $2) AND ($3::text IS NULL OR org_id = $3) AND revoked_at IS NULL RETURNING id"""


def random_secret() -> str:
    """A secret of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """What is kept of a secret. A secret of 256 random bits needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


async def create_for_user(db: Database, org_id: str, user_name: str, *, name: str = "", source: Callable[[], str] = random_secret) -> str:
    """A new secret of the operator of this name, made if there is none. Raises NotFound for an unknown organisation, Unprocessable."""
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
    """A new secret of a living agent. Raises NotFound for an unknown one (in `org_id`, if that is given), Unprocessable."""
    check(agent=agent_id, org=org_id)
    _check_label(name)
    async with db.write() as writer:
        agent = await writer.row(_AGENT, agent_id, org_id)
        if agent is None:
            raise unknown_agent(agent_id)
        return await _issue(writer, agent.org_id, source(), agent_id=agent_id, name=name or agent.name)


def _check_label(name: str) -> None:
    if name:
        check_name("a token", name, NAME_CHARACTERS)


async def _issue(writer: Writer, org_id: str, secret: str, *, name: str, user_id: str | None = None, agent_id: str | None = None) -> str:
    await writer.execute(_ADD, org_id, new_id(), digest(secret), user_id, agent_id, name, now())
    return secret


async def listed(db: Database, org_id: str | None = None) -> list[Row]:
    """The tokens that are not revoked, of one organisation or of all.

    Each has id, org_id, kind (USER or AGENT), bearer_id, bearer_name, name, created_at, last_used_at.
    """
    async with db.read() as reader:
        return await reader.rows(_LISTED, org_id)


async def revoke(db: Database, id_or_secret: str, *, org_id: str | None = None) -> str:
    """Revoke a token by its id or by itself; its id. Raises NotFound for one that is unknown or revoked already."""
    check(token=id_or_secret)
    async with db.write() as writer:
        revoked: str | None = await writer.value(_REVOKE, id_or_secret, digest(id_or_secret), org_id, now())
    if revoked is None:
        # A secret is never repeated, not even to whoever sent it.
        shown = "this token" if id_or_secret.startswith(PREFIX) else f"a token with the id {printable(id_or_secret)[:100]}"
        raise NotFound(f"{shown} is unknown, or has been revoked already")
    return revoked
