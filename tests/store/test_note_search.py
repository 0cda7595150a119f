"""Finding notes: the grammar, the order, the snippets, and that nobody finds what they may not read."""

import asyncio
from dataclasses import replace

import pytest

from models.errors import Unprocessable
from models.kinds import NoteLevel
from store import note_search, notes
from store.database import Database
from store.query import parse
from tests.store.rows import add_collection, add_records, column
from tests.world import World

AGENT, GUILD, ORG = NoteLevel.AGENT, NoteLevel.GUILD, NoteLevel.ORG


async def keep(db: Database, world: World, **contents: str) -> None:
    for name, content in contents.items():
        await notes.write(db, world.operator, ORG, f"{name.replace('_', '-')}.md", content)


async def found(db: Database, world: World, query: str) -> list[str]:
    return [hit.key.removesuffix(".md") for hit in await note_search.find(db, world.operator, query)]


async def test_the_grammar(db: Database, world: World) -> None:
    await keep(db, world, one="The red kite rises.", two="A blue kite falls.", three="Nothing flies here.")
    assert await found(db, world, "red kite") == ["one"]
    assert set(await found(db, world, "kite")) == {"one", "two"}
    assert set(await found(db, world, "red OR blue")) == {"one", "two"}
    assert await found(db, world, '"blue kite"') == ["two"]
    assert await found(db, world, '"kite blue"') == []
    assert await found(db, world, "kite -red") == ["two"]
    assert await found(db, world, "-kite") == ["three"]
    assert await found(db, world, "othi") == ["three"]
    assert await found(db, world, "KITE -RED") == ["two"]
    assert await found(db, world, "kiet") == []
    assert await found(db, world, "100%") == []


async def test_accents_compare_in_one_form(db: Database, world: World) -> None:
    await keep(db, world, one="Cafe\N{COMBINING ACUTE ACCENT} culture")
    assert await found(db, world, "caf\N{LATIN SMALL LETTER E WITH ACUTE}") == ["one"]
    assert await found(db, world, "CAFE\N{COMBINING ACUTE ACCENT} culture") == ["one"]


# What PostgreSQL's parser would read again from each of its characters, for minutes.
@pytest.mark.parametrize("run", ["<!--", "a_b", "/~", "./", "e_", "Zm9v_YmFy-"])
async def test_the_words_beside_long_runs_are_found(db: Database, world: World, run: str) -> None:
    filling = run * (200_000 // len(run))
    await keep(db, world, long=f"kite {filling} gale", short="kite")
    assert await found(db, world, "kite gale") == ["long"]
    assert set(await found(db, world, "kite")) == {"long", "short"}


async def test_words_within_a_comment_are_found(db: Database, world: World) -> None:
    await keep(db, world, one="Red <!-- blue kite --> gale", two="Red")
    assert await found(db, world, '"blue kite" gale') == ["one"]


async def test_the_key_is_searched_and_counts_more(db: Database, world: World) -> None:
    await keep(db, world, release_plan="Nothing.", other="Once a plan, always a plan, and a plan again.", third="No.")
    assert await found(db, world, "plan") == ["release-plan", "other"]
    assert await found(db, world, "release plan") == ["release-plan"]
    assert await found(db, world, "ease-pl") == ["release-plan"]
    assert await found(db, world, "release-plan.md") == ["release-plan"]


async def test_better_matches_come_first_then_newer_ones(db: Database, world: World) -> None:
    await keep(db, world, weak="kite", strong="kite kite kite", older="gale", newer="gale")
    assert await found(db, world, "kite") == ["strong", "weak"]
    assert await found(db, world, "gale") == ["newer", "older"]
    await keep(db, world, older="gale")
    assert await found(db, world, "gale") == ["older", "newer"]


async def test_a_hit_says_where_and_in_which_version(db: Database, world: World) -> None:
    await notes.write(db, world.ada, GUILD, "plan.md", "A kite.")
    note = await notes.write(db, world.ada, GUILD, "plan.md", "A red kite.")
    (hit,) = await note_search.find(db, world.bob, "kite")
    assert (hit.display_path, hit.level, hit.key) == (note.display_path, "GUILD", "plan.md")
    assert (hit.snippet, hit.version, hit.updated_at) == ("A red kite.", 2, note.updated_at)


async def test_only_what_the_caller_reads(db: Database, world: World) -> None:
    owners = {"org": (ORG, None), "writers": (GUILD, world.writers), "readers": (GUILD, world.readers), "ada": (AGENT, world.ada.id)}
    for name, (level, owner) in owners.items():
        await notes.write(db, world.operator, level, f"{name}.md", "A kite.", owner)
    await notes.write(db, world.stranger, ORG, "foreign.md", "A kite.")
    blind = replace(world.ada, read_guild=False, read_org=False)
    expected = [
        (world.operator, None, {"org", "writers", "readers", "ada"}),
        (world.operator, GUILD, {"writers", "readers"}),
        (world.ada, None, {"org", "writers", "ada"}),
        (world.ada, ORG, {"org"}),
        (world.ada, AGENT, {"ada"}),
        (world.bob, None, {"org", "writers"}),
        (world.cyd, None, {"org", "readers"}),
        (world.loner, None, {"org"}),
        (world.loner, GUILD, set()),
        (blind, None, {"ada"}),
        (blind, ORG, set()),
        (world.stranger, None, {"foreign"}),
        (world.foreign_agent, None, {"foreign"}),
    ]
    for caller, level, names in expected:
        hits = await note_search.find(db, caller, "kite", level)
        assert {hit.key.removesuffix(".md") for hit in hits} == names


async def test_notes_alone_are_found(db: Database, world: World) -> None:
    table = await add_collection(db, world.operator, "kites", [column("name")])
    await add_records(db, world.operator, table, [{"name": "kite"}])
    await keep(db, world, gone="A kite.")
    (hit,) = await note_search.find(db, world.operator, "kite")
    await notes.delete(db, world.operator, hit.display_path)
    assert await found(db, world, "kite") == []


async def test_limit(db: Database, world: World) -> None:
    await asyncio.gather(*(notes.write(db, world.operator, ORG, f"{n}.md", "A kite.") for n in range(25)))
    assert len(await note_search.find(db, world.operator, "kite")) == 20
    assert len(await note_search.find(db, world.operator, "kite", None, 100)) == 25
    assert len(await note_search.find(db, world.operator, "kite", None, 1)) == 1
    for limit in (0, -1, 101):
        with pytest.raises(Unprocessable, match=f"limit must be from 1 to 100; got {limit}"):
            await note_search.find(db, world.operator, "kite", None, limit)


@pytest.mark.parametrize("query", ["", "   ", "a\x00", "\ud800", "x" * 4_001])
async def test_refused_queries(db: Database, world: World, query: str) -> None:
    with pytest.raises(Unprocessable):
        await note_search.find(db, world.operator, query)


async def snippet(db: Database, world: World, content: str, query: str) -> str:
    await keep(db, world, note=content)
    (hit,) = await note_search.find(db, world.operator, query)
    return str(hit.snippet)


async def test_a_snippet_shows_the_match_wherever_it_is(db: Database, world: World) -> None:
    far = "word " * 10_000 + "needlework and\n\tmore " + "tail " * 100
    for query in ("needlework", "eedlewor", '"needlework and more"', "more needlework", "absent OR needlework", "NEEDLEWORK -absent"):
        shown = await snippet(db, world, far, query)
        assert "needlework and more tail" in shown
        assert shown.startswith("…")
        assert shown.endswith("…")
        assert len(shown) <= 242


async def test_a_short_note_is_shown_whole(db: Database, world: World) -> None:
    assert await snippet(db, world, "# Title\n\nSome *text* & <b>more</b>.", "some") == "# Title Some *text* & <b>more</b>."
    assert await snippet(db, world, "Only the key matches.", "note.md") == "Only the key matches."
    assert await snippet(db, world, "", "note") == ""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Kite", ["kite"]),
        ("a.b%c", ["a.b%c"]),
        ("red kite -blue", ["red", "kite"]),
        ('(x) OR "Red Kite" -"no such"', ["red kite", "x", "red", "kite"]),
        ("- ! &", []),
        ("x-ray b", ["x-ray", "b", "x", "ray"]),
        ('"unbalanced', ["unbalanced"]),
    ],
)
def test_terms_that_a_snippet_may_show(query: str, expected: list[str]) -> None:
    assert note_search.terms(parse(query)) == expected
