"""The protocol, by its own library: the tools as an MCP server, and each HTTP request served by itself."""

import logging
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request as HTTPRequest
from starlette.types import Receive, Scope, Send

from models.caller import Caller
from server.mcp.calls import Calls, Outcome, Request
from server.mcp.tool import Tool
from server.mcp.tools import INSTRUCTIONS, TOOLS
from server.request_log import note

Context = ServerRequestContext[Any, HTTPRequest]
Who = Callable[[HTTPRequest | None], Awaitable[Caller]]
"""Says who sends a request, which is None where the transport is not HTTP; raises Unauthenticated."""

# They tell when a session begins and ends, which here is each request.
for _module in ("streamable_http", "streamable_http_manager"):
    logging.getLogger(f"mcp.server.{_module}").setLevel(logging.WARNING)


def make_server(calls: Calls, who: Who) -> Server[Any]:
    """The MCP server of the tools."""
    listing = types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])
    schemas = {tool.name: tool.input_schema for tool in listing.tools}

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listing

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        sent = context.request
        request = Request(params.name, params.arguments or {}, {**(context.meta or {})}, sent.headers if sent is not None else {})
        outcome = await calls.outcome(request, lambda: who(sent))
        if sent is not None:
            _tell(sent.scope, request, outcome)
        text = types.TextContent(type="text", text=outcome.text)
        return types.CallToolResult(content=[text], structured_content=outcome.value, is_error=outcome.code is not None)

    return Server(
        "muniment",
        version=version("muniment"),
        title="Muniment",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
    )


async def serve_request(server: Server[Any], scope: Scope, receive: Receive, send: Send, *, limit: int) -> None:
    """Answer one HTTP request with a body of at most `limit` bytes. Nothing is kept between requests, so any worker can take the next."""
    # A manager can be run once only, so that each request has its own; it holds no more than the request.
    manager = StreamableHTTPSessionManager(server, stateless=True, json_response=True, max_request_body_size=limit)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.read_only or tool.idempotent,
        open_world_hint=False,
    )
    return types.Tool(name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema, annotations=hints)


def _tell(scope: Scope, request: Request, outcome: Outcome) -> None:
    run = outcome.caller.run_id if outcome.caller is not None else None
    note(scope, operation=request.counted, counted=request.counted, run=run, code=outcome.code)
