"""The routes of an agent's own files: task, memory, scripts and State."""

from pydantic import Field

from models.caller import Caller
from models.errors import NotFound
from models.paths import script_path
from server.rest import models, shapes
from server.rest.arguments import Body
from server.rest.route import Answer, Call, Guard, NoQuery, Route, Tag
from store import agent_files, agents, embeds, memory, scripts, state, tasks
from store.agent_files import TaskRow
from store.revisions import RevisionRow


class FileContent(Body):
    """The text of a file."""

    content: str


class MemoryRestore(Body):
    """Which previous version."""

    path: str = Field(description="Its display path: …/history-archive/<stamp>-<source>.md")


async def get_task(call: Call, _args: NoQuery) -> Answer:
    """An agent's standing task, as written and with its embeds inlined."""
    return await _task(call, await tasks.get(call.db, call.caller, call.path["id"]))


async def put_task(call: Call, args: FileContent) -> Answer:
    """Save an agent's task."""
    return await _task(call, await tasks.save(call.db, call.caller, call.path["id"], args.content, expected_version=call.expected))


async def task_revisions(call: Call, _args: NoQuery) -> Answer:
    """The latest 50 previous saves of an agent's task, newest first."""
    agent = call.path["id"]
    rows = (await tasks.revisions(call.db, call.caller, [agent])).get(agent)
    return await _revisions(call, agent, rows)


async def get_memory(call: Call, _args: NoQuery) -> Answer:
    """An agent's memory."""
    agent = call.path["id"]
    row = (await memory.of_agents(call.db, call.caller, [agent])).get(agent)
    if row is None:
        await _require(call, agent)
        raise NotFound("this agent has written no memory yet")
    return Answer(shapes.agent_file(row), row.version)


async def put_memory(call: Call, args: FileContent) -> Answer:
    """Replace an agent's memory; what it replaces is archived."""
    owner = _owner(call.caller, call.path["id"], "memory")
    row = await memory.write(call.db, call.caller, args.content, agent_id=owner, expected_version=call.expected)
    return Answer(shapes.agent_file(row), row.version)


async def memory_revisions(call: Call, _args: NoQuery) -> Answer:
    """The previous versions of an agent's memory, newest first."""
    agent = call.path["id"]
    rows = (await memory.revisions(call.db, call.caller, [agent])).get(agent)
    return await _revisions(call, agent, rows)


async def restore_memory(call: Call, args: MemoryRestore) -> Answer:
    """Make a previous version the present memory."""
    row = await memory.restore(call.db, call.caller, args.path, expected_version=call.expected)
    return Answer(shapes.agent_file(row), row.version, location=f"/api/agents/{row.agent_id}/memory")


async def list_scripts(call: Call, _args: NoQuery) -> Answer:
    """An agent's scripts by name, without their text."""
    owner = _owner(call.caller, call.path["id"], "scripts")
    rows = await scripts.listed(call.db, call.caller, owner, content=False)
    return Answer({"scripts": [shapes.script_entry(row) for row in rows]})


async def get_script(call: Call, _args: NoQuery) -> Answer:
    """One script."""
    row = await scripts.get(call.db, call.caller, _script(call))
    return Answer(shapes.script(row), row.version)


async def put_script(call: Call, args: FileContent) -> Answer:
    """Create or replace a script."""
    owner = _owner(call.caller, call.path["id"], "scripts")
    row = await scripts.write(call.db, call.caller, call.path["name"], args.content, agent_id=owner, expected_version=call.expected)
    return Answer(shapes.script(row), row.version)


async def delete_script(call: Call, _args: NoQuery) -> Answer:
    """Delete a script."""
    await scripts.delete(call.db, call.caller, _script(call), expected_version=call.expected)
    return Answer()


async def get_state(call: Call, _args: NoQuery) -> Answer:
    """An agent's State: what a new run is given."""
    return Answer(state.as_json(await state.of_agent(call.db, call.caller, call.path["id"])))


async def _task(call: Call, row: TaskRow) -> Answer:
    rendered = await embeds.render(call.db, call.caller.org_id, row.content)
    return Answer({**shapes.agent_file(row), "rendered": rendered}, row.version)


async def _revisions(call: Call, agent: str, rows: list[RevisionRow] | None) -> Answer:
    if not rows:
        await _require(call, agent)
    return Answer({"revisions": [shapes.revision(row) for row in rows or ()]})


async def _require(call: Call, agent: str) -> None:
    row = (await agents.by_ids(call.db, call.caller.org_id, [agent])).get(agent)
    if row is None or row.deleted_at is not None:
        raise agents.unknown(agent)


def _owner(caller: Caller, agent: str, what: str) -> str | None:
    """The agent as the operations take it: an agent names nobody, and reaches itself alone. Raises Forbidden."""
    agent_files.require_own(caller, [agent], what)
    return None if caller.is_agent else agent


def _script(call: Call) -> str:
    return script_path(call.caller.org_id, call.path["id"], call.path["name"])


_GROUP = "agents"
_TASK, _MEMORY, _SCRIPTS = (f"/api/agents/{{id}}/{name}" for name in ("task", "memory", "scripts"))
_SCRIPT = f"{_SCRIPTS}/{{name}}"
ROUTES = (
    Route("GET", _TASK, get_task, _GROUP, answer=models.Task, tag=Tag.CONTENT),
    Route("PUT", _TASK, put_task, _GROUP, body=FileContent, answer=models.Task, tag=Tag.CONTENT, guard=Guard.MATCH_OR_NEW),
    Route("GET", f"{_TASK}/revisions", task_revisions, _GROUP, answer=models.Revisions),
    Route("GET", _MEMORY, get_memory, _GROUP, answer=models.Memory, tag=Tag.VERSION),
    Route("PUT", _MEMORY, put_memory, _GROUP, body=FileContent, answer=models.Memory, tag=Tag.VERSION, guard=Guard.MATCH_OR_NEW),
    Route("GET", f"{_MEMORY}/revisions", memory_revisions, _GROUP, answer=models.Revisions),
    Route(
        "POST",
        "/api/memory/restore",
        restore_memory,
        _GROUP,
        body=MemoryRestore,
        answer=models.Memory,
        status=201,
        tag=Tag.VERSION,
        guard=Guard.MATCH,
    ),
    Route("GET", _SCRIPTS, list_scripts, _GROUP, answer=models.Scripts),
    Route("GET", _SCRIPT, get_script, _GROUP, answer=models.Script, tag=Tag.VERSION),
    Route("PUT", _SCRIPT, put_script, _GROUP, body=FileContent, answer=models.Script, tag=Tag.VERSION, guard=Guard.MATCH_OR_NEW),
    Route("DELETE", _SCRIPT, delete_script, _GROUP, status=204, guard=Guard.MATCH),
    Route("GET", "/api/agents/{id}/state", get_state, _GROUP, answer=models.State),
)
