"""What a caller is told when the server, not the request, is at fault."""

from typing import Any

import structlog

from models.caller import Caller
from server.mcp.calls import Calls, Outcome, Request
from store.database import Database
from tests.server.mcp.speaking import state
from tests.world import World


async def call(calls: Calls, caller: Caller, tool: str, **arguments: Any) -> Outcome:
    async def who() -> Caller:
        return caller

    return await calls.outcome(Request(tool, arguments, {}, {}), who)


async def test_a_call_that_takes_too_long_is_cancelled_and_writes_nothing(db: Database, world: World) -> None:
    before = await state(db)
    async with db.write() as holder:
        await holder.execute("SELECT FROM agents WHERE org_id = $1 AND id = $2 FOR UPDATE", world.org, world.ada.id)
        outcome = await call(Calls(db, timeout=0.3), world.ada, "memory_write", content="late")
    assert (outcome.code, outcome.value["status"]) == ("UNAVAILABLE", 503)
    assert outcome.text == "the operation took too long and was cancelled; ask for less at once"
    assert await state(db) == before
    assert (await call(Calls(db, timeout=15), world.ada, "memory_write", content="in time")).code is None


async def test_what_is_not_the_callers_business_is_masked_and_logged(db: Database, world: World) -> None:
    async with db.write() as writer:
        await writer.execute("ALTER TABLE artifacts RENAME COLUMN content TO secret_name")
    with structlog.testing.capture_logs() as logged:
        outcome = await call(Calls(db, timeout=15), world.ada, "script_list")
        found = await call(Calls(db, timeout=15), world.ada, "script_get", path=f"org/{world.org}/agents/{world.ada.id}/scripts/a.py")
    assert (outcome.code, outcome.value) == (None, {"scripts": []})
    error_id = found.value["id"]
    assert found.value == {
        "code": "INTERNAL",
        "status": 500,
        "message": f"internal error {error_id}; the server's log has it under this id",
        "problems": [],
        "id": error_id,
    }
    [line] = [entry for entry in logged if entry["event"] == "internal error"]
    assert (line["error_id"], line["operation"]) == (error_id, "script_get")
    assert "secret_name" not in found.text


async def test_a_database_that_is_gone_is_told_as_such(dsn: str, world: World) -> None:
    away = Database(dsn.rpartition("/")[0] + "/nowhere")
    outcome = await call(Calls(away, timeout=15), world.ada, "script_list")
    assert (outcome.code, outcome.value["status"], outcome.text) == ("UNAVAILABLE", 503, "the database does not answer; try again")


async def test_a_lone_surrogate_in_an_unknown_name_can_still_be_answered(db: Database, world: World) -> None:
    outcome = await call(Calls(db, timeout=15), world.ada, "script_list", **{"\ud800": 1})
    assert outcome.code == "UNPROCESSABLE"
    assert outcome.text.encode() == b'request rejected\n- unknown argument "?"; script_list takes no arguments'
