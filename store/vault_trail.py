"""The trail of a mounted vault: every change of one of its files once, whoever made it and however many processes see it."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

from models.caller import Caller
from models.clock import now
from models.kinds import FileKind, FileOperation
from store import changes
from store.changes import Change
from store.database import Database, Reader, Row, Writer

Digests: TypeAlias = Mapping[str, bytes | None]
"""The SHA-256 of files by display path; None for a file that is gone."""

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('vault trail ' || $1, 2))"

# The trail's own last version counts too: a restored organisation may bring its changes but not what this server last saw.
_STORED = """SELECT asked.path, v.digest, coalesce(greatest(v.version, (
        SELECT c.version FROM file_changes c WHERE c.org_id = $1 AND c.display_path = asked.path ORDER BY c.id DESC LIMIT 1
    )), 0) AS version
    FROM unnest($2::text[]) AS asked(path) LEFT JOIN vault_files v ON v.org_id = $1 AND v.display_path = asked.path"""
_KEEP = """INSERT INTO vault_files (org_id, display_path, digest, version, updated_at, updated_by_kind, updated_by_id, updated_by_name)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (org_id, display_path) DO UPDATE SET digest = excluded.digest, version = excluded.version,
        updated_at = excluded.updated_at, updated_by_kind = excluded.updated_by_kind, updated_by_id = excluded.updated_by_id,
        updated_by_name = excluded.updated_by_name"""
_LIVE = "SELECT display_path FROM vault_files WHERE org_id = $1 AND digest IS NOT NULL"


@contextlib.asynccontextmanager
async def turn(db: Database, org_id: str) -> AsyncIterator[Writer]:
    """A transaction that no other one of the trail overlaps, in any process.

    Who writes to the vault holds it from before the file changes until the change is recorded as its own; who only saw a file
    change records it in a turn of its own, and so never first. Raises TimeoutError when others hold it too long.
    """
    async with db.write() as writer:
        try:
            await writer.value(_LOCK, org_id)
        except TimeoutError as error:
            raise TimeoutError("another writer holds the vault's trail") from error
        yield writer


async def record(writer: Writer, caller: Caller, digests: Digests) -> int:
    """Append a change by the caller for each file that differs from what was last seen; how many there were.

    To be called within `turn`, with digests that were taken within it.
    """
    if not digests:
        return 0
    stored = {row.path: row for row in await writer.rows(_STORED, caller.org_id, list(digests))}
    differing = [_change(stored[path], path, digest) for path, digest in digests.items() if digest != stored[path].digest]
    if not differing:
        return 0
    who = (caller.kind, caller.id, caller.name)
    rows = [(caller.org_id, change.path, digests[change.path], change.version, change.at, *who) for change in differing]
    await writer.execute_many(_KEEP, rows)
    await changes.record_many(writer, caller, differing)
    return len(differing)


async def live_paths(reader: Reader, org_id: str) -> list[str]:
    """The display paths of the files that were there when last seen."""
    return [row.display_path for row in await reader.rows(_LIVE, org_id)]


def _change(stored: Row, path: str, digest: bytes | None) -> Change:
    written = FileOperation.CREATE if stored.digest is None else FileOperation.UPDATE
    operation = FileOperation.DELETE if digest is None else written
    return Change(kind=FileKind.VAULT, operation=operation, file_id=path, path=path, version=stored.version + 1, at=now())
