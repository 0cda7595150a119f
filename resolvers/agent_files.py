from typing import Any

from resolvers.context import Info
from resolvers.inputs import ID
from store import embeds, memory, scripts, state, tasks
from store.agent_files import AgentFileRow, TaskRow
from store.agents import AgentRow
from store.database import Row
from store.revisions import RevisionRow


async def task(root: AgentRow, info: Info) -> TaskRow:
    info.context.operator_or_agent(root.id, "task")
    return await info.context.load.task.load(root.id)


async def agent_memory(root: AgentRow, info: Info) -> AgentFileRow | None:
    info.context.operator_or_agent(root.id, "memory")
    return await info.context.load.memory.load(root.id)


async def agent_scripts(root: AgentRow, info: Info) -> list[AgentFileRow]:
    info.context.operator_or_agent(root.id, "scripts")
    return await info.context.load.scripts.load(root.id)


async def agent_state(root: AgentRow, info: Info) -> Any:
    info.context.operator_or_agent(root.id, "State")
    return await state.of_agent(info.context.db, info.context.caller, root.id)


async def rendered_task(root: TaskRow, info: Info) -> str:
    return await embeds.render(info.context.db, info.context.caller.org_id, root.content)


async def task_revisions(root: TaskRow, info: Info) -> list[RevisionRow]:
    info.context.operator("the list of a task's previous saves")
    return await info.context.load.task_revisions.load(root.agent_id)


async def memory_revisions(root: AgentFileRow, info: Info) -> list[RevisionRow]:
    info.context.operator("the memory archive")
    return await info.context.load.memory_revisions.load(root.agent_id)


async def embeddable(info: Info, query: str | None = None, limit: int | None = 20) -> list[Any]:
    return await embeds.embeddable(info.context.db, info.context.caller, query, 20 if limit is None else limit)


async def memory_revision(info: Info, path: str) -> RevisionRow:
    return await memory.archived(info.context.db, info.context.caller, path)


async def script(info: Info, path: str) -> AgentFileRow:
    return await scripts.get(info.context.db, info.context.caller, path)


async def task_save(info: Info, agent_id: ID, content: str, expected_version: int | None = None) -> TaskRow:
    return await tasks.save(info.context.db, info.context.caller, agent_id, content, expected_version=expected_version)


async def memory_write(info: Info, content: str, agent_id: ID | None = None, expected_version: int | None = None) -> AgentFileRow:
    return await memory.write(info.context.db, info.context.caller, content, agent_id=agent_id, expected_version=expected_version)


async def memory_restore(info: Info, path: str, expected_version: int | None = None) -> AgentFileRow:
    return await memory.restore(info.context.db, info.context.caller, path, expected_version=expected_version)


async def script_write(
    info: Info, name: str, content: str, agent_id: ID | None = None, expected_version: int | None = None
) -> AgentFileRow:
    return await scripts.write(info.context.db, info.context.caller, name, content, agent_id=agent_id, expected_version=expected_version)


async def script_delete(info: Info, path: str) -> Row:
    return await scripts.delete(info.context.db, info.context.caller, path)
