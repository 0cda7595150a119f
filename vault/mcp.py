"""The vault for agents: MCP over standard input and output."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from vault import mcp_tools
from vault.api import Vault
from vault.errors import PathRefused, VaultError
from vault.mcp_tools import TOOLS
from vault.place import locate, open_vault
from vault.project import vault_root

_log = logging.getLogger("vault.mcp")

_INSTRUCTIONS = (
    "Durable memory of this project. Search before you start; upsert traps and decisions as you learn them; "
    "append what happened; get one record by its id; forget what no longer holds."
)


class Door:
    """Answers tool calls. The defaults of root, folder and project are those of the process that serves.

    `allowed`: further roots that a call may name. A model chooses no folder that the person has not chosen before.
    """

    def __init__(self, root: Path | None, cwd: Path | None, project: str | None, allowed: Iterable[Path] = ()) -> None:
        self._cwd, self._project = cwd or Path.cwd(), project
        self._root = vault_root(root, os.environ)
        self._allowed = {self._root, *(vault_root(path, os.environ) for path in allowed)}
        self._vaults: dict[Path, Vault] = {}
        self._guard = threading.Lock()
        self._vault(None)  # a wrong root or configuration is said at the start

    def _vault(self, root: str | None) -> Vault:
        place = vault_root(root, os.environ) if root else self._root
        if place not in self._allowed:
            raise PathRefused("vaultRoot must be the vault that is served, or one that memo mcp was started with (--allow-root)")
        with self._guard:
            if place not in self._vaults:
                self._vaults[place] = open_vault(place, os.environ)
            return self._vaults[place]

    def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Return the answer or the refusal of one tool call. Never raises."""
        try:
            call = mcp_tools.check(name, arguments)
            vault = self._vault(call.text("vaultRoot"))
            place = locate(vault, Path(call.text("cwd") or self._cwd), call.text("projectId") or self._project)
            vault.take_warnings()
            answer = mcp_tools.run(vault, place, call)
            warnings = vault.take_warnings()
            return _result({**answer, "warnings": list(warnings)} if warnings else answer)
        except VaultError as error:
            return _result({"code": error.code, "message": error.message}, refused=True)
        except OSError as error:
            code = "UPSERT_FAILED" if name == "upsert" else "VAULT_ERROR"
            return _result({"code": code, "message": f"the file system refused: {error.strerror}"}, refused=True)
        except Exception as error:  # noqa: BLE001  a tool call must be answered; the type says enough, values may be secret
            _log.error("%s failed: %s", name if name in TOOLS else "an unknown tool", type(error).__name__)
            return _result({"code": "INTERNAL", "message": "the vault failed; nothing more is known"}, refused=True)

    def close(self) -> None:
        """Commit what is waiting in every vault that was used."""
        for vault in self._vaults.values():
            vault.flush()
            vault.close()


def _result(value: dict[str, Any], *, refused: bool = False) -> types.CallToolResult:
    text = f"{value['code']}: {value['message']}" if refused else json.dumps(value, ensure_ascii=False, indent=2)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=value, is_error=refused)


def make_server(door: Door) -> Server[Any]:
    """Return the MCP server of a door."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described() for tool in TOOLS.values()])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(door.call, params.name, params.arguments or {})

    return Server("memo", version=version("muniment"), instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def serve(root: Path | None, cwd: Path | None, project: str | None, allowed: Iterable[Path] = ()) -> None:
    """Serve until standard input ends; then commit what is waiting."""
    door = Door(root, cwd, project, allowed)
    server = make_server(door)

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        door.close()
