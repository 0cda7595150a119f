"""Sessions of browsers: a code that is good once, or a token, opens one. Codes and sessions are kept as their SHA-256."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import Forbidden, Unauthenticated
from models.tables import Membership, Session, SignInCode
from store.database import Database, Writer
from store.sql import Shape, arg, command, query
from store.tokens import digest

CODE_LIFETIME = timedelta(minutes=10)
LIFETIME = timedelta(days=30)
# How long a row stays after it has ended, for whoever asks what signed in.
_KEPT = timedelta(days=90)


class _CodeRow(Shape):
    org_id: str
    id: str
    user_id: str
    expires_at: datetime
    used_at: datetime | None


_THIS_CODE = (col(SignInCode.org_id) == arg("org_id"), col(SignInCode.id) == arg("id"))
_CODE = query(
    _CodeRow,
    sa.select(
        *(col(SignInCode.org_id), col(SignInCode.id), col(SignInCode.user_id), col(SignInCode.expires_at), col(SignInCode.used_at))
    ).where(col(SignInCode.secret_hash) == arg("secret_hash")),
)
_ADD_CODE = command(
    sa.insert(SignInCode).values(
        org_id=arg("org_id"),
        id=arg("id"),
        secret_hash=arg("secret_hash"),
        user_id=arg("user_id"),
        created_at=arg("at"),
        expires_at=arg("expires_at"),
    )
)
_USE_CODE = command(
    sa.update(SignInCode)
    .where(
        *_THIS_CODE,
        col(SignInCode.used_at).is_(None),
        sa.exists().where(
            col(Membership.org_id) == col(SignInCode.org_id),
            col(Membership.user_id) == col(SignInCode.user_id),
            col(Membership.ended_at).is_(None),
        ),
    )
    .values(used_at=arg("at"))
)
_ADD = command(
    sa.insert(Session).values(
        org_id=arg("org_id"),
        id=arg("id"),
        secret_hash=arg("secret_hash"),
        user_id=arg("user_id"),
        token_id=arg("token_id"),
        created_at=arg("at"),
        expires_at=arg("expires_at"),
    )
)
_END = command(
    sa.update(Session)
    .where(col(Session.org_id) == arg("org_id"), col(Session.id) == arg("id"), col(Session.ended_at).is_(None))
    .values(ended_at=arg("at"))
)
_SWEEP = tuple(
    command(sa.delete(model).where(col(model.org_id) == arg("org_id"), col(model.expires_at) < arg("before")))
    for model in (SignInCode, Session)
)


def random_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


async def create_code(
    db: Database, org_id: str, user_id: str, *, lifetime: timedelta = CODE_LIFETIME, source: Callable[[], str] = random_secret
) -> str:
    """Return a new code that signs an operator in once, within its lifetime."""
    code, at = source(), now()
    async with db.write() as writer:
        await _sweep(writer, org_id)
        await writer.execute(
            _ADD_CODE, org_id=org_id, id=new_id(), secret_hash=digest(code), user_id=user_id, at=at, expires_at=at + lifetime
        )
    return code


async def open_by_code(db: Database, code: str, *, source: Callable[[], str] = random_secret) -> str:
    """Use a code up and return the secret of the session that it opens. Raises Unauthenticated, saying why the code is not good."""
    at = now()
    async with db.write() as writer:
        found = await writer.row(_CODE, secret_hash=digest(code))
        if found is None:
            raise Unauthenticated("this sign-in code is unknown")
        if found.used_at is not None:
            raise Unauthenticated("this sign-in code has been used already; each is good once")
        if found.expires_at <= at:
            raise Unauthenticated("this sign-in code has expired")
        # Of two that use it at once, the second finds it used.
        if not await writer.execute(_USE_CODE, org_id=found.org_id, id=found.id, at=at):
            raise Unauthenticated("this sign-in code has been used already, or its operator is none any more")
        return await _open(writer, found.org_id, found.user_id, source(), at=at, expires_at=at + LIFETIME)


async def open_by_token(db: Database, caller: Caller, *, source: Callable[[], str] = random_secret) -> str:
    """Return the secret of a new session of an operator whom a token, or a signed token, names. It ends with that token.

    Raises: Forbidden for an agent.
    """
    if caller.is_agent:
        raise Forbidden("only operators sign in; an agent sends its token with each request")
    at = now()
    expires_at = min(at + LIFETIME, caller.expires_at or at + LIFETIME)
    async with db.write() as writer:
        return await _open(writer, caller.org_id, caller.id, source(), at=at, expires_at=expires_at, token_id=caller.token_id)


async def end(db: Database, caller: Caller) -> None:
    """End the session that the caller came with, if it came with one."""
    if caller.session_id is not None:
        async with db.write() as writer:
            await writer.execute(_END, org_id=caller.org_id, id=caller.session_id, at=now())


async def _open(
    writer: Writer, org_id: str, user_id: str, secret: str, *, at: datetime, expires_at: datetime, token_id: str | None = None
) -> str:
    await _sweep(writer, org_id)
    facts = {"user_id": user_id, "token_id": token_id, "at": at, "expires_at": expires_at}
    await writer.execute(_ADD, org_id=org_id, id=new_id(), secret_hash=digest(secret), **facts)
    return secret


async def _sweep(writer: Writer, org_id: str) -> None:
    for statement in _SWEEP:
        await writer.execute(statement, org_id=org_id, before=now() - _KEPT)
