"""Within which run and tool call a write is recorded."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from server.app import App
from server.settings import Settings
from store import runs
from store.database import Database
from tests.server.conftest import Tokens
from tests.server.mcp.speaking import last_change, refusal, speaking, state
from tests.world import World, add_run

SECRET = "a secret of thirty-two bytes or more"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, broadcast_url="memory://", jwt_secret=SECRET, allowed_hosts=("muniment.test",))


def signed(world: World, run: str | None = None) -> str:
    claims = {"org": world.org, "agent": world.ada.id, "exp": datetime.now(UTC) + timedelta(hours=1)}
    return jwt.encode({**claims, "run": run} if run else claims, SECRET, algorithm="HS256")


async def written(app: App, db: Database, token: str, *, meta: Any = None, **headers: str) -> tuple[Any, ...]:
    """Run, tool call and tool of the change that a write made."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with speaking(app, token, headers=sent) as client:
        result = await client.call_tool("memory_write", {"content": "x"}, meta=meta)
    assert result.is_error is False, result.structured_content
    return (await last_change(db))[4:]


async def test_meta_or_headers_name_the_run(app: App, db: Database, world: World, tokens: Tokens) -> None:
    run, other = await add_run(db, world.ada), await add_run(db, world.ada)
    assert await written(app, db, tokens.ada) == (None, None, None)
    assert await written(app, db, tokens.ada, meta={"run_id": run, "tool_call_id": "c1"}) == (run, "c1", "memory_write")
    assert await written(app, db, tokens.ada, meta={"X-Run-Id": run, "x-tool-call-id": "c2"}) == (run, "c2", "memory_write")
    assert await written(app, db, tokens.ada, X_Run_Id=run, X_Tool_Call_Id="c3") == (run, "c3", "memory_write")
    assert await written(app, db, tokens.ada, meta={"run_id": other}, X_Run_Id=run) == (other, None, "memory_write")
    assert await written(app, db, tokens.ada, X_Run_Id=run, X_Tool_Name="other") == (run, None, "memory_write")
    assert await written(app, db, tokens.ada, meta={"tool_call_id": "c4"}) == (None, None, None)


async def test_the_run_of_a_jwt_wins(app: App, db: Database, world: World) -> None:
    run, other = await add_run(db, world.ada), await add_run(db, world.ada)
    assert await written(app, db, signed(world, run), meta={"run_id": other, "tool_call_id": "c"}) == (run, "c", "memory_write")
    assert await written(app, db, signed(world), meta={"run_id": other}) == (other, None, "memory_write")


async def test_a_run_that_is_not_the_agents_own_is_refused(app: App, db: Database, world: World, tokens: Tokens) -> None:
    bobs, finished, own = await add_run(db, world.bob), await add_run(db, world.ada), await add_run(db, world.ada)
    await runs.finish(db, world.operator, finished, "succeeded")
    before = await state(db)
    refusals: list[tuple[str, Any, str]] = [
        (tokens.ada, {"run_id": bobs}, f"X-Run-Id: '{bobs}' is no run of this agent"),
        (tokens.ada, {"run_id": finished}, f"X-Run-Id: run {finished} has finished"),
        (tokens.operator, {"run_id": bobs}, "X-Run-Id: only an agent's calls belong to a run; an operator sends none"),
        (tokens.ada, {"run_id": own, "tool_call_id": "x" * 201}, "X-Tool-Call-Id: has 201 characters; at most 200 are allowed"),
        (tokens.ada, {"run_id": 7, "tool_call_id": []},
            "request rejected\n- _meta run_id must be a text; got 7\n- _meta tool_call_id must be a text; got []"),
    ]  # fmt: skip
    for token, meta, message in refusals:
        async with speaking(app, token) as client:
            result = await client.call_tool("note_write", {"level": "org", "key": "x.md", "content": "x"}, meta=meta)
        assert refusal(result) == ("UNPROCESSABLE", message)
    assert await state(db) == before
