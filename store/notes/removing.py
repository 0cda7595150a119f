from models.caller import Caller
from models.clock import now
from models.errors import NotFound, VersionConflict
from models.kinds import FileKind, FileOperation
from models.paths import Path
from store import changes
from store.changes import Change
from store.database import Database, Row, Writer
from store.notes import owners
from store.notes.embedded import refuse_if_embedded
from store.notes.families import note_to_delete
from store.notes.rights import require_write_at, unknown

# The row keeps the version of its deletion: a note that is written at this path later goes on from it.
_DELETE = """UPDATE artifacts SET deleted_at = $4, version = version + 1
    WHERE org_id = $1 AND owner_id = $2 AND kind = 'NOTE' AND key = $3 AND deleted_at IS NULL RETURNING id, version"""


async def delete(db: Database, caller: Caller, path: str, *, expected_version: int | None = None) -> Row:
    """Delete the note at a display path; the change that says so.

    Raises NotFound, Forbidden, Unprocessable naming the right tool for a path of another family, Conflict naming the agents whose
    tasks embed the note, VersionConflict.
    """
    async with db.write() as writer:
        parsed = await note_to_delete(writer, caller, path)
        require_write_at(caller, parsed)
        try:
            await owners.seize(writer, caller.org_id, (parsed.level, parsed.owner_id))
        except NotFound as refusal:
            raise unknown(path) from refusal
        return await _delete(writer, caller, parsed, expected_version)


async def _delete(writer: Writer, caller: Caller, path: Path, expected_version: int | None) -> Row:
    at = now()
    deleted = await writer.row(_DELETE, caller.org_id, path.owner_id, path.key, at)
    if deleted is None:
        raise unknown(path.text)
    if expected_version is not None and expected_version != (current := deleted.version - 1):
        # What was just deleted comes back with the transaction.
        raise VersionConflict(path.text, expected=expected_version, current=current)
    # After the deletion and before the commit, so that a refusal rolls it back and the note's own text is not in the way.
    await refuse_if_embedded(writer, caller.org_id, path.text)
    change = Change(
        kind=FileKind.NOTE,
        operation=FileOperation.DELETE,
        file_id=deleted.id,
        path=path.text,
        version=deleted.version,
        at=at,
        level=path.level,
        owner_id=path.owner_id,
    )
    return await changes.record(writer, caller, change)
