"""What a file's fields promise holds of one that is no longer there, too."""

from models.kinds import FileKind
from store import memory, records
from store.database import Database
from tests.resolvers.test_agent_files import ask
from tests.store.tables import add_table
from tests.world import World

CHANGE = "latestChange { displayPath kind operation version recorded actor { name } } changes { version }"
NOTE = f"query Note($path: String!) {{ noteGet(path: $path) {{ content {CHANGE} }} }}"
ADD = f"""mutation Add {{
    recordAdd(collection: "leads", body: {{status: "new"}}, idempotencyKey: "key") {{ record {{ id version {CHANGE} }} }} }}"""


async def test_an_archived_memory_that_an_operator_opens(db: Database, world: World) -> None:
    await memory.write(db, world.ada, "One.")
    await memory.write(db, world.operator, "Two.", agent_id=world.ada.id)
    (kept,) = (await memory.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    data, errors = await ask(db, world.operator, NOTE, path=kept.display_path)
    saved = {"operation": "CREATE", "version": 1, "recorded": False, "actor": {"name": "Ada"}}
    change = {"displayPath": kept.display_path, "kind": FileKind.MEMORY.value, **saved}
    assert (data, errors) == ({"noteGet": {"content": "One.", "latestChange": change, "changes": []}}, [])


async def test_an_add_that_is_repeated_after_its_record_was_removed(db: Database, world: World) -> None:
    await add_table(db, world.operator)
    first, errors = await ask(db, world.operator, ADD)
    assert errors == []
    assert first is not None
    await records.remove(db, world.operator, "leads", "1")
    again, errors = await ask(db, world.operator, ADD)
    assert errors == []
    assert again is not None
    assert again["recordAdd"]["record"]["version"] == first["recordAdd"]["record"]["version"] == 1
    change = again["recordAdd"]["record"]["latestChange"]
    assert (change["operation"], change["version"], change["recorded"]) == ("DELETE", 2, True)
    assert again["recordAdd"]["record"]["changes"] == [{"version": 2}, {"version": 1}]
