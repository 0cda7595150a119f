"""Reading provenance: what happened at a path or in a run, and which change a file stands at now."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from models import limits, text
from models.caller import Caller
from models.cursor import Cursor
from models.errors import NotFound, Problem, Unprocessable
from models.kinds import FileKind
from models.paths import Family, Path, parse
from store import provenance_sql as sql
from store.database import Database, Row
from store.feed.sight import Seen, all_seen, seen

FileKey: TypeAlias = tuple[str, str]
"""A file's id and its display path."""

VAULT_PREFIX = "vault/"
"""What the paths of a mounted vault's files begin with."""

_END = 2**63 - 1
_RECORD_ID = re.compile(r"[1-9][0-9]{0,17}")

_KINDS = {
    Family.NOTE: FileKind.NOTE,
    Family.MEMORY: FileKind.MEMORY,
    Family.SCRIPT: FileKind.SCRIPT,
    Family.TASK: FileKind.TASK,
    Family.RECORD: FileKind.RECORD,
    Family.COLLECTION: FileKind.COLLECTION,
}


async def history(
    db: Database,
    caller: Caller,
    *,
    display_path: str | None = None,
    run_id: str | None = None,
    limit: int = 50,
    before: Cursor | None = None,
) -> list[Row]:
    """The organisation's changes, newest first: of all files, of one path, of one run, or of both. At most 100 at once.

    A path's history includes the move that ended it. For operators; raises Forbidden and Unprocessable.
    """
    caller.require_operator("fileChanges")
    _check_page(limit, display_path=display_path, run_id=run_id)
    # Without a cursor from beyond everything, so that one statement serves both.
    position = (before.xid, before.id) if before else (_END, _END)
    async with db.read() as reader:
        if display_path is None:
            statement = sql.CHANGES if run_id is None else sql.CHANGES_OF_RUN
            narrowed = () if run_id is None else (run_id,)
            return await reader.rows(statement, caller.org_id, limit, *position, *narrowed)
        return await reader.rows(sql.CHANGES_AT_PATH, caller.org_id, limit, position[1], display_path, run_id)


async def latest(db: Database, caller: Caller, paths: Sequence[str]) -> list[Row]:
    """The newest change of each path, in the order asked, once each; unknown paths are left out.

    A live file without a recorded change answers with its last-saved facts and `recorded` false.
    For operators; raises Forbidden and Unprocessable.
    """
    caller.require_operator("latestFileChanges")
    _check_paths(paths)
    asked = [_asked(path, caller.org_id) for path in dict.fromkeys(paths)]
    if not asked:
        return []
    columns = [list(column) for column in zip(*asked, strict=True)]
    async with db.read() as reader:
        return await reader.rows(sql.LATEST_AT_PATHS, caller.org_id, *columns)


async def latest_seen(db: Database, caller: Caller, keys: Sequence[FileKey]) -> dict[FileKey, Seen]:
    """As `latest_of`, with each change as the caller may see it."""
    found = await latest_of(db, caller.org_id, keys)
    return {key: change for key, row in found.items() if (change := seen(caller, row)) is not None}


async def changes_seen(
    db: Database, caller: Caller, display_paths: Sequence[str], limit: int, before: Cursor | None
) -> dict[str, list[Seen]]:
    """As `changes_of`, with each change as the caller may see it."""
    found = await changes_of(db, caller.org_id, display_paths, limit, before)
    return {path: all_seen(caller, rows) for path, rows in found.items()}


async def latest_of(db: Database, org_id: str, keys: Sequence[FileKey]) -> dict[FileKey, Row]:
    """The newest change of each file that its reader already has, by file id and path, in one query; also of one deleted meanwhile.

    A file without a recorded change at its path answers with its last-saved facts and `recorded` false.
    """
    if not keys:
        return {}
    ids, paths = zip(*dict.fromkeys(keys), strict=True)
    async with db.read() as reader:
        rows = await reader.rows(sql.LATEST_OF_FILES, org_id, list(ids), list(paths))
    return {(row.file_id, row.display_path): row for row in rows}


async def changes_of(
    db: Database, org_id: str, display_paths: Sequence[str], limit: int = 20, before: Cursor | None = None
) -> dict[str, list[Row]]:
    """The changes at each path that its reader may read, newest first, at most `limit` (1 to 100) each, in one query.

    A record's changes are those of the table that has its name now. Raises Unprocessable.
    """
    _check_page(limit)
    found: dict[str, list[Row]] = {path: [] for path in display_paths}
    if not found:
        return {}
    # Two tables may have had one name, one after the other, and so their records the same paths.
    tables = [_table(path, org_id) for path in found]
    async with db.read() as reader:
        rows = await reader.rows(sql.CHANGES_OF_PATHS, org_id, limit, before.id if before else _END, list(found), tables)
    for row in rows:
        found[row.asked_path].append(row)
    return found


def _check_page(limit: int, **arguments: str | None) -> None:
    text.check(**arguments)
    if not 1 <= limit <= limits.MAX_PAGE:
        raise Unprocessable(f"limit must be from 1 to {limits.MAX_PAGE}; got {limit}", problems=[Problem("limit", "out of range")])


def _check_paths(paths: Sequence[str]) -> None:
    if len(paths) > limits.PATHS_PER_REQUEST:
        raise Unprocessable(f"{len(paths)} paths are too many for one request; at most {limits.PATHS_PER_REQUEST} are allowed")
    problems = [Problem("display_paths", f"{text.printable(path)[:300]!r} {why}") for path in paths if (why := text.fault(path))]
    if problems:
        raise Unprocessable.listing("request rejected", problems)


def _asked(path: str, org_id: str) -> tuple[str | int | None, ...]:
    """The path, and what finds the live file at it: kind, owner, key, collection and record number."""
    if path.startswith(VAULT_PREFIX):
        return (path, FileKind.VAULT, *[None] * 4)
    parsed = _parsed(path, org_id)
    if parsed is None or parsed.family not in _KINDS:
        return (path, *[None] * 5)
    return path, _KINDS[parsed.family], parsed.owner_id, parsed.key, parsed.collection, _number(parsed)


def _parsed(path: str, org_id: str) -> Path | None:
    """A path that no file ever had has no live row here but may have changes."""
    try:
        return parse(path, org_id)
    except (NotFound, Unprocessable):
        return None


def _number(path: Path) -> int | None:
    return int(path.key) if path.family is Family.RECORD and _RECORD_ID.fullmatch(path.key) else None


def _table(path: str, org_id: str) -> str | None:
    parsed = _parsed(path, org_id)
    return parsed.collection if parsed and parsed.family is Family.RECORD else None
