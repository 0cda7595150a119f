"""The token of the operator of a home folder: made once, kept beside the database that it opens, readable by the owner alone."""

import os
from pathlib import Path

from models.caller import Caller
from models.errors import MunimentError
from store import callers, organisations, tokens
from store.database import Database

_FILE = "operator-token"
_NAME = "operator"
_MODE = 0o600


async def keep(db: Database, home: Path) -> Caller | None:
    """Return the operator whom the kept token names.

    Makes a new token for the oldest organisation where none is kept that is valid. Returns None where there is no organisation.
    """
    file = home / _FILE
    kept = _read(file)
    if kept is not None and (caller := await _operator(db, kept)) is not None:
        return caller
    found = await organisations.listed(db)
    if not found:
        return None
    secret = await tokens.create_for_user(db, found[0].id, _NAME)
    _write(file, secret)
    return await _operator(db, secret)


async def _operator(db: Database, secret: str) -> Caller | None:
    try:
        caller = await callers.resolve(db, secret)
    except MunimentError:
        return None  # revoked, or of a database that is gone
    return None if caller.is_agent else caller


def _read(file: Path) -> str | None:
    if not file.exists():
        return None
    # A copy or a backup may have made it readable by others.
    file.chmod(_MODE)
    return file.read_text().strip()


def _write(file: Path, secret: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE), "w") as stream:
        stream.write(f"{secret}\n")
