"""Every operation that pages send, run against real data: `frontend-queries/<Name>.json` has its variables and its answer."""

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from graphql import FragmentDefinitionNode, parse

from engine import EngineSchema, dumps, loads, run
from models.cursor import START
from resolvers.context import Context
from resolvers.mount import Mount
from schema import build
from server.documents import FOLDER, documents
from store.bell import Bell
from store.database import Database
from store.feed import Feed
from tests.frontend_queries import office
from tests.frontend_queries.office import OLGA, ORG, Office
from tests.vault.conftest import FIXTURE
from vault import Vault

_PROCESS = re.compile(r"(log-[0-9TZ-]+)-\d+-(?=0{7}1)")
_CURSOR = re.compile(r'"([0-9a-f]{32})"')


@pytest.fixture(scope="module")
def schema() -> EngineSchema:
    found = build()
    found.engine.documents.warm(documents().values())
    return found


@contextlib.asynccontextmanager
async def surroundings(made: Office, tmp_path: Path) -> AsyncIterator[Context]:
    """What resolvers are given, with a vault beside the store whose time and chance are fixed too."""
    root = shutil.copytree(FIXTURE, tmp_path / "vault")
    mount = Mount(root, made.db, ORG)
    mount.vault.close()
    mount.vault = Vault(
        root, watched=True, clock=lambda: made.time() + timedelta(days=4), random_hex=lambda size: "0" * (2 * size - 1) + "1"
    )
    await mount.catch_up()
    bell = Bell()
    await bell.start()
    feed = Feed(made.db, bell)
    await feed.start()
    yield Context(db=made.db, feed=feed, vault=mount, known=OLGA)
    await feed.stop()
    await bell.stop()
    await mount.close()


async def answer_of(schema: EngineSchema, name: str, variables: dict[str, Any], context: Context) -> Any:
    """The answer to a query or mutation; the first five events of a subscription, from the beginning."""
    text = documents()[name]
    if not text.startswith("subscription"):
        return loads((await run(schema.engine, text, variables, name, context)).body)
    events = await schema.stream(text, variables | {"after": str(START)}, context, operation_name=name)
    found = []
    async with asyncio.timeout(20), contextlib.aclosing(events):
        async for event in events:
            assert event.errors is None
            found.append(loads(dumps({"data": event.data})))
            if len(found) == 5:
                break
    return found


def normalised(answer: Any) -> Any:
    """The answer with what differs from run to run by its place or rounded: cursors, the process's id, ranks."""
    text = _PROCESS.sub(r"\1-process-", json.dumps(answer))
    places = {cursor: f"cursor {number}" for number, cursor in enumerate(sorted(set(_CURSOR.findall(text))), 1)}
    return json.loads(_CURSOR.sub(lambda match: f'"{places[match[1]]}"', text), parse_float=lambda number: round(float(number), 6))


@pytest.mark.parametrize("name", sorted(documents()))
async def test_a_document_answers_as_is_written_beside_it(schema: EngineSchema, db: Database, tmp_path: Path, name: str) -> None:
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    async with surroundings(await office.build(db), tmp_path) as context:
        answer = await answer_of(schema, name, expected["variables"], context)
    assert normalised(answer) == normalised(expected["answer"])
    assert "errors" not in answer


def test_each_file_holds_the_operation_of_its_name() -> None:
    for file in FOLDER.glob("*.graphql"):
        operations = [node for node in parse(file.read_text()).definitions if not isinstance(node, FragmentDefinitionNode)]
        assert [node.name.value for node in operations] == [file.stem]  # type: ignore[attr-defined]  # operations alone


def test_no_answer_is_left_without_its_document() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(documents())


def test_every_fragment_is_used() -> None:
    defined = re.findall(
        r"^fragment (\w+) on", "".join(file.read_text() for file in (FOLDER / "fragments").glob("*.graphql")), re.MULTILINE
    )
    used = set(re.findall(r"\.\.\.(\w+)", "".join(documents().values())))
    assert len(defined) == len(set(defined))
    assert set(defined) == used


def test_every_field_of_query_and_mutation_is_asked_for_by_some_document(schema: EngineSchema) -> None:
    text = "".join(documents().values())
    roots = [schema.engine.schema.query_type, schema.engine.schema.mutation_type, schema.engine.schema.subscription_type]
    unused = {field for root in roots if root for field in root.fields if not re.search(rf"\b{field}\b", text)}
    # What agents read through, where pages list the table itself.
    assert unused == {"recordList"}
