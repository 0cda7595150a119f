"""One run of an agent over MCP, with the protocol's own client: the run and the tool call travel in `_meta`."""

import asyncio

import httpx2
from choosing import History, next_call
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from orchestrator import AGENT, URL, Run, run


async def work(current: Run) -> None:
    """Call tools until there is nothing left to do."""
    history: History = []
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}) as http,
        Client(streamable_http_client(f"{URL}/mcp", http_client=http)) as client,
    ):
        tools = (await client.list_tools()).tools  # their names, descriptions and schemas are what a model is given
        print(len(tools), "tools")
        while (chosen := next_call(current.state, history)) is not None:
            tool, arguments = chosen
            meta = {"run_id": current.id, "tool_call_id": f"call_{len(history) + 1}"}
            result = await client.call_tool(tool, arguments, meta=meta)
            # A refusal is a result too (`result.is_error`): its message is for the model, which reads it and acts on it.
            answer = result.structured_content or {}
            print(tool, arguments, "->", answer)
            history.append((chosen, answer))


with run() as current:
    asyncio.run(work(current))
    current.status = "completed"
