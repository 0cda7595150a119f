"""Organisations and the people who operate them."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg
from sqlmodel import col

from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS
from models.tables import Membership, Organisation, Session, SignInCode, Token, User
from models.text import check, check_name, printable
from store.database import Database, Writer
from store.sql import Shape, arg, columns, command, query


class OrganisationRow(Shape):
    """An organisation."""

    id: str
    name: str
    created_at: datetime


class OperatorRow(Shape):
    """A person who operates an organisation, or did."""

    org_id: str
    id: str
    name: str
    created_at: datetime


_COLUMNS: tuple[Any, ...] = (col(Organisation.org_id).label("id"), col(Organisation.name), col(Organisation.created_at))
_THIS = col(Organisation.org_id) == arg("org_id")
_CREATE = query(
    OrganisationRow,
    sa.insert(Organisation).values(org_id=arg("org_id"), name=arg("name"), created_at=arg("at")).returning(*_COLUMNS),
)
_RENAME = query(OrganisationRow, sa.update(Organisation).where(_THIS).values(name=arg("name")).returning(*_COLUMNS))
_GET = query(OrganisationRow, sa.select(*_COLUMNS).where(_THIS))
_LIST = query(OrganisationRow, sa.select(*_COLUMNS).order_by(col(Organisation.created_at), col(Organisation.org_id)))

_USER_COLUMNS = columns(User, OperatorRow)
_LOCK_NAME = command(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(arg("name", sa.Text), 1))))
_USER = query(
    OperatorRow,
    sa.select(*_USER_COLUMNS)
    .where(col(User.org_id) == arg("org_id"), col(User.name) == arg("name"))
    .order_by(col(User.created_at), col(User.id))
    .limit(1),
)
_ADD_USER = query(
    OperatorRow,
    sa.insert(User).values(org_id=arg("org_id"), id=arg("id"), name=arg("name"), created_at=arg("at")).returning(*_USER_COLUMNS),
)
_JOIN = command(
    pg.insert(Membership)
    .values(org_id=arg("org_id"), user_id=arg("user_id"), role="operator", created_at=arg("at"))
    .on_conflict_do_update(index_elements=["org_id", "user_id"], set_={"ended_at": None})
)
_LEAVE = command(
    sa.update(Membership)
    .where(col(Membership.org_id) == arg("org_id"), col(Membership.user_id) == arg("user_id"), col(Membership.ended_at).is_(None))
    .values(ended_at=arg("at"))
)
# What ends with a membership. Without this it would be valid again if the person came back.
_END_WITH_MEMBERSHIP = tuple(
    command(
        sa.update(model)
        .where(col(model.org_id) == arg("org_id"), col(model.user_id) == arg("user_id"), col(ended).is_(None))
        .values({ended: arg("at")})
    )
    for model, ended in ((Token, Token.revoked_at), (Session, Session.ended_at), (SignInCode, SignInCode.used_at))
)


async def create(db: Database, name: str) -> OrganisationRow:
    """Create an organisation. Raises Unprocessable for a name that is not valid."""
    check_name("an organisation", name, NAME_CHARACTERS)
    async with db.write() as writer:
        return await writer.one(_CREATE, org_id=new_id(), name=name, at=now())


async def rename(db: Database, org_id: str, name: str) -> OrganisationRow:
    """Rename an organisation. Raises Unprocessable for a name that is not valid, NotFound."""
    check_name("an organisation", name, NAME_CHARACTERS)
    async with db.write() as writer:
        found = await writer.row(_RENAME, org_id=org_id, name=name)
    if found is None:
        raise unknown(org_id)
    return found


async def get(db: Database, org_id: str) -> OrganisationRow:
    """Return an organisation. Raises NotFound, Unprocessable for an id that is not text."""
    check(organisation=org_id)
    async with db.read() as reader:
        found = await reader.row(_GET, org_id=org_id)
    if found is None:
        raise unknown(org_id)
    return found


async def listed(db: Database) -> list[OrganisationRow]:
    """Return all organisations, the oldest first, for the commands of whoever runs the server."""
    async with db.read() as reader:
        return await reader.rows(_LIST)


async def operator(db: Database, org_id: str, name: str) -> OperatorRow:
    """Return the operator of this name, whom it creates if there is none. Raises Unprocessable, NotFound for the organisation."""
    check_name("an operator", name, NAME_CHARACTERS)
    await get(db, org_id)
    async with db.write() as writer:
        return await ensure_operator(writer, org_id, name)


async def ensure_operator(writer: Writer, org_id: str, name: str) -> OperatorRow:
    """Do as `operator`, within a transaction, for a known organisation and a checked name."""
    # Names of people need not be unique, so no index keeps two makers of one person apart.
    await writer.execute(_LOCK_NAME, name=f"{org_id}/{name}")
    user = await writer.row(_USER, org_id=org_id, name=name)
    if user is None:
        user = await writer.one(_ADD_USER, org_id=org_id, id=new_id(), name=name, at=now())
    await writer.execute(_JOIN, org_id=org_id, user_id=user.id, at=now())
    return user


async def dismiss(db: Database, org_id: str, user_id: str) -> bool:
    """End a person's operation of the organisation, with their tokens, sessions and codes. Return whether there was one to end."""
    async with db.write() as writer:
        if not await writer.execute(_LEAVE, org_id=org_id, user_id=user_id, at=now()):
            return False
        for statement in _END_WITH_MEMBERSHIP:
            await writer.execute(statement, org_id=org_id, user_id=user_id, at=now())
        return True


def unknown(org_id: str) -> NotFound:
    """Return the error for an organisation that does not exist."""
    return NotFound(f"unknown organisation {printable(org_id)[:200]}")
