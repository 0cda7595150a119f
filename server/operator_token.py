"""The token of the operator of a home folder: made once, kept beside the database that it opens, readable by the owner alone."""

import os
from pathlib import Path

from models.errors import MunimentError
from store import callers, organisations, tokens
from store.database import Database

_FILE = "operator-token"
_NAME = "operator"


async def keep(db: Database, home: Path) -> str | None:
    """The kept token while it is valid, else a new one for the oldest organisation; None where there is no organisation."""
    file = home / _FILE
    kept = _read(file)
    if kept is not None and await _is_valid(db, kept):
        return kept
    found = await organisations.listed(db)
    if not found:
        return None
    secret = await tokens.create_for_user(db, found[0].id, _NAME)
    _write(file, secret)
    return secret


async def _is_valid(db: Database, secret: str) -> bool:
    try:
        await callers.resolve(db, secret)
    except MunimentError:
        return False  # revoked, or of a database that is gone
    return True


def _read(file: Path) -> str | None:
    return file.read_text().strip() if file.exists() else None


def _write(file: Path, secret: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(f"{secret}\n")
