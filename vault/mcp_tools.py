"""The tools of the MCP door: their arguments, how they are checked, and what they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types

from vault.api import Vault
from vault.arguments import describe
from vault.errors import InvalidArguments, RecordNotFound
from vault.kinds import KINDS, STATUSES
from vault.place import Place
from vault.salience import VERDICTS

_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "object": Mapping, "boolean": bool, "integer": int, "array": list}
_ARTICLES = {"string": "a text", "object": "an object", "boolean": "true or false", "integer": "a whole number", "array": "a list of texts"}


@dataclass(frozen=True, slots=True)
class Call:
    """One checked call."""

    tool: str
    arguments: Mapping[str, Any]

    def text(self, name: str) -> str | None:
        """Return a text argument, None without one."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        """Return a true-or-false argument, false without one."""
        return self.arguments.get(name) is True

    def texts(self, name: str) -> list[str]:
        """Return a list argument, empty without one."""
        return list(self.arguments.get(name) or ())


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: arguments by name with JSON type and meaning, and what runs."""

    name: str
    description: str
    arguments: Mapping[str, tuple[str, str]]
    run: Callable[[Vault, Place, Call], dict[str, Any]]
    required: tuple[str, ...] = ()
    enums: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_only: bool = False
    destructive: bool = False

    def described(self) -> types.Tool:
        """Return the tool as clients list it."""
        properties = {name: self._schema(name, kind, text) for name, (kind, text) in self.arguments.items()}
        schema = {"type": "object", "properties": properties, "required": list(self.required), "additionalProperties": False}
        hints = types.ToolAnnotations(read_only_hint=self.read_only, destructive_hint=self.destructive, open_world_hint=False)
        return types.Tool(name=self.name, description=self.description, input_schema=schema, annotations=hints)

    def _schema(self, name: str, kind: str, text: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": kind, "description": text}
        if kind == "array":
            schema["items"] = {"type": "string"}
        if name in self.enums:
            schema["enum"] = list(self.enums[name])
        return schema

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return everything that is wrong with names and types; values are never repeated."""
        found = [f"{name} is required" for name in self.required if arguments.get(name) is None]
        unknown = sum(name not in self.arguments for name in arguments)
        if unknown:
            found.append(f"{unknown} unknown argument{'s' if unknown > 1 else ''}; {self.name} takes {', '.join(self.arguments)}")
        for name, (kind, _) in self.arguments.items():
            if arguments.get(name) is not None and not _fits(arguments[name], kind):
                found.append(f"{name} must be {_ARTICLES[kind]}")
        return found


def _fits(value: Any, kind: str) -> bool:
    if kind == "array":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, _TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))


def check(name: str, arguments: Mapping[str, Any]) -> Call:
    """Return the checked call. Raises InvalidArguments listing every problem."""
    tool = TOOLS.get(name)
    if tool is None:
        raise InvalidArguments(f"there is no such tool; there are {', '.join(TOOLS)}")
    problems = tool.problems(arguments)
    if problems:
        raise InvalidArguments(problems)
    return Call(name, arguments)


def run(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    """Return the tool's answer. Raises VaultError."""
    return TOOLS[call.tool].run(vault, place, call)


# ---------------------------------------------------------------------- what the tools do


def _upsert(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    body, kind = call.text("body") or "", call.text("kind") or ""
    given = call.arguments.get("frontmatter")
    return vault.upsert(
        place.project, kind, body, slug=call.text("slug"), frontmatter=given, path=call.text("path"), repo=place.repo
    ).to_dict()


def _get(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    wanted = call.text("id"), call.text("kind"), call.text("slug")
    record = vault.get(place.project, wanted[0], kind=wanted[1], slug=wanted[2], session_id=call.text("sessionId"), siblings=place.guessed)
    if record is None:
        raise RecordNotFound(f"Record not found: {describe(*wanted)} in project {place.project}")
    return {"record": record.to_dict()}


def _append(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    event, kind = call.text("event") or "", call.text("kind") or "log"
    return {"record": vault.append(place.project, event, kind=kind, details=call.arguments.get("details"), repo=place.repo).to_dict()}


def _forget(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    return vault.forget(place.project, call.text("id"), kind=call.text("kind"), slug=call.text("slug"), purge=call.flag("purge")).to_dict()


def _feedback(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    verdict = call.text("verdict") or ""
    return {"record": vault.feedback(place.project, verdict, call.text("id"), kind=call.text("kind"), slug=call.text("slug")).to_dict()}


def _search(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    hits = vault.search(
        call.text("query") or "",
        place.project,
        kinds=call.texts("kinds"),
        statuses=[status] if (status := call.text("status")) else (),
        tags=call.texts("tags"),
        path=call.text("path"),
        include_scratch=call.flag("includeScratch"),
        include_expired=call.flag("includeExpired"),
        as_of=call.text("asOf"),
        cross_project=call.flag("crossProject"),
        limit=20 if (limit := call.arguments.get("limit")) is None else limit,
    )
    return {"hits": [hit.to_dict() for hit in hits]}


def _list(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    records = vault.list_records(
        place.project,
        kind=call.text("kind"),
        status=call.text("status"),
        tags=call.texts("tags"),
        include_expired=call.flag("includeExpired"),
        limit=call.arguments.get("limit"),
    )
    return {"records": [record.to_dict() for record in records]}


def _gc(vault: Vault, place: Place, call: Call) -> dict[str, Any]:
    collected = vault.gc(place.project, purge=call.flag("purge"), dry_run=call.flag("dryRun"))
    return {"collected": [entry.to_dict() for entry in collected], "dryRun": call.flag("dryRun")}


_PLACE = {
    "cwd": ("string", "The folder that the work is in; the project is found from it."),
    "projectId": ("string", "The project, if it is not the folder's."),
    "vaultRoot": ("string", "Another vault's folder, of those that the server was started with."),
}
_WHICH = {
    "id": ("string", "The record's id."),
    "kind": ("string", "The record's kind, together with slug."),
    "slug": ("string", "The record's file name without .md, together with kind."),
}
_KIND = {"kind": KINDS}
_STATUS = {"status": STATUSES}

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "upsert",
            "Create a record, or merge into the one of that kind and slug. Use it for traps and decisions as you learn them. "
            "A trap that repeats an old one is counted there (recurrence: true). Secrets are refused.",
            {
                "kind": ("string", "What it is."),
                "body": ("string", "The text, Markdown."),
                "slug": ("string", "File name without .md; made from the title if missing."),
                "frontmatter": ("object", "title, severity, tags, pathPatterns, supersedes, ttl and any keys of your own."),
                "path": ("string", "One path of the repository that it is about."),
                **_PLACE,
            },
            _upsert,
            ("kind", "body"),
            _KIND,
        ),
        Tool(
            "get",
            "Read one record by id, or by kind and slug.",
            {**_WHICH, "sessionId": ("string", "Your session: a hit is counted once in it."), **_PLACE},
            _get,
            (),
            _KIND,
        ),
        Tool(
            "append",
            "Write an event of its own (a log by default). It is never changed again.",
            {
                "event": ("string", "What happened."),
                "kind": ("string", "The kind of record."),
                "details": ("object", "Further keys."),
                **_PLACE,
            },
            _append,
            ("event",),
            _KIND,
        ),
        Tool(
            "forget",
            "Archive a record that no longer holds; with purge, remove it for good.",
            {**_WHICH, "purge": ("boolean", "Remove the file."), **_PLACE},
            _forget,
            (),
            _KIND,
            destructive=True,
        ),
        Tool(
            "search",
            'Find records by words, "phrases", AND, OR and NOT, best first.',
            {
                "query": ("string", "What to look for."),
                "kinds": ("array", "Only these kinds."),
                "status": ("string", "Only this status."),
                "tags": ("array", "Only with all of these tags."),
                "path": ("string", "Only what is about this path."),
                "includeScratch": ("boolean", "Scratch records too."),
                "includeExpired": ("boolean", "Expired records too."),
                "asOf": ("string", "As it was at this date or time."),
                "crossProject": ("boolean", "In all projects, without their scratch, state and reviews."),
                "limit": ("integer", "At most this many, 1 to 1000; 20 if missing."),
                **_PLACE,
            },
            _search,
            ("query",),
            _STATUS,
            read_only=True,
        ),
        Tool(
            "feedback",
            "Say whether a record was of use: helpful, not_helpful, stale or wrong.",
            {**_WHICH, "verdict": ("string", "Your verdict."), **_PLACE},
            _feedback,
            ("verdict",),
            {"verdict": VERDICTS, **_KIND},
        ),
        Tool(
            "list",
            "List records, the last updated first.",
            {
                "kind": ("string", "Only this kind."),
                "status": ("string", "Only this status."),
                "tags": ("array", "Only with all of these tags."),
                "includeExpired": ("boolean", "Expired records too."),
                "limit": ("integer", "At most this many."),
                **_PLACE,
            },
            _list,
            (),
            {**_KIND, **_STATUS},
            read_only=True,
        ),
        Tool(
            "gc",
            "Archive what has expired; with purge, remove it for good.",
            {"purge": ("boolean", "Remove the files."), "dryRun": ("boolean", "Only say what would be done."), **_PLACE},
            _gc,
            destructive=True,
        ),
    )
}
