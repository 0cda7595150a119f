"""The tools for an agent's own files: its memory and its scripts."""

from models.caller import Caller
from models.errors import Unprocessable
from models.limits import KB, MEMORY_BYTES, SCRIPT_BYTES
from models.scripts import NAME_CHARACTERS
from server.mcp import answers
from server.mcp.answers import Answer
from server.mcp.arguments import TEXT
from server.mcp.tool import Tool
from store import memory, scripts
from store.database import Database

_PATH = TEXT.described("The script's display_path, as script_list returns it.")


def _agents_only(caller: Caller, tool: str, what: str) -> None:
    """Let agents pass. Raises Unprocessable for operators, whose calls would have to say which agent is meant."""
    if not caller.is_agent:
        raise Unprocessable(
            f"{tool} is for agents, each with its own {what}: it has no argument that says which agent is meant. "
            "An operator does this over GraphQL or REST, which take the agent's id"
        )


async def _write_memory(db: Database, caller: Caller, *, content: str) -> Answer:
    _agents_only(caller, "memory_write", "memory")
    return {"memory": answers.agent_file(await memory.write(db, caller, content), content=False)}


async def _list_scripts(db: Database, caller: Caller) -> Answer:
    _agents_only(caller, "script_list", "scripts")
    return {"scripts": [answers.agent_file(row, content=False) for row in await scripts.listed(db, caller, content=False)]}


async def _get_script(db: Database, caller: Caller, *, path: str) -> Answer:
    return {"script": answers.agent_file(await scripts.get(db, caller, path), content=True)}


async def _write_script(db: Database, caller: Caller, *, name: str, content: str) -> Answer:
    _agents_only(caller, "script_write", "scripts")
    return {"script": answers.agent_file(await scripts.write(db, caller, name, content), content=False)}


async def _delete_script(db: Database, caller: Caller, *, path: str) -> Answer:
    return {"removed": (await scripts.delete(db, caller, path)).display_path}


AGENT_TOOLS = (
    Tool(
        "memory_write",
        "Write memory",
        "Replace your memory: private free-form text that you are given at the start of each of your runs. Send the whole text, what you "
        f"want to keep included; the version before is archived. Limit: {MEMORY_BYTES // KB} KB; over it nothing is written: shorten the "
        "text, or move long parts to notes with note_write. Returns { memory } without its text.",
        {"content": TEXT.described(f"The whole memory, at most {MEMORY_BYTES // KB} KB of UTF-8.")},
        _write_memory,
        heading="memory rejected",
        idempotent=True,
    ),
    Tool(
        "script_list",
        "List scripts",
        "List your scripts by name: source that your runs carry into their sandbox. Returns { scripts }, each with display_path, name, "
        "version and times but without its text; read one with script_get.",
        {},
        _list_scripts,
        read_only=True,
    ),
    Tool(
        "script_get",
        "Read a script",
        "Read one of your scripts whole by its display_path. Returns { script } with content. NOT_FOUND: you have no such script; see "
        "script_list.",
        {"path": _PATH},
        _get_script,
        read_only=True,
    ),
    Tool(
        "script_write",
        "Write a script",
        "Create a script, or replace the whole text of the one with this name. Your next run finds it in its sandbox under scripts/. "
        f"Limit: {SCRIPT_BYTES // KB} KB. Returns {{ script }} without its text. UNPROCESSABLE and LIMIT_EXCEEDED list what to change; "
        "nothing was written.",
        {
            "name": TEXT.described(
                f"The file name, like report.py: letters, digits, '.', '_' and '-', at most {NAME_CHARACTERS} characters, without /."
            ),
            "content": TEXT.described(f"The whole source, at most {SCRIPT_BYTES // KB} KB of UTF-8."),
        },
        _write_script,
        heading="script rejected",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "script_delete",
        "Delete a script",
        "Delete one of your scripts by its display_path. Returns { removed }. NOT_FOUND: you have no such script; see script_list.",
        {"path": _PATH},
        _delete_script,
        destructive=True,
        idempotent=True,
    ),
)
