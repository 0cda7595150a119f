"""Organisations and the people who operate them."""

from models.clock import new_id, now
from models.errors import NotFound
from models.limits import NAME_CHARACTERS
from models.text import check, check_name, printable
from store.database import Database, Row, Writer

_COLUMNS = "org_id AS id, name, created_at"
_CREATE = f"INSERT INTO organisations (org_id, name, created_at) VALUES ($1, $2, $3) RETURNING {_COLUMNS}"
_RENAME = f"UPDATE organisations SET name = $2 WHERE org_id = $1 RETURNING {_COLUMNS}"
_GET = f"SELECT {_COLUMNS} FROM organisations WHERE org_id = $1"
_LISTED = f"SELECT {_COLUMNS} FROM organisations ORDER BY created_at, org_id"

_USER = "SELECT org_id, id, name, created_at FROM users WHERE org_id = $1 AND name = $2 ORDER BY created_at, id LIMIT 1"
_ADD_USER = "INSERT INTO users (org_id, id, name, created_at) VALUES ($1, $2, $3, $4) RETURNING org_id, id, name, created_at"
_JOIN = """INSERT INTO memberships (org_id, user_id, role, created_at) VALUES ($1, $2, 'operator', $3)
    ON CONFLICT (org_id, user_id) DO UPDATE SET ended_at = NULL"""
_LEAVE = "UPDATE memberships SET ended_at = $3 WHERE org_id = $1 AND user_id = $2 AND ended_at IS NULL"


async def create(db: Database, name: str) -> Row:
    """A new organisation: id, name, created_at. Raises Unprocessable for a name that is none."""
    check_name("an organisation", name, NAME_CHARACTERS)
    async with db.write() as writer:
        return await _one(writer, _CREATE, new_id(), name, now())


async def rename(db: Database, org_id: str, name: str) -> Row:
    """The organisation under another name. Raises Unprocessable for a name that is none, NotFound."""
    check_name("an organisation", name, NAME_CHARACTERS)
    async with db.write() as writer:
        found = await writer.row(_RENAME, org_id, name)
    if found is None:
        raise NotFound(f"unknown organisation {printable(org_id)[:200]}")
    return found


async def get(db: Database, org_id: str) -> Row:
    """The organisation. Raises NotFound, Unprocessable for an id that is no text."""
    check(organisation=org_id)
    async with db.read() as reader:
        found = await reader.row(_GET, org_id)
    if found is None:
        raise NotFound(f"unknown organisation {printable(org_id)[:200]}")
    return found


async def listed(db: Database) -> list[Row]:
    """All organisations, the oldest first, for the commands of whoever runs the server."""
    async with db.read() as reader:
        return await reader.rows(_LISTED)


async def operator(db: Database, org_id: str, name: str) -> Row:
    """The operator of this name, made if there is none: org_id, id, name, created_at. Raises NotFound for an unknown organisation."""
    check_name("an operator", name, NAME_CHARACTERS)
    await get(db, org_id)
    async with db.write() as writer:
        return await ensure_operator(writer, org_id, name)


async def ensure_operator(writer: Writer, org_id: str, name: str) -> Row:
    """As `operator`, within a transaction, for a known organisation and a checked name."""
    # Names of people need not be unique, so no index keeps two makers of one person apart.
    await writer.execute("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 1))", org_id, name)
    user = await writer.row(_USER, org_id, name)
    if user is None:
        user = await _one(writer, _ADD_USER, org_id, new_id(), name, now())
    await writer.execute(_JOIN, org_id, user.id, now())
    return user


async def dismiss(db: Database, org_id: str, user_id: str) -> bool:
    """End a person's operation of the organisation; whether there was one to end. Their tokens no longer say who they are."""
    async with db.write() as writer:
        return await writer.execute(_LEAVE, org_id, user_id, now()) > 0


async def _one(writer: Writer, statement: str, *arguments: object) -> Row:
    row = await writer.row(statement, *arguments)
    if row is None:
        raise RuntimeError("an insert returned no row")
    return row
