import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from vault.mcp import Door
from vault.mcp_tools import TOOLS

REPOSITORY = Path(__file__).parents[2]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@asynccontextmanager
async def client(root: Path) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from vault.cli import main; main()", "--vault-root", str(root), "mcp", "--project-id", "p"],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def test_the_tools_over_stdio(tmp_path: Path) -> None:
    async with client(tmp_path / "v") as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == {
            "upsert", "get", "append", "forget", "search", "feedback", "list", "gc",
        }  # fmt: skip
        made = await session.call_tool("upsert", {"kind": "decision", "body": "We use zebras.", "frontmatter": {"title": "Zebras"}})
        assert made.is_error is False
        assert made.structured_content is not None
        assert (made.structured_content["created"], made.structured_content["record"]["id"]) == (True, "zebras")
        assert json.loads(made.content[0].text) == made.structured_content
        found = await session.call_tool("search", {"query": "zebras"})
        assert found.structured_content is not None
        assert [hit["record"]["id"] for hit in found.structured_content["hits"]] == ["zebras"]
        missing = await session.call_tool("get", {"id": "nobody"})
        assert (missing.is_error, missing.structured_content) == (
            True,
            {"code": "RECORD_NOT_FOUND", "message": 'Record not found: "nobody" in project p'},
        )
        assert missing.content[0].text == 'RECORD_NOT_FOUND: Record not found: "nobody" in project p'


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "v", tmp_path, "p")


def call(door: Door, name: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
    result = door.call(name, arguments)
    assert result.structured_content is not None
    return bool(result.is_error), result.structured_content


def test_each_tool_answers(door: Door) -> None:
    assert call(door, "upsert", kind="trap", body="one two three", slug="x", path="src/a.py")[1]["record"]["id"] == "x"
    assert call(door, "upsert", kind="trap", body="one two three", path="src/a.py")[1]["recurrence"] is True
    assert call(door, "append", event="Deployed", details={"title": "T"})[1]["record"]["title"] == "T"
    assert call(door, "get", kind="trap", slug="x", sessionId="s")[1]["record"]["frontmatter"]["hits"] == 1
    assert call(door, "feedback", id="x", verdict="helpful")[1]["record"]["frontmatter"]["helpfulCount"] == 1
    assert len(call(door, "list", kind="trap", limit=5)[1]["records"]) == 1
    assert call(door, "search", query="two", kinds=["trap"], limit=1)[1]["hits"][0]["record"]["id"] == "x"
    assert call(door, "gc", dryRun=True) == (False, {"collected": [], "dryRun": True})
    assert call(door, "forget", id="x", purge=True) == (False, {"id": "x", "status": "purged", "purged": True})


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        ("upsert", {}, "INVALID_ARGUMENTS", "kind is required; body is required"),
        ("upsert", {"kind": "trap", "body": ""}, "INVALID_ARGUMENTS", "body must be a text that is not empty"),
        ("upsert", {"kind": 1, "body": [], "frontmatter": "x"}, "INVALID_ARGUMENTS", "kind must be a text; body must be a text; front"),
        ("upsert", {"kind": "trap", "body": "x", SECRET: 1}, "INVALID_ARGUMENTS", "1 unknown argument; upsert takes kind, body, slug"),
        ("upsert", {"kind": SECRET, "body": "x"}, "SECRET_FOUND", "kind holds what looks like a secret"),
        ("upsert", {"kind": "trap", "body": f"x {SECRET}"}, "SECRET_FOUND", "body holds what looks like a secret"),
        ("upsert", {"kind": "trap", "body": "x", "slug": "../x"}, "PATH_REFUSED", "slug must be one path segment"),
        ("get", {}, "INVALID_ARGUMENTS", "give an id, or both kind and slug"),
        ("get", {"kind": "trap"}, "INVALID_ARGUMENTS", "give an id, or both kind and slug"),
        ("get", {"id": True}, "INVALID_ARGUMENTS", "id must be a text"),
        ("append", {}, "INVALID_ARGUMENTS", "event is required"),
        ("forget", {"id": "x", "purge": "yes"}, "INVALID_ARGUMENTS", "purge must be true or false"),
        ("forget", {"id": "x"}, "RECORD_NOT_FOUND", "Record not found"),
        ("search", {"query": "("}, "INVALID_QUERY", ""),
        ("search", {"query": "x", "limit": True}, "INVALID_ARGUMENTS", "limit must be a whole number"),
        ("search", {"query": "x", "limit": 0}, "INVALID_ARGUMENTS", "limit must be a whole number from 1 to 1000"),
        ("search", {"query": "x", "limit": 5_000}, "INVALID_ARGUMENTS", "limit must be a whole number from 1 to 1000"),
        ("search", {"query": "x", "kinds": [1]}, "INVALID_ARGUMENTS", "kinds must be a list of texts"),
        ("upsert", {"kind": "trap", "body": "x", "projectId": "../x"}, "PATH_REFUSED", "project"),
        ("upsert", {"kind": "trap", "body": "x", "cwd": "/nowhere/at/all"}, "INVALID_ARGUMENTS", "cwd must be an existing folder"),
        (SECRET, {}, "INVALID_ARGUMENTS", "there is no such tool; there are upsert, get"),
    ],
)  # fmt: skip
def test_a_refusal_has_a_code_and_repeats_no_value(
    door: Door, tmp_path: Path, name: str, arguments: dict[str, Any], code: str, text: str
) -> None:
    refused, answer = call(door, name, **arguments)
    assert (refused, answer["code"], sorted(answer)) == (True, code, ["code", "message"])
    assert text in answer["message"]
    assert SECRET not in json.dumps(answer)
    assert not (tmp_path / "v/projects").exists()


def test_descriptions_are_complete() -> None:
    for tool in TOOLS.values():
        schema = tool.described().input_schema
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(entry["description"].endswith(".") for entry in schema["properties"].values())


def test_a_root_is_taken_only_from_those_given_at_the_start(tmp_path: Path) -> None:
    given, elsewhere = tmp_path / "given", tmp_path / "elsewhere"
    (elsewhere / "projects/p/traps").mkdir(parents=True)
    (elsewhere / "projects/p/traps/x.md").write_text("no record")
    (tmp_path / "link").symlink_to(elsewhere)
    door = Door(tmp_path / "v", tmp_path, "p", [given])
    before = sorted(tmp_path.rglob("*"))
    calls = (
        ("get", {"id": "x"}),
        ("search", {"query": "x"}),
        ("list", {}),
        ("upsert", {"kind": "trap", "body": "x"}),
        ("append", {"event": "x"}),
    )
    for root in (elsewhere, tmp_path / "link", "/etc", tmp_path, given / ".." / "elsewhere", "~"):
        for name, arguments in calls:
            refused, answer = call(door, name, **arguments, vaultRoot=str(root))
            assert (refused, answer["code"], str(root) in answer["message"]) == (True, "PATH_REFUSED", False)
    assert sorted(tmp_path.rglob("*")) == before
    assert call(door, "upsert", kind="trap", body="x", slug="x", vaultRoot=str(given))[1]["created"] is True
    assert call(door, "get", id="x", vaultRoot=f"{given}/")[1]["record"]["body"] == "x"
    assert (given / "projects/p/traps/x.md").is_file()
    assert not (tmp_path / "v").exists()
