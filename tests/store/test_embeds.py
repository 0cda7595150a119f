"""What a task shows of what it embeds, and how that keeps notes in their place."""

import pytest

from models.caller import Caller
from models.embeds import markup
from models.errors import Conflict, Forbidden, Unprocessable
from models.kinds import NoteLevel
from models.limits import EMBED_BYTES, NOTE_BYTES
from models.paths import agent_path, collection_path, note_path, record_path, script_path
from store import agents, embeds, notes, scripts, tasks
from store.database import Database
from store.notes.embedded import refuse_if_embedded
from tests.store.rows import add_collection, column, grant
from tests.store.statements import counted
from tests.store.trail import everything
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def keep(db: Database, world: World, key: str, content: str, *, by: Caller | None = None, level: NoteLevel = ORG) -> str:
    """Write a note; its markup."""
    caller = by or world.operator
    owner = None if caller.is_agent else {ORG: None, GUILD: world.writers, AGENT: world.ada.id}[level]
    return markup((await notes.write(db, caller, level, key, content, owner)).display_path)


def path_in(text: str) -> str:
    return text[3:-2]


async def refused(db: Database, world: World, path: str) -> list[str]:
    """The agents whose tasks hold a note at its path, or none."""
    async with db.write() as writer:
        try:
            await refuse_if_embedded(writer, world.org, path)
        except Conflict as refusal:
            found: list[str] = refusal.extensions["agents"]
            return found
    return []


async def test_notes_of_each_level_and_tables(db: Database, world: World) -> None:
    await add_collection(db, world.operator, "leads", [column("email")])
    parts = [await keep(db, world, "x.md", level.value, level=level) for level in (ORG, GUILD, AGENT)]
    task = f"{parts[0]} {parts[1]} {parts[2]} {markup(collection_path(world.org, 'leads'))}\r\n"
    assert await embeds.render(db, world.org, task) == "ORG GUILD AGENT leads\r\n"


async def test_what_cannot_be_shown_leaves_a_mark(db: Database, world: World) -> None:
    await scripts.write(db, world.ada, "a.py", "secret")
    theirs = (await notes.write(db, world.stranger, ORG, "x.md", "Theirs.")).display_path
    gone = path_in(await keep(db, world, "gone.md", "x"))
    await notes.delete(db, world.operator, gone)
    missing = [theirs, gone, note_path(world.org, GUILD, "no-guild", "x.md"), collection_path(world.org, "nothing")]
    others = [
        agent_path(world.org, world.ada.id, "task.md"),
        agent_path(world.org, world.ada.id, "memory.md"),
        script_path(world.org, world.ada.id, "a.py"),
        record_path(world.org, "leads", 1),
        "x.md",
    ]
    for path in missing:
        assert await embeds.render(db, world.org, markup(path)) == f"[missing: {path}]"
    for path in others:
        assert await embeds.render(db, world.org, markup(path)) == f"[cannot be embedded: {path}; only notes and collections can]"


async def test_one_nested_hop(db: Database, world: World) -> None:
    await add_collection(db, world.operator, "leads", [column("email")])
    third = await keep(db, world, "third.md", "3")
    first_path = note_path(world.org, ORG, world.org, "first.md")
    second = await keep(db, world, "second.md", f"2 {third} {markup(first_path)}")
    first = await keep(db, world, "first.md", f"1 {second} {markup(collection_path(world.org, 'leads'))}")
    deep, cycle = f"[not inlined: {path_in(third)}; embeds are followed one level deep]", f"[not inlined: {first_path}; it embeds itself]"
    assert await embeds.render(db, world.org, first) == f"1 2 {deep} {cycle} leads"


async def test_a_note_shows_no_more_than_its_writer_reads(db: Database, world: World) -> None:
    leads, _ = [await add_collection(db, world.operator, name, [column("email")]) for name in ("leads", "deals")]
    await grant(db, world.operator, leads, subject_type="AGENT", subject=world.ada.id, mode="READ")
    bobs = await keep(db, world, "secret.md", "Bob's", by=world.bob, level=AGENT)
    guilds = await keep(db, world, "g.md", "guild's", level=GUILD)
    orgs = await keep(db, world, "o.md", "organisation's")
    tables = " ".join(markup(collection_path(world.org, name)) for name in ("leads", "deals"))
    content = f"{bobs} {guilds} {orgs} {tables}"
    hers = await keep(db, world, "hers.md", content, by=world.ada, level=AGENT)
    no_table = f"[missing: {collection_path(world.org, 'deals')}]"
    assert await embeds.render(db, world.org, hers) == f"[missing: {path_in(bobs)}] guild's organisation's leads {no_table}"
    assert await embeds.render(db, world.org, hers + bobs) == f"[missing: {path_in(bobs)}] guild's organisation's leads {no_table}Bob's"
    await tasks.save(db, world.operator, world.ada.id, hers)
    assert await refused(db, world, path_in(bobs)) == []
    assert await refused(db, world, path_in(guilds)) == ["Ada"]
    await agents.update(db, world.operator, world.ada.id, read_guild=False, read_org=False)
    assert await refused(db, world, path_in(guilds)) == []
    nothing = f"[missing: {path_in(bobs)}] [missing: {path_in(guilds)}] [missing: {path_in(orgs)}]"
    assert await embeds.render(db, world.org, hers) == f"{nothing} leads {no_table}"
    await notes.write(db, world.operator, AGENT, "hers.md", content, world.ada.id)
    assert await embeds.render(db, world.org, hers) == "Bob's guild's organisation's leads deals"
    assert await refused(db, world, path_in(bobs)) == ["Ada"]


async def test_the_budget(db: Database, world: World) -> None:
    euro = "\N{EURO SIGN}"
    big = await keep(db, world, "big.md", euro * (NOTE_BYTES // 3))
    exact = await keep(db, world, "exact.md", "x" * EMBED_BYTES)
    cut = f"\n[cut: {path_in(big)}; embeds inline at most 64 KB together]"
    assert await embeds.render(db, world.org, big) == euro * (EMBED_BYTES // 3) + cut
    assert await embeds.render(db, world.org, f"{exact}.") == "x" * EMBED_BYTES + "."
    assert await embeds.render(db, world.org, exact + big) == "x" * EMBED_BYTES + cut.strip()


async def test_many_large_notes_are_not_all_read(db: Database, world: World) -> None:
    parts = [await keep(db, world, f"{n:02}.md", f"{n:02}" * (NOTE_BYTES // 2)) for n in range(12)]
    rendered = await embeds.render(db, world.org, "|".join(parts))
    first, *rest = rendered.split("|")
    assert first == "00" * (EMBED_BYTES // 2) + f"\n[cut: {path_in(parts[0])}; embeds inline at most 64 KB together]"
    assert rest == [f"[cut: {path_in(part)}; embeds inline at most 64 KB together]" for part in parts[1:]]


async def test_a_constant_number_of_statements(db: Database, world: World) -> None:
    with counted() as sent:
        assert await embeds.render(db, world.org, "![[x") == "![[x"
    assert sent == []
    small = await keep(db, world, "small.md", await keep(db, world, "inner.md", "i"))
    with counted() as sent:
        assert await embeds.render(db, world.org, small) == "i"
    assert len(sent) == 2
    inner = [await keep(db, world, f"i{n}.md", f"{n}") for n in range(30)]
    outer = [await keep(db, world, f"o{n}.md", f"{inner[n]}{inner[29 - n]}") for n in range(30)]
    with counted() as sent:
        assert await embeds.render(db, world.org, " ".join(outer)) == " ".join(f"{n}{29 - n}" for n in range(30))
    assert len(sent) == 2


async def test_odd_keys(db: Database, world: World) -> None:
    for key in (
        "a b.md",
        "[x] (y).md",
        "100%_.md",
        "a|b#c.md",
        "re\N{COMBINING ACUTE ACCENT}sume\N{COMBINING ACUTE ACCENT}.md",
        "$1.+*?^.md",
    ):
        part = await keep(db, world, key, "body")
        await tasks.save(db, world.operator, world.ada.id, f"![[ {path_in(part)} ]]")
        assert await embeds.render(db, world.org, f"![[ {path_in(part)}\t]]") == "body"
        assert await refused(db, world, path_in(part)) == ["Ada"]
        await keep(db, world, "carrier.md", f"see {part}")
        await tasks.save(db, world.operator, world.ada.id, markup(note_path(world.org, ORG, world.org, "carrier.md")))
        assert await refused(db, world, path_in(part)) == ["Ada"]
    for key in ("a]]b.md", "a[[b.md"):
        part = await keep(db, world, key, "body")
        await tasks.save(db, world.operator, world.ada.id, part)
        assert await refused(db, world, path_in(part)) == []
        assert "body" not in await embeds.render(db, world.org, part)


async def test_what_keeps_a_note_in_its_place(db: Database, world: World) -> None:
    third = await keep(db, world, "third.md", "3")
    second = await keep(db, world, "second.md", third)
    first = await keep(db, world, "first.md", second)
    prose = await keep(db, world, "prose.md", "p")
    for agent, task in ((world.ada, f"{first} [[{path_in(prose)}]]"), (world.bob, second), (world.cyd, "")):
        await tasks.save(db, world.operator, agent.id, task)
    assert await refused(db, world, path_in(first)) == ["Ada"]
    assert await refused(db, world, path_in(second)) == ["Ada", "Bob"]
    assert await refused(db, world, path_in(third)) == ["Bob"]
    assert await refused(db, world, path_in(prose)) == []
    await agents.delete(db, world.operator, world.bob.id)
    assert await refused(db, world, path_in(second)) == ["Ada"]
    assert await refused(db, world, path_in(third)) == []
    await tasks.save(db, world.operator, world.ada.id, "Nothing.")
    assert await refused(db, world, path_in(first)) == []


async def test_an_embedded_note_is_neither_deleted_nor_moved(db: Database, world: World) -> None:
    inner = await keep(db, world, "inner.md", "i", level=GUILD)
    outer = await keep(db, world, "outer.md", inner, level=GUILD)
    await tasks.save(db, world.operator, world.cyd.id, outer)
    await tasks.save(db, world.operator, world.bob.id, outer)
    before = await everything(db)
    for part in (inner, outer):
        path = path_in(part)
        for attempt in (
            notes.delete(db, world.operator, path),
            notes.delete(db, world.ada, path),
            notes.move(db, world.operator, path, GUILD, "moved.md"),
            notes.move(db, world.operator, path, ORG, "moved.md"),
        ):
            with pytest.raises(Conflict, match="is embedded in the tasks of Bob, Cyd; take it out there first") as refusal:
                await attempt
            assert refusal.value.extensions == {"agents": ["Bob", "Cyd"]}
    assert await everything(db) == before
    assert (await notes.write(db, world.ada, GUILD, "outer.md", "No more.")).version == 2
    assert (await notes.delete(db, world.ada, path_in(inner))).operation == "DELETE"
    await tasks.save(db, world.operator, world.cyd.id, "x")
    with pytest.raises(Conflict, match="is embedded in the task of Bob; take it out there first"):
        await notes.delete(db, world.ada, path_in(outer))
    await tasks.save(db, world.operator, world.bob.id, "x")
    moved = await notes.move(db, world.operator, path_in(outer), GUILD, "moved.md")
    assert (moved.key, moved.version) == ("moved.md", 3)


async def test_the_picker(db: Database, world: World) -> None:
    await add_collection(db, world.operator, "plans", [column("email")])
    await add_collection(db, world.stranger, "plans_of_theirs", [column("email")])
    note = await keep(db, world, "Plan.md", "x", level=GUILD)
    await keep(db, world, "other.md", "plan")
    await keep(db, world, "plan]].md", "x")
    await scripts.write(db, world.ada, "plan.md", "x")
    found = await embeds.embeddable(db, world.operator, " PLAN ", 20)
    table = collection_path(world.org, "plans")
    assert [tuple(row) for row in found] == [
        (path_in(note), "Plan.md", "NOTE", note),
        (table, "plans", "COLLECTION", markup(table)),
    ]
    assert [row.name for row in await embeds.embeddable(db, world.operator, None, 20)] == ["other.md", "Plan.md", "plans"]
    assert [row.name for row in await embeds.embeddable(db, world.operator, "", 2)] == ["other.md", "Plan.md"]
    assert await embeds.embeddable(db, world.operator, "%", 20) == []
    for limit in (0, 101, -1):
        with pytest.raises(Unprocessable, match="limit must be from 1 to 100"):
            await embeds.embeddable(db, world.operator, "x", limit)
    with pytest.raises(Unprocessable, match="NUL"):
        await embeds.embeddable(db, world.operator, "\x00", 20)
    with pytest.raises(Forbidden):
        await embeds.embeddable(db, world.ada, "x", 20)
