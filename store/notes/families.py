"""What the note tools answer for the paths of other families: which tool is the right one."""

from models.caller import Caller
from models.errors import MunimentError, Unprocessable
from models.paths import Family, Path, parse
from store import access
from store.database import Reader
from store.notes.rights import reads, unknown

_GET = {
    Family.TASK: "is an agent's task, not a note; the agent finds it in its State",
    Family.MEMORY: "is an agent's memory, not a note; the agent finds it in its State and writes it with memory_write",
    Family.SCRIPT: "is a script, not a note; read it with script_get",
    Family.COLLECTION: "is a collection, not a note; find its records with record_search and record_list",
    Family.RECORD: "is a record, not a note; read it with record_list (where id) or find it with record_search",
}
_DELETE = {
    Family.TASK: "is an agent's task, which is never deleted; the operator saves it",
    Family.MEMORY: "is an agent's memory, which is never deleted; write it with memory_write",
    Family.ARCHIVE: "is a previous version of an agent's memory, which is never deleted",
    Family.SCRIPT: "is a script, not a note; delete it with script_delete",
    Family.COLLECTION: "is a collection; collections are managed by the operator",
    Family.RECORD: "is a record, not a note; remove it with record_remove",
}
_MOVE = {
    Family.TASK: "is an agent's task, which cannot be moved",
    Family.MEMORY: "is an agent's memory, which cannot be moved",
    Family.ARCHIVE: "is a previous version of an agent's memory, which cannot be moved",
    Family.SCRIPT: "is a script, not a note; write it under its new name with script_write",
    Family.COLLECTION: "is a collection, not a note; rename it on the collection itself",
    Family.RECORD: "is a record, not a note; a record stays in its collection",
}


async def note_to_get(reader: Reader, caller: Caller, path: str) -> Path:
    """The path of a note, or for an operator of an archived memory; see `_refusal` for what else raises."""
    parsed = parse(path, caller.org_id)
    if parsed.family is Family.NOTE or (parsed.family is Family.ARCHIVE and not caller.is_agent):
        return parsed
    raise await _refusal(reader, caller, parsed, _GET)


async def note_to_delete(reader: Reader, caller: Caller, path: str) -> Path:
    """The path of a note; see `_refusal` for what else raises."""
    return await _only_note(reader, caller, path, _DELETE)


async def note_to_move(reader: Reader, caller: Caller, path: str) -> Path:
    """The path of a note; see `_refusal` for what else raises."""
    return await _only_note(reader, caller, path, _MOVE)


async def _only_note(reader: Reader, caller: Caller, path: str, messages: dict[Family, str]) -> Path:
    parsed = parse(path, caller.org_id)
    if parsed.family is Family.NOTE:
        return parsed
    raise await _refusal(reader, caller, parsed, messages)


async def _refusal(reader: Reader, caller: Caller, path: Path, messages: dict[Family, str]) -> MunimentError:
    """Unprocessable naming the right tool, or NotFound where the caller must not know that the path exists."""
    # A path under a table that the caller does not read is unknown, whatever the right tool would be.
    if path.family in (Family.COLLECTION, Family.RECORD):
        await access.for_read(reader, caller, path.collection)
    elif not reads(caller, path.level, path.owner_id) or (caller.is_agent and path.family is Family.ARCHIVE):
        return unknown(path.text)
    return Unprocessable(f"{path.text[:500]} {messages[path.family]}")
