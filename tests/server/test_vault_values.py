"""Every value that a record can hold goes through GraphQL, and a server starts again on a vault that holds it."""

import json
from pathlib import Path
from typing import Any

from store import tokens
from store.database import Database
from tests.server.vault_server import serving
from tests.vault.test_every_value import HAND_WRITTEN, JSON_VALUES, KEYS, by_hand
from tests.world import World

UPSERT = """mutation($matter: JSON) {
    vaultUpsert(project: "q", kind: "spec", slug: "x", body: "text", frontmatter: $matter) { record { frontmatter } } }"""
APPEND = 'mutation($matter: JSON) { vaultAppend(project: "q", event: "text", details: $matter) { frontmatter } }'
READ = '{ vaultRecord(project: "q", kind: "spec", slug: "x") { frontmatter } }'
LIST = """{ vaultRecords(project: "p", includeExpired: true) { id kind body frontmatter created updated }
    vaultView(project: "p", name: "TRAPS") }"""


async def test_values_survive_the_door_and_the_next_start(tmp_path: Path, dsn: str, db: Database, world: World) -> None:
    token = await tokens.create_for_user(db, world.org, "Olga")
    count = by_hand(tmp_path)
    data: dict[str, Any] = {f"v{number}": value for number, value in enumerate(JSON_VALUES)} | dict.fromkeys(KEYS, "value")
    for start in range(2):
        async with serving(dsn, tmp_path, world.org) as server:
            client = server.client(token)
            assert len((await client.data(LIST))["vaultRecords"]) == count == 5 * len(HAND_WRITTEN)
            if start == 0:
                for query, place in ((UPSERT, ("vaultUpsert", "record")), (APPEND, ("vaultAppend",))):
                    answer = await client.data(query, matter=data)
                    for name in place:
                        answer = answer[name]
                    assert json.dumps({key: answer["frontmatter"].get(key) for key in data}) == json.dumps(data)
            read = (await client.data(READ))["vaultRecord"]["frontmatter"]
            assert json.dumps({key: read.get(key) for key in data}) == json.dumps(data)
