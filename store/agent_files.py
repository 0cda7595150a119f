"""What an agent's task, memory and scripts have in common: whose they are, who may touch them, and how one is stored."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlmodel import col

from models.caller import Caller
from models.clock import new_id, now
from models.errors import Forbidden, Problem, Unprocessable, VersionConflict
from models.kinds import ArtifactKind, FileKind, FileOperation, NoteLevel
from models.numbers import version_fault
from models.tables import Agent, Artifact
from models.text import check, check_size, fault
from store import agents, capacity, changes, saver
from store.changes import Change
from store.database import Reader, Row, Writer
from store.display_paths import artifact_path
from store.saver import SavedShape, UpdatedShape
from store.sql import TEXTS, Shape, arg, columns, query


class AgentFileRow(SavedShape):
    """A memory or a script; `name` is its key, and `content` is None in a list that leaves the text out."""

    id: str
    file_id: str
    agent_id: str
    display_path: str
    name: str
    content: str | None
    version: int


class TaskRow(UpdatedShape):
    """An agent's task; version 0 stands for one that was never saved. `id` is the agent's."""

    id: str
    file_id: str
    agent_id: str
    display_path: str
    content: str
    version: int


class _NameRow(Shape):
    name: str


_HEAD = (
    *(col(Artifact.id), col(Artifact.id).label("file_id"), col(Artifact.owner_id).label("agent_id")),
    *(artifact_path(Artifact).label("display_path"), col(Artifact.key).label("name")),
    *(col(Artifact.version), *columns(Artifact, SavedShape)),
)
COLUMNS = (*_HEAD, col(Artifact.content))
COLUMNS_WITHOUT_CONTENT = (*_HEAD, sa.null().cast(sa.Text).label("content"))

IN_ORG = col(Artifact.org_id) == arg("org_id")
LIVE = (IN_ORG, col(Artifact.kind) == arg("kind"), col(Artifact.kind) != ArtifactKind.OBJECT, col(Artifact.deleted_at).is_(None))
OF_AGENTS = col(Artifact.owner_id) == sa.func.any(arg("agents", TEXTS))
_ONE = query(AgentFileRow, sa.select(*COLUMNS).where(*LIVE, col(Artifact.owner_id) == arg("agent_id"), col(Artifact.key) == arg("key")))

_NAMED = sa.select(col(Agent.name)).where(
    col(Agent.org_id) == arg("org_id"), col(Agent.id) == arg("agent_id"), col(Agent.deleted_at).is_(None)
)
_NAME = query(_NameRow, _NAMED)
_LOCK = query(_NameRow, _NAMED.with_for_update(key_share=True))
_CREATE = query(
    AgentFileRow,
    sa.insert(Artifact)
    .values(
        org_id=arg("org_id"),
        id=arg("id"),
        kind=arg("kind"),
        level=NoteLevel.AGENT,
        owner_id=arg("agent_id"),
        key=arg("key"),
        content=arg("content"),
        version=arg("version"),
        **saver.CREATED,
    )
    .returning(*COLUMNS),
)
_REPLACE = query(
    AgentFileRow,
    sa.update(Artifact)
    .where(IN_ORG, col(Artifact.id) == arg("id"))
    .values(content=arg("content"), version=col(Artifact.version) + 1, **saver.UPDATED)
    .returning(*COLUMNS),
)


def owner_of(caller: Caller, agent_id: str | None, what: str) -> str:
    """The id of the agent whose file a request means. Raises Unprocessable where an agent names one or an operator does not."""
    check(agentId=agent_id)
    if caller.is_agent:
        if agent_id is not None:
            raise Unprocessable(f"agentId is for operators; an agent's {what} is its own")
        return caller.id
    if not agent_id:
        raise Unprocessable(f"agentId is required: the id of the agent whose {what} it is")
    return agent_id


def require_own(caller: Caller, agent_ids: Iterable[str], what: str) -> None:
    """Let operators pass, and an agent that asks for itself alone. Raises Forbidden."""
    if caller.is_agent and set(agent_ids) - {caller.id}:
        raise Forbidden(f"another agent's {what} is for operators")


def storable(ids: Sequence[str]) -> list[str]:
    """Those of the ids that any row could have."""
    return [item for item in ids if fault(item) is None]


def check_request(what: str, content: str, limit: int, expected_version: int | None, problems: Sequence[Problem] = ()) -> None:
    """Refuse a write by its arguments. Raises Unprocessable with every problem, `problems` first, and LimitExceeded over `limit` bytes."""
    found = list(problems)
    if reason := fault(content):
        found.append(Problem("content", reason))
    if reason := version_fault(expected_version):
        found.append(Problem("expectedVersion", reason))
    if found:
        raise Unprocessable.listing(f"{what} rejected", found)
    check_size(f"this {what}", content, limit)


async def name_of(reader: Reader, org_id: str, agent_id: str) -> str:
    """Return the name of a live agent. Raises NotFound."""
    found: str | None = await reader.value(_NAME, org_id=org_id, agent_id=agent_id)
    if found is None:
        raise agents.unknown(agent_id)
    return found


async def lock(writer: Writer, org_id: str, agent_id: str) -> None:
    """Lock a live agent until the transaction ends, so that writers of its files wait for each other. Raises NotFound."""
    if await writer.value(_LOCK, org_id=org_id, agent_id=agent_id) is None:
        raise agents.unknown(agent_id)


async def one(reader: Reader, org_id: str, kind: ArtifactKind, agent_id: str, key: str) -> AgentFileRow | None:
    """Return the live memory or script of an agent, or None."""
    return await reader.row(_ONE, org_id=org_id, kind=kind, agent_id=agent_id, key=key)


def already_there(path: str, current: AgentFileRow | TaskRow | None, content: str, expected_version: int | None) -> bool:
    """Whether a write is answered by what is stored, since it came with a stale version and asks for nothing else.

    Raises VersionConflict where a stale version came with something else.
    """
    version = current.version if current else 0
    if expected_version is None or expected_version == version:
        return False
    if current and current.content == content:
        return True
    raise VersionConflict(path, expected=expected_version, current=version)


async def create(
    writer: Writer, caller: Caller, kind: ArtifactKind, agent_id: str, *, key: str, content: str, version: int
) -> AgentFileRow:
    """Create a memory or script of a locked agent, with its change. Raises LimitExceeded if the agent has no room."""
    await capacity.claim(writer, caller.org_id, agent_id)
    what = {"id": new_id(), "kind": kind, "agent_id": agent_id, "key": key, "content": content, "version": version}
    saved = await writer.one(_CREATE, org_id=caller.org_id, **what, **saver.arguments(caller, now()))
    await record(writer, caller, FileKind(kind), FileOperation.CREATE, saved)
    return saved


async def replace(
    writer: Writer, caller: Caller, kind: ArtifactKind, current: AgentFileRow, content: str, operation: FileOperation = FileOperation.UPDATE
) -> AgentFileRow:
    """Replace the text of a memory or script of a locked agent, with its change."""
    saved = await writer.one(_REPLACE, org_id=caller.org_id, id=current.id, content=content, **saver.arguments(caller, now()))
    await record(writer, caller, FileKind(kind), operation, saved)
    return saved


async def record(writer: Writer, caller: Caller, kind: FileKind, operation: FileOperation, file: AgentFileRow | TaskRow) -> Row:
    """Record the change that says what became of an agent's file."""
    change = Change(
        kind=kind,
        operation=operation,
        file_id=file.file_id,
        path=file.display_path,
        version=file.version,
        at=file.updated_at,
        level=NoteLevel.AGENT,
        owner_id=file.agent_id,
    )
    return await changes.record(writer, caller, change)
