"""The routes of notes: the Finder's list of one owner, and each note at its display path."""

from pydantic import Field

from models.caller import Caller
from models.errors import Unprocessable
from models.kinds import NoteLevel
from models.limits import DEFAULT_PAGE
from models.paths import Family, Path, parse
from server.rest import models, shapes
from server.rest.arguments import Body, Query
from server.rest.fields import Level, Limit, Text, Words
from server.rest.route import Answer, Call, Guard, NoQuery, Route, Tag
from store import note_search, notes
from store.notes.rights import reads, unknown, writes

_ELSEWHERE = {
    Family.TASK: "is an agent's task; save it at /api/agents/{id}/task",
    Family.MEMORY: "is an agent's memory; write it at /api/agents/{id}/memory",
    Family.ARCHIVE: "is a previous version of an agent's memory, which does not change",
    Family.SCRIPT: "is a script; write it at /api/agents/{id}/scripts/{name}",
    Family.COLLECTION: "is a collection; change it at /api/collections/{id}",
    Family.RECORD: "is a record; change it at /api/collections/{id}/records/{record_id}",
}


class NotesQuery(Query):
    """Whose notes."""

    level: Level
    owner_id: Text | None = Field(default=None, description="The guild's or agent's id; not for the organisation's level.")


class NoteSearch(Query):
    """What to find in notes."""

    query: Words = Field(description="Words to find in keys and text, as a web search takes them.")
    level: Level | None = None
    limit: Limit = Field(default=DEFAULT_PAGE, description="1 to 100.")


class NoteContent(Body):
    """The text of a note."""

    content: str


class NoteMove(Body):
    """Where a note goes."""

    path: str = Field(description="Its display path.")
    level: Level
    key: str = Field(description="Its new name, which ends in .md.")
    owner_id: str | None = Field(default=None, description="The guild's or agent's id; left out, the note stays with its owner.")


async def listed(call: Call, args: NotesQuery) -> Answer:
    """The notes of the organisation, a guild or an agent, side by side, without their text."""
    if args.level is not NoteLevel.ORG and args.owner_id is None and not call.caller.is_agent:
        level = args.level.lower()
        raise Unprocessable(f"owner_id is required at {level} level: the id of the {level} whose notes they are")
    rows = await notes.listed(call.db, call.caller, args.level, args.owner_id, content=False)
    return Answer({"notes": [shapes.note_entry(row) for row in rows]})


async def search(call: Call, args: NoteSearch) -> Answer:
    """The notes that match and that the caller reads, the best first."""
    rows = await note_search.find(call.db, call.caller, args.query, args.level, args.limit)
    return Answer({"notes": [shapes.note_hit(row) for row in rows]})


async def get(call: Call, _args: NoQuery) -> Answer:
    """The note at a display path; for operators also a previous version of a memory."""
    row = await notes.get(call.db, call.caller, call.path["path"])
    return Answer(shapes.note(row), row.version)


async def put(call: Call, args: NoteContent) -> Answer:
    """Create or replace the note at a display path."""
    path = _note_path(call.caller, call.path["path"])
    owner = None if call.caller.is_agent or path.level is NoteLevel.ORG else path.owner_id
    row = await notes.write(call.db, call.caller, path.level, path.key, args.content, owner, call.expected)
    return Answer(shapes.note(row), row.version)


async def delete(call: Call, _args: NoQuery) -> Answer:
    """Delete the note at a display path."""
    await notes.delete(call.db, call.caller, call.path["path"], expected_version=call.expected)
    return Answer()


async def move(call: Call, args: NoteMove) -> Answer:
    """Move a note to another key or owner."""
    row = await notes.move(call.db, call.caller, args.path, args.level, args.key, args.owner_id)
    return Answer(shapes.note(row), row.version, location=f"/api/notes/{row.display_path}")


def _note_path(caller: Caller, text: str) -> Path:
    """The path of a note that the caller may know of. Raises Unprocessable for another family, NotFound."""
    path = parse(text, caller.org_id)
    if path.family is not Family.NOTE:
        raise Unprocessable(f"{text[:500]} {_ELSEWHERE[path.family]}")
    # An agent that may write at a level but not read there is to be told of its write, and of nothing else.
    if not reads(caller, path.level, path.owner_id) and not writes(caller, path.level, path.owner_id):
        raise unknown(text)
    return path


_GROUP = "notes"
_ONE = "/api/notes/{path:path}"
ROUTES = (
    Route("GET", "/api/notes", listed, _GROUP, query=NotesQuery, answer=models.Notes),
    Route("GET", "/api/notes/search", search, _GROUP, query=NoteSearch, answer=models.NoteHits),
    Route("POST", "/api/notes/move", move, _GROUP, body=NoteMove, answer=models.Note, status=201, tag=Tag.VERSION),
    Route("GET", _ONE, get, _GROUP, answer=models.Note, tag=Tag.VERSION),
    Route("PUT", _ONE, put, _GROUP, body=NoteContent, answer=models.Note, tag=Tag.VERSION, guard=Guard.MATCH_OR_NEW),
    Route("DELETE", _ONE, delete, _GROUP, status=204, guard=Guard.MATCH),
)
