"""The tools for notes."""

from models.caller import Caller
from models.errors import Unprocessable
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER, DEFAULT_PAGE, KB, KEY_BYTES, NOTE_BYTES, QUERY_CHARACTERS, QUERY_WORDS
from server.mcp import answers
from server.mcp.answers import Answer
from server.mcp.arguments import LEVEL, LIMIT, TEXT
from server.mcp.tool import Tool
from store import note_search, notes
from store.database import Database

_PATH = TEXT.described("The note's display_path, exactly as a tool returned it, like org/<org_id>/<note>.md.")
_OPERATORS_LEVEL = (
    "note_write has no argument that says whose note is meant: an agent writes its own or its guild's, and an operator writes notes of "
    "the organisation alone with it (level org). Write this one over GraphQL or REST, which take the owner"
)


async def _find(db: Database, caller: Caller, *, query: str, level: NoteLevel | None = None, limit: int = DEFAULT_PAGE) -> Answer:
    return {"notes": [answers.note_hit(row) for row in await note_search.find(db, caller, query, level, limit)]}


async def _get(db: Database, caller: Caller, *, path: str) -> Answer:
    return {"note": answers.note(await notes.get(db, caller, path), content=True)}


async def _write(db: Database, caller: Caller, *, level: NoteLevel, key: str, content: str) -> Answer:
    if not caller.is_agent and level is not NoteLevel.ORG:
        raise Unprocessable(_OPERATORS_LEVEL)
    return {"note": answers.note(await notes.write(db, caller, level, key, content), content=False)}


async def _delete(db: Database, caller: Caller, *, path: str) -> Answer:
    return {"removed": (await notes.delete(db, caller, path)).display_path}


NOTE_TOOLS = (
    Tool(
        "note_find",
        "Find notes",
        "Find Markdown notes by words in their text or file name: yours, your guild's and the organisation's, as far as you may read them. "
        "Best match first, each with its display_path and a snippet; read one whole with note_get. Words must all occur, OR widens, "
        '"quotes" keep a phrase, -word excludes; a single word also matches inside longer words. The search is exact, not fuzzy: if '
        "nothing is found, try another word or fewer words, not a larger limit. Returns { notes }. Records, memory and scripts are not "
        "notes: find records with record_search.",
        {
            "query": TEXT.described(f"The words to look for, at most {QUERY_CHARACTERS:,} characters and {QUERY_WORDS} words."),
            "level": LEVEL.optional().described("Only notes of this level; all levels if left out."),
            "limit": LIMIT,
        },
        _find,
        read_only=True,
    ),
    Tool(
        "note_get",
        "Read a note",
        "Read one note whole by its display_path. Returns { note } with content, version, when and by whom it was last written. "
        "NOT_FOUND means that there is no such note or that you may not read it: look for it with note_find. UNPROCESSABLE means that the "
        "path is no note's, and names the tool for it.",
        {"path": _PATH},
        _get,
        read_only=True,
    ),
    Tool(
        "note_write",
        "Write a note",
        "Create a note, or replace the whole text of the one with this level and key; to change a part, read it with note_get first and "
        "send everything. Use it for long-form knowledge in Markdown: structured data belongs in records (record_add), what only you need "
        f"in your next run in memory_write. Limits: {NOTE_BYTES // KB} KB a note, {ARTIFACTS_PER_OWNER:,} files an owner. Returns "
        "{ note } without its text. FORBIDDEN means that you may not write at this level: write at level agent, or ask the operator. "
        "UNPROCESSABLE and LIMIT_EXCEEDED list what to change; nothing was written.",
        {
            "level": LEVEL.described("Whose note it is: agent (yours alone), guild (your guild's) or org (the whole organisation's)."),
            "key": TEXT.described(
                f"The file name: one name ending in .md, without /, at most {KEY_BYTES} bytes. task.md and memory.md are reserved."
            ),
            "content": TEXT.described(f"The whole text, Markdown, at most {NOTE_BYTES // KB} KB of UTF-8."),
        },
        _write,
        heading="note rejected",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "note_delete",
        "Delete a note",
        "Delete one note by its display_path. Returns { removed }. CONFLICT means that a task embeds the note: leave it, or tell the "
        "operator. FORBIDDEN means that you may only read it. A record is removed with record_remove, a script with script_delete.",
        {"path": _PATH},
        _delete,
        destructive=True,
        idempotent=True,
    ),
)
