from models import identity, words
from models.caller import Caller
from models.clock import new_id, now
from models.errors import Conflict
from models.kinds import FileKind, FileOperation, NoteLevel
from models.paths import Path, check_key, note_path
from store import capacity, changes
from store.changes import LAST_VERSION, Change
from store.database import Database, Row, Writer
from store.notes import owners
from store.notes.columns import COLUMNS, WRITER
from store.notes.embedded import refuse_if_embedded
from store.notes.families import note_to_move
from store.notes.reading import ONE
from store.notes.rights import owner_of, unknown

_LAST = f"""SELECT greatest({LAST_VERSION}, (SELECT max(p.version) FROM artifacts p
    WHERE p.org_id = $1 AND p.owner_id = $3 AND p.kind = 'NOTE' AND p.key = $4))"""
# Both rows take the version of the move, which is the last of the one path and the newest of the other.
_LEAVE = "UPDATE artifacts SET deleted_at = $3, version = $4 WHERE org_id = $1 AND id = $2"
_ARRIVE = f"""INSERT INTO artifacts AS a (org_id, id, kind, level, owner_id, key, content, search_blob, search, search_words, version,
        created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name,
        written_by_agent)
    SELECT a.org_id, $3, 'NOTE', $4, $5, $6, a.content, $7, $13::tsvector, $14::text, $8,
        a.created_at, a.created_by_kind, a.created_by_id, a.created_by_name, $9, $10, $11, $12, {WRITER}
    FROM artifacts a WHERE a.org_id = $1 AND a.id = $2 RETURNING {COLUMNS}"""


async def move(db: Database, caller: Caller, path: str, level: NoteLevel, key: str, owner_id: str | None = None) -> Row:
    """Move a note to another key or owner, for operators; the note at its new path.

    Without `owner_id` a note that stays at its level stays with its owner.
    Raises NotFound for an unknown note or owner, Unprocessable, LimitExceeded, Conflict where a note is there already or
    where agents' tasks embed this one.
    """
    caller.require_operator("noteMove")
    async with db.write() as writer:
        source = await note_to_move(writer, caller, path)
        owner = source.owner_id if owner_id is None and level is source.level else owner_of(caller, level, owner_id)
        check_key(key, level)
        if await writer.row(ONE, caller.org_id, source.owner_id, source.key) is None:
            raise unknown(path)
        await owners.seize(writer, caller.org_id, (source.level, source.owner_id), (level, owner))
        target = Path(note_path(caller.org_id, level, owner, key), source.family, caller.org_id, level, owner, key)
        return await _move(writer, caller, source, target)


async def _move(writer: Writer, caller: Caller, source: Path, target: Path) -> Row:
    old = await writer.row(f"{ONE} FOR UPDATE", caller.org_id, source.owner_id, source.key)
    if old is None:
        raise unknown(source.text)
    await refuse_if_embedded(writer, caller.org_id, source.text)
    if await writer.row(ONE, caller.org_id, target.owner_id, target.key):
        raise Conflict(f"there is a note at {target.text} already; delete it first or choose another key")
    # Within one owner the number of notes does not change.
    if target.owner_id != source.owner_id:
        await capacity.claim(writer, caller.org_id, target.owner_id)
    last = await writer.value(_LAST, caller.org_id, target.text, target.owner_id, target.key)
    return await _carry(writer, caller, old, target, max(old.version, last) + 1)


async def _carry(writer: Writer, caller: Caller, old: Row, target: Path, version: int) -> Row:
    at, file_id = now(), new_id()
    # The old row stays, deleted, and a new one arrives: each path keeps a row of its own with its last version.
    await writer.execute(_LEAVE, caller.org_id, old.id, at, version)
    blob = identity.note_blob(target.key, old.content)
    where = (target.level, target.owner_id, target.key, blob)
    who = (caller.kind, caller.id, caller.name)
    moved = await writer.row(_ARRIVE, caller.org_id, old.id, file_id, *where, version, at, *who, *words.index(blob))
    if moved is None:
        raise RuntimeError("a note vanished while its row was locked")
    change = Change(
        kind=FileKind.NOTE,
        operation=FileOperation.MOVE,
        file_id=file_id,
        path=target.text,
        previous_path=old.display_path,
        version=version,
        at=at,
        level=target.level,
        owner_id=target.owner_id,
    )
    await changes.record(writer, caller, change)
    return moved
