"""No document costs more than in proportion to its length and to what it asks for."""

import httpx

from store.database import Database
from tests.server.conftest import Tokens
from tests.server.test_graphql_http import post
from tests.steps import counted
from tests.store.tables import add_table
from tests.world import World


def doubling(levels: int) -> str:
    """A document whose fragments each spread the next one twice."""
    spread = " ".join(f"fragment F{n} on Record {{ ...F{n + 1} ...F{n + 1} }}" for n in range(levels))
    return f'{{ recordList(collection: "leads") {{ records {{ ...F0 }} }} }} {spread} fragment F{levels} on Record {{ id }}'


async def test_a_fragment_is_visited_once_however_often_it_is_spread(
    client: httpx.AsyncClient, db: Database, tokens: Tokens, world: World
) -> None:
    await add_table(db, world.operator)

    async def steps(levels: int) -> int:
        with counted() as found:
            answer = await post(client, tokens.operator, doubling(levels))
        assert answer.json() == {"data": {"recordList": {"records": []}}}
        return found.count

    await steps(1)
    # Twice the levels are twice the text; visits of each path would be 64 times as many.
    assert await steps(12) < 3 * await steps(6)
