"""Who reads and writes which note, and what the note tools say of other families."""

from dataclasses import replace

import pytest

from models.caller import Caller
from models.errors import Forbidden, MunimentError, NotFound, Unprocessable
from models.kinds import NoteLevel
from models.paths import agent_path, collection_path, note_path, record_path
from store import notes
from store.database import Database
from tests.store.rows import add_collection, column, grant
from tests.store.trail import everything, history
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


def without(caller: Caller, *bindings: str) -> Caller:
    return replace(caller, **dict.fromkeys(bindings, False))


async def put(db: Database, world: World, level: NoteLevel, owner: str, key: str = "plan.md") -> str:
    owner_id = None if level is ORG else owner
    return str((await notes.write(db, world.operator, level, key, "Text.", owner_id)).display_path)


async def test_an_agent_writes_and_reads_at_its_levels(db: Database, world: World) -> None:
    curator = replace(world.ada, write_org=True)
    for level, owner in ((AGENT, world.ada.id), (GUILD, world.writers), (ORG, world.org)):
        written = await notes.write(db, curator, level, "plan.md", f"At {level}")
        path = note_path(world.org, level, owner, "plan.md")
        assert (written.display_path, written.level, written.owner_id, written.key) == (path, level, owner, "plan.md")
        assert (written.content, written.version) == (f"At {level}", 1)
        assert (written.created_by_kind, written.created_by_id, written.created_by_name) == ("AGENT", world.ada.id, "Ada")
        assert (written.updated_by_kind, written.updated_by_id, written.updated_by_name) == ("AGENT", world.ada.id, "Ada")
        assert written.created_at == written.updated_at
        assert await notes.get(db, curator, path) == written
        assert await history(db, path) == [("CREATE", 1)]


READERS = {
    # level of the note: who reads a note of Ada, of her guild, of the organisation
    AGENT: {"operator", "ada"},
    GUILD: {"operator", "ada", "bob"},
    ORG: {"operator", "ada", "bob", "cyd", "loner"},
}


@pytest.mark.parametrize("level", READERS)
async def test_who_reads_by_the_defaults(db: Database, world: World, level: NoteLevel) -> None:
    owner = {AGENT: world.ada.id, GUILD: world.writers, ORG: world.org}[level]
    path = await put(db, world, level, owner)
    names = ("operator", "ada", "bob", "cyd", "loner", "stranger", "foreign_agent")
    for name in READERS[level]:
        assert (await notes.get(db, getattr(world, name), path)).content == "Text."
    for name in set(names) - READERS[level]:
        with pytest.raises(NotFound, match=path):
            await notes.get(db, getattr(world, name), path)


@pytest.mark.parametrize(("level", "binding"), [(GUILD, "read_guild"), (ORG, "read_org")])
async def test_without_the_read_binding_a_note_does_not_exist(db: Database, world: World, level: NoteLevel, binding: str) -> None:
    path = await put(db, world, level, world.writers)
    for call in (notes.get, notes.delete):
        with pytest.raises(NotFound, match="unknown note org/"):
            await call(db, without(world.ada, binding), path)
    assert await history(db, path) == [("CREATE", 1)]


@pytest.mark.parametrize(("level", "binding"), [(GUILD, "write_guild"), (ORG, "write_org")])
async def test_without_the_write_binding_nothing_is_written(db: Database, world: World, level: NoteLevel, binding: str) -> None:
    path = await put(db, world, level, world.writers)
    before = await everything(db)
    reader = without(world.ada, binding)
    with pytest.raises(Forbidden, match=f"Ada may not write notes at {level.lower()} level: its binding {binding} is off"):
        await notes.write(db, reader, level, "plan.md", "Other.")
    with pytest.raises(Forbidden, match=binding):
        await notes.delete(db, reader, path)
    assert await everything(db) == before


async def test_an_agent_without_guild_has_no_guild_level(db: Database, world: World) -> None:
    before = await everything(db)
    with pytest.raises(Forbidden, match="Loner is in no guild"):
        await notes.write(db, world.loner, GUILD, "plan.md", "x")
    assert await everything(db) == before


@pytest.mark.parametrize("level", NoteLevel)
async def test_an_agent_never_names_an_owner(db: Database, world: World, level: NoteLevel) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable, match="ownerId is for operators"):
        await notes.write(db, world.ada, level, "plan.md", "x", world.ada.id)
    assert await everything(db) == before


@pytest.mark.parametrize("level", [AGENT, GUILD])
async def test_an_operator_names_the_owner(db: Database, world: World, level: NoteLevel) -> None:
    before = await everything(db)
    with pytest.raises(Unprocessable, match=f"ownerId is required at {level.lower()} level"):
        await notes.write(db, world.operator, level, "plan.md", "x")
    for unknown in ("nobody", world.foreign_agent.id, world.foreign_agent.guild_id):
        with pytest.raises(NotFound, match=f"unknown {level.lower()} {unknown}"):
            await notes.write(db, world.operator, level, "plan.md", "x", unknown)
    with pytest.raises(Unprocessable, match="leave ownerId out"):
        await notes.write(db, world.operator, ORG, "plan.md", "x", world.writers)
    assert await everything(db) == before
    assert (await notes.write(db, world.operator, ORG, "plan.md", "x", world.org)).version == 1


async def test_listed_side_by_side(db: Database, world: World) -> None:
    for key in ("b.md", "A.md", "a.md", "c.md"):
        await put(db, world, GUILD, world.writers, key)
    await put(db, world, GUILD, world.readers, "other.md")
    await notes.delete(db, world.operator, note_path(world.org, GUILD, world.writers, "c.md"))
    listed = await notes.listed(db, world.operator, GUILD, world.writers)
    assert [(row.key, row.content) for row in listed] == [("A.md", "Text."), ("a.md", "Text."), ("b.md", "Text.")]
    assert [row.content for row in await notes.listed(db, world.operator, GUILD, world.readers, content=False)] == [None]
    assert await notes.listed(db, world.operator, AGENT, world.ada.id) == []
    assert await notes.listed(db, world.operator, ORG) == []


async def test_listing_refuses(db: Database, world: World) -> None:
    with pytest.raises(Forbidden, match="notes is for operators"):
        await notes.listed(db, world.ada, ORG)
    with pytest.raises(NotFound, match="unknown guild nowhere"):
        await notes.listed(db, world.operator, GUILD, "nowhere")
    with pytest.raises(NotFound, match="unknown agent"):
        await notes.listed(db, world.stranger, AGENT, world.ada.id)


async def test_of_owners_holds_what_the_caller_reads(db: Database, world: World) -> None:
    owners = {world.org: ORG, world.writers: GUILD, world.readers: GUILD, world.ada.id: AGENT, world.bob.id: AGENT}
    for owner, level in owners.items():
        await put(db, world, level, owner)

    async def seen(caller: Caller) -> set[str]:
        found = await notes.of_owners(db, caller, list(owners))
        assert all([row.key for row in rows] == ["plan.md"] for rows in found.values())
        return set(found)

    assert await seen(world.operator) == set(owners)
    assert await seen(world.ada) == {world.org, world.writers, world.ada.id}
    assert await seen(without(world.ada, "read_guild")) == {world.org, world.ada.id}
    assert await seen(without(world.bob, "read_org")) == {world.writers, world.bob.id}
    assert await seen(world.loner) == {world.org}
    assert await seen(world.stranger) == set()
    assert await seen(world.foreign_agent) == set()


def crossed(world: World) -> list[tuple[str, str, str]]:
    ada = world.ada.id
    table = collection_path(world.org, "leads")
    return [
        (agent_path(world.org, ada, "task.md"), "State", "the operator saves it"),
        (agent_path(world.org, ada, "memory.md"), "memory_write", "memory_write"),
        (agent_path(world.org, ada, "scripts/run.py"), "script_get", "script_delete"),
        (table, "record_search and record_list", "collections are managed by the operator"),
        (record_path(world.org, "leads", 7), "record_list", "record_remove"),
    ]


async def test_other_families_name_the_right_tool(db: Database, world: World) -> None:
    table = await add_collection(db, world.operator, "leads", [column("name")])
    await grant(db, world.operator, table, subject_type="AGENT", subject=world.ada.id, mode="READ")
    before = await everything(db)
    for caller in (world.operator, world.ada):
        for path, get, delete in crossed(world):
            with pytest.raises(Unprocessable, match=get):
                await notes.get(db, caller, path)
            with pytest.raises(Unprocessable, match=delete):
                await notes.delete(db, caller, path)
    for path, _, _ in crossed(world):
        with pytest.raises(Unprocessable, match=r"cannot be moved|script_write|rename|stays"):
            await notes.move(db, world.operator, path, ORG, "new.md")
    assert await everything(db) == before


async def test_other_families_of_others_do_not_exist(db: Database, world: World) -> None:
    await add_collection(db, world.operator, "leads", [column("name")])
    for call in (notes.get, notes.delete):
        for path, _, _ in crossed(world):
            for caller in (world.bob, world.foreign_agent, world.stranger):
                with pytest.raises(NotFound, match="unknown"):
                    await call(db, caller, path)
        with pytest.raises(NotFound, match="unknown collection nothing"):
            await call(db, world.operator, collection_path(world.org, "nothing"))


async def test_only_an_operator_opens_the_archive(db: Database, world: World) -> None:
    path = agent_path(world.org, world.ada.id, "history-archive/20261130T080000Z-agent.md")
    async with db.write() as tx:
        await tx.execute(
            "INSERT INTO memory_revisions VALUES ($1, $2, 3, '20261130T080000Z', 'agent', 'Old.', now(), 'AGENT', $2, 'Ada')",
            world.org,
            world.ada.id,
        )
    archived = await notes.get(db, world.operator, path)
    assert (archived.content, archived.version, archived.display_path, archived.level) == ("Old.", 3, path, "AGENT")
    for caller in (world.ada, world.bob):
        for call in (notes.get, notes.delete):
            with pytest.raises(NotFound, match="unknown note"):
                await call(db, caller, path)
    with pytest.raises(NotFound):
        await notes.get(db, world.operator, path.replace("agent.md", "operator.md"))
    with pytest.raises(Unprocessable, match="never deleted"):
        await notes.delete(db, world.operator, path)


@pytest.mark.parametrize("path", ["", "plan.md", "/etc/passwd", "org/x/y/z.md", "org//a.md", "x\x00y", "\ud800"])
async def test_what_is_no_path(db: Database, world: World, path: str) -> None:
    for call in (notes.get, notes.delete):
        with pytest.raises(MunimentError) as refusal:
            await call(db, world.operator, path)
        assert refusal.value.status == 422
