"""An answer has bounds in bytes and in objects, which hold before it is written."""

from typing import Any

import httpx
import orjson
import pytest

from engine.room import exceeds
from models.errors import MOST_PROBLEMS
from models.kinds import NoteLevel
from server.settings import Settings
from store import notes, scripts
from store.database import Database
from tests.server.conftest import Tokens, bearer
from tests.server.test_graphql_http import post, refusal
from tests.steps import counted
from tests.world import World, add_agent

BYTES = 60_000
TOO_LARGE = f"the answer is larger than {BYTES:,} bytes, the limit; "


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Bounds that small files pass."""
    return settings.model_copy(update={"max_answer_bytes": BYTES, "max_nodes": 400})


@pytest.mark.parametrize(
    ("value", "size"),
    [("a" * 9, 9), ("é" * 9, 18), ({"k" * 5: ["aa", "bb"]}, 9), ([orjson.Fragment(b'{"a":1}')], 7), ([None, 1, True], 12)],
)
def test_the_size_of_a_result_is_that_of_its_texts_names_and_numbers(value: Any, size: int) -> None:
    assert (exceeds(value, size - 1), exceeds(value, size)) == (True, False)


def test_measuring_stops_at_the_bound() -> None:
    with counted() as steps:
        assert exceeds([orjson.Fragment(b"1" * 100)] * 10_000, 1_000)
    assert steps.count < 40


async def test_aliases_of_a_large_text_are_refused_before_the_answer_is_written(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    await scripts.write(db, world.operator, "run.py", "x" * 10_000, agent_id=world.ada.id)
    fields = " ".join(f"c{n}: content" for n in range(5))
    fitting = await post(client, tokens.ada, f"{{ viewer {{ agent {{ scripts {{ {fields} }} }} }} }}")
    assert 50_000 < len(fitting.content) < BYTES
    answer = await post(client, tokens.ada, f"{{ viewer {{ agent {{ scripts {{ {fields} c5: content }} }} }} }}")
    assert refusal(answer) == (200, "UNPROCESSABLE", 422, f"{TOO_LARGE}ask for fewer or smaller fields")


async def test_one_text_that_many_objects_share_counts_for_each(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    for number in range(7):
        await notes.write(db, world.operator, NoteLevel.ORG, f"{number}.md", "text")
    query = "{ notes(level: ORG) { latestChange { displayPath eventPath actor { name } } " + "a" * 9_000 + ": key } }"
    assert refusal(await post(client, tokens.operator, query))[3] == f"{TOO_LARGE}ask for fewer or smaller fields"


async def test_reading_ends_at_the_bound(client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World) -> None:
    for number in range(12):
        await notes.write(db, world.operator, NoteLevel.ORG, f"{number}.md", str(number) * 8_000)
    query = "{ notes(level: ORG) { content } }"
    answer = await post(client, tokens.operator, query)
    assert refusal(answer)[1:] == ("UNPROCESSABLE", 422, f"{TOO_LARGE}page its lists, or ask for fewer or smaller fields")
    # Without the texts they fit, and the connection that was cut is replaced.
    heads = await post(client, tokens.operator, "{ notes(level: ORG) { key } }")
    assert [note["key"] for note in heads.json()["data"]["notes"]] == sorted(f"{number}.md" for number in range(12))


async def test_lists_count_what_they_turn_out_to_hold(client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World) -> None:
    for number in range(20):
        await add_agent(db, world.org, f"Agent {number}", world.ada.guild_id)
    query = "query ($id: ID!) { agent(id: $id) { guild { agents { guild { agents { id } } } } } }"
    answer = await post(client, tokens.operator, query, id=world.ada.id)
    assert refusal(answer) == (200, "UNPROCESSABLE", 422, "the answer holds more than 400 objects, the limit; page its lists")


async def test_problems_are_listed_up_to_a_hundred_and_counted_beyond(client: httpx.AsyncClient, tokens: Tokens) -> None:
    body = {"columns": [], "name": "x", "purpose": "y"} | {f"{number}_{'n' * 300}": 1 for number in range(2_000)}
    answer = await client.post("/api/collections", json=body, headers=bearer(tokens.operator))
    problems = answer.json()["problems"]
    assert (answer.status_code, len(problems)) == (422, MOST_PROBLEMS + 1)
    assert problems[-1]["message"].endswith(" more problems")
    assert len(answer.content) < 400_000


async def test_errors_are_listed_up_to_a_hundred_and_counted_beyond(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    for number in range(12):
        await add_agent(db, world.org, f"Agent {number}", None)
    fields = " ".join(f"m{number}: memory {{ version }}" for number in range(12))
    answer = (await post(client, tokens.ada, f"{{ organisation {{ agents {{ {fields} }} }} }}")).json()
    assert len(answer["errors"]) == 101
    assert answer["errors"][-1]["message"].endswith(" more errors")


async def test_nobody_s_body_is_not_read(client: httpx.AsyncClient) -> None:
    taken = 0

    async def chunks() -> Any:
        nonlocal taken
        for _ in range(10):
            taken += 1
            yield b" " * 1_000

    answer = await client.post("/graphql", content=chunks(), headers={"Content-Type": "application/json"})
    assert (refusal(answer)[:2], taken) == ((401, "UNAUTHENTICATED"), 0)
