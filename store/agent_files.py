"""What an agent's task, memory and scripts have in common: whose they are, who may touch them, and how one is stored."""

from collections.abc import Iterable, Sequence

from models.caller import Caller
from models.clock import new_id, now
from models.errors import Forbidden, Problem, Unprocessable, VersionConflict
from models.kinds import ArtifactKind, FileKind, FileOperation, NoteLevel
from models.numbers import version_fault
from models.text import check, check_size, fault
from store import agents, capacity, changes
from store.changes import Change
from store.database import Reader, Row, Writer

DISPLAY_PATH = """'org/' || a.org_id || '/agents/' || a.owner_id || CASE a.kind WHEN 'SCRIPT' THEN '/scripts/' ELSE '/' END || a.key"""
_FACTS = f"""a.id, a.id AS file_id, a.owner_id AS agent_id, {DISPLAY_PATH} AS display_path, a.key AS name,
    {{content}} AS content, a.version, a.created_at, a.created_by_kind, a.created_by_id, a.created_by_name,
    a.updated_at, a.updated_by_kind, a.updated_by_id, a.updated_by_name"""
# A memory or a script, from artifacts AS a; the second is for lists whose reader does not ask for the text.
COLUMNS = _FACTS.format(content="a.content")
COLUMNS_WITHOUT_CONTENT = _FACTS.format(content="NULL::text")

# Live files of one kind; $1 organisation, $2 kind.
LIVE = "a.org_id = $1 AND a.kind = $2 AND a.kind <> 'OBJECT' AND a.deleted_at IS NULL"
_ONE = f"SELECT {COLUMNS} FROM artifacts a WHERE {LIVE} AND a.owner_id = $3 AND a.key = $4"

_NAME = "SELECT name FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL"
_LOCK = f"{_NAME} FOR NO KEY UPDATE"
_CREATE = f"""INSERT INTO artifacts AS a (org_id, id, kind, level, owner_id, key, content, version,
        created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
    VALUES ($1, $2, $3, 'AGENT', $4, $5, $6, $7, $8, $9, $10, $11, $8, $9, $10, $11) RETURNING {COLUMNS}"""
_REPLACE = f"""UPDATE artifacts a SET content = $3, version = version + 1,
        updated_at = $4, updated_by_kind = $5, updated_by_id = $6, updated_by_name = $7
    WHERE org_id = $1 AND id = $2 RETURNING {COLUMNS}"""


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
    """The name of a living agent. Raises NotFound."""
    found: str | None = await reader.value(_NAME, org_id, agent_id)
    if found is None:
        raise agents.unknown(agent_id)
    return found


async def lock(writer: Writer, org_id: str, agent_id: str) -> None:
    """Lock a living agent until the transaction ends, so that the writers of its files wait for each other. Raises NotFound."""
    if await writer.value(_LOCK, org_id, agent_id) is None:
        raise agents.unknown(agent_id)


async def one(reader: Reader, org_id: str, kind: ArtifactKind, agent_id: str, key: str) -> Row | None:
    """The live memory or script of an agent."""
    return await reader.row(_ONE, org_id, kind, agent_id, key)


def already_there(path: str, current: Row | None, content: str, expected_version: int | None) -> bool:
    """Whether a write is answered by what is stored, since it came with a stale version and asks for nothing else.

    Raises VersionConflict where a stale version came with something else.
    """
    version = current.version if current else 0
    if expected_version is None or expected_version == version:
        return False
    if current and current.content == content:
        return True
    raise VersionConflict(path, expected=expected_version, current=version)


async def create(writer: Writer, caller: Caller, kind: ArtifactKind, agent_id: str, *, key: str, content: str, version: int) -> Row:
    """A new memory or script of an agent that is locked, and its change. Raises LimitExceeded where the agent has no room."""
    await capacity.claim(writer, caller.org_id, agent_id)
    who = (caller.kind, caller.id, caller.name)
    saved = await writer.row(_CREATE, caller.org_id, new_id(), kind, agent_id, key, content, version, now(), *who)
    return await _told(writer, caller, kind, saved, FileOperation.CREATE)


async def replace(
    writer: Writer, caller: Caller, kind: ArtifactKind, current: Row, content: str, operation: FileOperation = FileOperation.UPDATE
) -> Row:
    """The memory or script of a locked agent with new text, and its change."""
    saved = await writer.row(_REPLACE, caller.org_id, current.id, content, now(), caller.kind, caller.id, caller.name)
    return await _told(writer, caller, kind, saved, operation)


async def _told(writer: Writer, caller: Caller, kind: ArtifactKind, saved: Row | None, operation: FileOperation) -> Row:
    if saved is None:
        raise RuntimeError("a file vanished while its agent was locked")
    await record(writer, caller, FileKind(kind), operation, saved)
    return saved


async def record(writer: Writer, caller: Caller, kind: FileKind, operation: FileOperation, file: Row) -> Row:
    """The change that says what became of an agent's file, as its row now is."""
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
