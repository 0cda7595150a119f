"""The four doors, each taking the same operation and arguments, each giving an answer in one shape or a refusal."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx

from models.caller import Caller
from models.errors import MunimentError
from models.kinds import AccessMode, NoteLevel, SubjectType
from store import collections, grants, memory, note_search, notes, record_list, record_search, records, scripts, state, tasks
from store.database import Database
from tests.conformance.case import Call
from tests.conformance.graphql_documents import DOCUMENTS
from tests.conformance.ground import Ground
from tests.conformance.shapes import plain, snake

AGENT_TOOLS = frozenset({
    "note_find", "note_get", "note_write", "note_delete", "record_search", "record_list", "record_add", "record_update", "record_remove",
    "memory_write", "script_list", "script_get", "script_write", "script_delete",
})  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """What a door said no with."""

    code: str
    status: int
    message: str
    problems: list[dict[str, Any]]


Outcome = dict[str, Any] | Refusal


class Door:
    """One way in."""

    name = ""

    def __init__(self, db: Database, client: httpx.AsyncClient) -> None:
        self.db = db
        self.client = client

    def offers(self, _operation: str) -> bool:
        """Whether the door has this operation."""
        return True

    async def call(self, ground: Ground, call: Call) -> Outcome:
        """What comes of a call."""
        raise NotImplementedError


class Operations(Door):
    """The store itself."""

    name = "operations"

    async def call(self, ground: Ground, call: Call) -> Outcome:
        """What the operation answers, in the shape of the other doors."""
        try:
            found = plain(await OPERATIONS[call.operation](self.db, ground.caller(call.caller), ground.fill(call.arguments)))
            return found if isinstance(found, dict) else {"value": found}
        except MunimentError as error:
            return Refusal(error.code, error.status, error.message, [problem.as_json() for problem in error.problems])


class GraphQL(Door):
    """POST /graphql."""

    name = "graphql"

    def offers(self, operation: str) -> bool:
        """The script list is a field of the agent there, not an operation."""
        return operation in DOCUMENTS

    async def call(self, ground: Ground, call: Call) -> Outcome:
        """What the field answers, its names in snake_case."""
        document, variables = DOCUMENTS[call.operation]
        body = {"query": document, "variables": variables(ground.fill(call.arguments))}
        response = await self.client.post("/graphql", content=_json(body), headers=_headers(ground, call))
        answer = response.json()
        if errors := answer.get("errors"):
            told = errors[0]["extensions"]
            assert told["message"] == errors[0]["message"]
            return Refusal(told["code"], told["status"], told["message"], told["problems"])
        [value] = answer["data"].values()
        found = snake(value)
        if not isinstance(found, dict):
            return {"value": found}
        state_: dict[str, Any] | None = found.get("state")
        return found if state_ is None else state_


class Rest(Door):
    """/api."""

    name = "rest"

    async def call(self, ground: Ground, call: Call) -> Outcome:
        """What the route answers."""
        arguments = ground.fill(call.arguments)
        method, path, query, body, extra = REST[call.operation](ground, call.caller, arguments)
        response = await self.client.request(
            method, path, params=query, content=None if body is None else _json(body), headers={**_headers(ground, call), **extra}
        )
        if response.status_code >= 400:  # where refusals begin
            told = response.json()
            assert told["status"] == response.status_code
            return Refusal(told["code"], told["status"], told["message"], told["problems"])
        return response.json() if response.content else {}


class Mcp(Door):
    """/mcp."""

    name = "mcp"

    def offers(self, operation: str) -> bool:
        """Only what is an agent's."""
        return operation in AGENT_TOOLS

    async def call(self, ground: Ground, call: Call) -> Outcome:
        """What the tool answers."""
        arguments = ground.fill(call.arguments)
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": call.operation, "arguments": arguments}}
        headers = {**_headers(ground, call), "Accept": "application/json, text/event-stream"}
        response = await self.client.post("/mcp", content=_json(request), headers=headers)
        assert response.status_code == 200, response.text
        result = response.json()["result"]
        told: dict[str, Any] = result["structuredContent"]
        if not result.get("isError"):
            # A file comes as {note: …}, {memory: …} or {script: …}; other doors give it as it is.
            return next((told[key] for key in ("note", "memory", "script") if isinstance(told.get(key), dict)), told)
        assert result["content"][0]["text"] == told["message"]
        return Refusal(told["code"], told["status"], told["message"], told["problems"])


DOORS: tuple[type[Door], ...] = (Operations, GraphQL, Rest, Mcp)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _headers(ground: Ground, call: Call) -> dict[str, str]:
    return {"Authorization": f"Bearer {ground.tokens[call.caller]}", "Content-Type": "application/json"}


def _level(arguments: dict[str, Any]) -> NoteLevel | None:
    return NoteLevel(arguments["level"].upper()) if arguments.get("level") else None


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


async def _note_find(db: Database, caller: Caller, a: dict[str, Any]) -> Any:
    return {"notes": await note_search.find(db, caller, a["query"], _level(a), a.get("limit", 20))}


async def _record_list(db: Database, caller: Caller, a: dict[str, Any]) -> Any:
    return await record_list.list_records(db, caller, **{**a, "since": _moment(a.get("since"))})


async def _grant_set(db: Database, caller: Caller, a: dict[str, Any]) -> Any:
    mode = AccessMode(a["mode"].upper()) if a["mode"] else None
    kind, subject = SubjectType(a["subject_type"].upper()), a["subject_id"]
    return await grants.set_grant(db, caller, collection_id=a["collection_id"], subject_type=kind, subject_id=subject, mode=mode)


async def _state(db: Database, caller: Caller, a: dict[str, Any]) -> Any:
    return state.as_json(await state.of_agent(db, caller, a["agent_id"]))


async def _script_list(db: Database, caller: Caller, a: dict[str, Any]) -> Any:
    return {"scripts": await scripts.listed(db, caller, a.get("agent_id"))}


Operation = Callable[[Database, Caller, dict[str, Any]], Awaitable[Any]]
OPERATIONS: dict[str, Operation] = {
    "note_find": _note_find,
    "note_get": lambda db, c, a: notes.get(db, c, a["path"]),
    "note_write": lambda db, c, a: notes.write(
        db, c, NoteLevel(a["level"].upper()), a["key"], a["content"], a.get("owner_id"), a.get("expected_version")
    ),
    "note_delete": lambda db, c, a: notes.delete(db, c, a["path"]),
    "note_move": lambda db, c, a: notes.move(db, c, a["path"], NoteLevel(a["level"].upper()), a["key"], a.get("owner_id")),
    "record_search": lambda db, c, a: _records(record_search.search(db, c, **a)),
    "record_list": _record_list,
    "record_add": lambda db, c, a: records.add(db, c, a["collection"], a["body"], idempotency_key=a.get("idempotency_key")),
    "record_update": lambda db, c, a: records.update(
        db, c, a["collection"], a["id"], a["body"], expected_version=a.get("expected_version")
    ),
    "record_remove": lambda db, c, a: _removed(records.remove(db, c, a["collection"], a["id"])),
    "memory_write": lambda db, c, a: memory.write(
        db, c, a["content"], agent_id=a.get("agent_id"), expected_version=a.get("expected_version")
    ),
    "script_list": _script_list,
    "script_get": lambda db, c, a: scripts.get(db, c, a["path"]),
    "script_write": lambda db, c, a: scripts.write(db, c, a["name"], a["content"], agent_id=a.get("agent_id")),
    "script_delete": lambda db, c, a: scripts.delete(db, c, a["path"]),
    "task_save": lambda db, c, a: tasks.save(db, c, a["agent_id"], a["content"], expected_version=a.get("expected_version")),
    "collection_create": lambda db, c, a: collections.create(db, c, **a),
    "collection_update": lambda db, c, a: collections.update(db, c, a["id"], **{k: v for k, v in a.items() if k != "id"}),
    "collection_delete": lambda db, c, a: collections.delete(db, c, a["id"]),
    "collection_clear": lambda db, c, a: collections.clear(db, c, a["id"]),
    "grant_set": _grant_set,
    "state": _state,
}


async def _records(found: Awaitable[Any]) -> dict[str, Any]:
    return {"records": await found}


async def _removed(done: Awaitable[str]) -> dict[str, Any]:
    return {"removed": await done}


Request = tuple[str, str, dict[str, Any] | None, dict[str, Any] | None, dict[str, str]]
RestRequest = Callable[[Ground, str, dict[str, Any]], Request]


def _table(ground: Ground, name: str) -> str:
    """REST names tables by id; a name of no table stays what it is."""
    return f"/api/collections/{quote(ground.names.get(name, name), safe='')}"


def _owner(ground: Ground, caller: str, arguments: dict[str, Any]) -> str:
    return quote(str(arguments.get("agent_id") or ground.names.get(caller) or ground.caller(caller).id))


def _match(arguments: dict[str, Any]) -> dict[str, str]:
    version = arguments.get("expected_version")
    if version is None:
        return {}
    return {"If-None-Match": "*"} if version == 0 else {"If-Match": f'"{version}"'}


def _note_place(ground: Ground, caller: str, a: dict[str, Any]) -> str:
    who, level = ground.caller(caller), a["level"].lower()
    owner = a.get("owner_id") or (who.guild_id if level == "guild" else who.id)
    prefix = {"org": "", "guild": f"guilds/{owner}/", "agent": f"agents/{owner}/"}[level]
    return "/api/notes/" + quote(f"org/{who.org_id}/{prefix}{a['key']}")


def _listing(ground: Ground, _caller: str, a: dict[str, Any]) -> Request:
    query = {key: json.dumps(a[key]) for key in ("where", "order") if key in a}
    query |= {key: str(a[key]) for key in ("since", "limit", "offset", "query") if key in a}
    return "GET", f"{_table(ground, a['collection'])}/records", query, None, {}


def _grant(_ground: Ground, _caller: str, a: dict[str, Any]) -> Request:
    place = f"/api/{a['subject_type'].lower()}s/{quote(a['subject_id'])}/collection-access"
    return "PUT", place, None, {"collection_id": a["collection_id"], "mode": a["mode"]}, {}


def _add(g: Ground, _caller: str, a: dict[str, Any]) -> Request:
    key = {"Idempotency-Key": a["idempotency_key"]} if "idempotency_key" in a else {}
    return "POST", f"{_table(g, a['collection'])}/records", None, {"body": a["body"]}, key


REST: dict[str, RestRequest] = {
    "note_find": lambda _g, _c, a: ("GET", "/api/notes/search", {k: str(v) for k, v in a.items()}, None, {}),
    "note_get": lambda _g, _c, a: ("GET", f"/api/notes/{quote(a['path'])}", None, None, {}),
    "note_write": lambda g, c, a: ("PUT", _note_place(g, c, a), None, {"content": a["content"]}, _match(a)),
    "note_delete": lambda _g, _c, a: ("DELETE", f"/api/notes/{quote(a['path'])}", None, None, {}),
    "note_move": lambda _g, _c, a: ("POST", "/api/notes/move", None, a, {}),
    "record_search": _listing,
    "record_list": _listing,
    "record_add": _add,
    "record_update": lambda g, _c, a: (
        "PATCH",
        f"{_table(g, a['collection'])}/records/{quote(str(a['id']))}",
        None,
        {"body": a["body"]},
        _match(a),
    ),
    "record_remove": lambda g, _c, a: ("DELETE", f"{_table(g, a['collection'])}/records/{quote(str(a['id']))}", None, None, {}),
    "memory_write": lambda g, c, a: ("PUT", f"/api/agents/{_owner(g, c, a)}/memory", None, {"content": a["content"]}, _match(a)),
    "script_list": lambda g, c, a: ("GET", f"/api/agents/{_owner(g, c, a)}/scripts", None, None, {}),
    "script_get": lambda _g, _c, a: ("GET", _script_place(a["path"]), None, None, {}),
    "script_write": lambda g, c, a: (
        "PUT",
        f"/api/agents/{_owner(g, c, a)}/scripts/{quote(a['name'], safe='')}",
        None,
        {"content": a["content"]},
        {},
    ),
    "script_delete": lambda _g, _c, a: ("DELETE", _script_place(a["path"]), None, None, {}),
    "task_save": lambda _g, _c, a: ("PUT", f"/api/agents/{quote(a['agent_id'])}/task", None, {"content": a["content"]}, _match(a)),
    "collection_create": lambda _g, _c, a: ("POST", "/api/collections", None, a, {}),
    "collection_update": lambda g, _c, a: ("PATCH", _table(g, a["id"]), None, {k: v for k, v in a.items() if k != "id"}, {}),
    "collection_delete": lambda g, _c, a: ("DELETE", _table(g, a["id"]), None, None, {}),
    "collection_clear": lambda g, _c, a: ("DELETE", f"{_table(g, a['id'])}/records", None, None, {}),
    "grant_set": _grant,
    "state": lambda _g, _c, a: ("GET", f"/api/agents/{quote(a['agent_id'])}/state", None, None, {}),
}


def _script_place(path: str) -> str:
    _, _, _, agent, _, name = path.split("/", 5)
    return f"/api/agents/{quote(agent)}/scripts/{quote(name, safe='')}"
