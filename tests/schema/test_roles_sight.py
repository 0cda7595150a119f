"""What lists and searches show to each role: everything it reads, and nothing else."""

import pytest

from store.database import Database
from tests.schema.roles import Furnished, furnish
from tests.world import World

LISTS = """{ organisation { collections { name } notes { key } guilds { notes { key } } agents { notes { key } } } }"""
SEEN = {
    "operator": ["leads", "own", "guild.md", "mine.md", "org.md"],
    "writer": ["leads", "guild.md", "mine.md", "org.md"],
    "reader": ["leads", "guild.md", "org.md"],
    "without": ["org.md"],
    "held": ["guild.md", "org.md"],
    "other_guild": ["own", "org.md"],
    "stranger": [],
    "foreign_agent": [],
}


async def names(furnished: Furnished, role: str, query: str) -> list[str]:
    answer = await furnished.ask(role, query)
    assert "errors" not in answer
    return sorted(_texts(answer["data"]), key=lambda name: (name.endswith(".md"), name))


def _texts(value: object) -> set[str]:
    if isinstance(value, dict):
        return {text for inner in value.values() for text in _texts(inner)}
    if isinstance(value, list):
        return {text for inner in value for text in _texts(inner)}
    return {str(value)}


@pytest.mark.parametrize("role", SEEN)
async def test_lists_and_searches_show_what_a_role_reads(db: Database, world: World, role: str) -> None:
    furnished = await furnish(db, world)
    tables, notes = [name for name in SEEN[role] if "." not in name], [name for name in SEEN[role] if "." in name]
    assert await names(furnished, role, LISTS) == SEEN[role]
    assert await names(furnished, role, "{ collections { name } }") == tables
    assert await names(furnished, role, '{ recordSearch(query: "new") { records { collection } } }') == tables
    assert await names(furnished, role, '{ noteFind(query: "of") { notes { key } } }') == notes


@pytest.mark.parametrize(
    ("role", "access"),
    [
        ("operator", {"leads": "WRITE", "own": "WRITE"}),
        ("writer", {"leads": "WRITE"}),
        ("reader", {"leads": "READ"}),
        ("other_guild", {"own": "WRITE"}),
        ("held", {}),
    ],
)
async def test_a_table_says_what_its_reader_may_do(db: Database, world: World, role: str, access: dict[str, str]) -> None:
    answer = await (await furnish(db, world)).ask(role, "{ collections { name access } }")
    assert {table["name"]: table["access"] for table in answer["data"]["collections"]} == access
