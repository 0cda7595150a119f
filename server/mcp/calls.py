"""Carrying out one call of a tool: who calls, within which run, what the tool answers or why it refuses."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from models.caller import Caller
from models.errors import MunimentError, NotFound, Problem, Unprocessable
from models.json_text import shown, to_json
from models.text import printable
from server import logs
from server.errors import refusal
from server.mcp.answers import Answer
from server.mcp.tools import TOOLS
from store import callers
from store.database import Database
from store.usage import end_by

# How a request's `_meta` names what headers name; compared without case.
_META_NAMES = {
    "x-run-id": "x-run-id",
    "run_id": "x-run-id",
    "x-tool-call-id": "x-tool-call-id",
    "tool_call_id": "x-tool-call-id",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A call as it came: the tool's name, its arguments, the request's `_meta`, and the headers of the transport, if it has any."""

    tool: str
    arguments: Mapping[str, Any]
    meta: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def counted(self) -> str | None:
        """The tool's name if there is such a tool: what clients make up is counted nowhere."""
        return self.tool if self.tool in TOOLS else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer with its text, or a refusal with its message; `code` is the refusal's, `caller` who called, if that was found out."""

    value: Answer
    text: str
    code: str | None = None
    caller: Caller | None = None


class Calls:
    """Carries out calls on one database, each within `timeout` seconds. `who` says who calls; it raises Unauthenticated."""

    def __init__(self, db: Database, timeout: float) -> None:
        self._db = db
        self._timeout = timeout

    async def outcome(self, request: Request, who: Callable[[], Awaitable[Caller]]) -> Outcome:
        """What came of the call. Never raises: what is not the caller's business is logged, and masked."""
        caller: Caller | None = None
        try:
            async with asyncio.timeout(self._timeout) as deadline:
                end_by(deadline)
                caller = await _within(self._db, await who(), request)
                value = await _tool(request.tool).answer(self._db, caller, request.arguments)
            return Outcome(value, to_json(value), caller=caller)
        except Exception as error:  # noqa: BLE001  # every refusal gets the shape of the door
            return _refused(refusal(error, logs.internal_error, request.counted), caller)


def _tool(name: str) -> Any:
    if name not in TOOLS:
        raise NotFound(f"there is no tool {shown(name)}; there are {', '.join(TOOLS)}")
    return TOOLS[name]


async def _within(db: Database, caller: Caller, request: Request) -> Caller:
    """The caller within the run and tool call that `_meta`, or else a header, names; the tool's name is the tool's own."""
    named = {name: value for name in ("x-run-id", "x-tool-call-id") if (value := request.headers.get(name)) is not None}
    # The call's own words win over those of the connection that it came by.
    named |= _from_meta(request.meta)
    return await callers.in_call(db, caller, run_id=named.get("x-run-id"), tool_call_id=named.get("x-tool-call-id"), tool_name=request.tool)


def _from_meta(meta: Mapping[str, Any]) -> dict[str, str]:
    given = {key: value for key, value in meta.items() if key.lower() in _META_NAMES and value is not None}
    if wrong := [Problem(None, f"_meta {key} must be a text; got {shown(value)}") for key, value in given.items() if not _is_text(value)]:
        raise Unprocessable.listing("request rejected", wrong)
    return {_META_NAMES[key.lower()]: value for key, value in given.items()}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _refused(error: MunimentError, caller: Caller | None) -> Outcome:
    """A refusal; what it quotes may hold what no JSON text can."""
    value = error.as_json() | {"message": printable(error.message)}
    value["problems"] = [{key: text and printable(text) for key, text in problem.items()} for problem in value["problems"]]
    return Outcome(value, value["message"], error.code, caller)
