"""A text is found by its own words and phrases as a note, as a record and as a record of the vault, and by what excludes them it is not."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.clock import new_id
from models.kinds import NoteLevel
from store import note_search, notes, record_search, records
from store.database import Database
from tests.store.tables import add_table, column
from tests.vault.index_vault import FileVault
from tests.world import World
from vault.index import SearchFilters

WORDS = ["abc", "X9", "Straße", "Ελλάς", "Москва", "שלום", "العربية", "हिन्दी", "தமிழ்", "ภาษาไทย", "日本語", "한국어", "cafe\u0301"]
SYMBOLS = [chr(code) for code in range(32, 127) if not chr(code).isalnum()]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.data())
async def test_a_text_is_found_alike_everywhere(db: Database, world: World, words: list[str], data: st.DataObject) -> None:
    text = "present " + "".join(word + data.draw(st.text(SYMBOLS, min_size=1, max_size=2)) for word in words)
    phrase = words[: data.draw(st.integers(1, 3))]
    name = f"t{new_id()}"
    await add_table(db, world.operator, name, [column("text")])
    await records.add(db, world.operator, name, {"text": text})
    path = (await notes.write(db, world.operator, NoteLevel.ORG, f"{name}.md", text, owner_id=world.org)).display_path
    with TemporaryDirectory() as folder:
        vault = FileVault(Path(folder))
        vault.write("one", text)

        async def found(asked: str, in_vault: str) -> list[bool]:
            hits = await note_search.find(db, world.operator, asked, limit=100)
            return [
                path in [hit.display_path for hit in hits],
                len(await record_search.search(db, world.operator, query=asked, collection=name)) == 1,
                bool(vault.index.search(in_vault, SearchFilters(), 20)),
            ]

        for asked in (words[0], f'"{" ".join(phrase)}"', "/".join(phrase)):
            assert await found(asked, asked) == [True] * 3, (asked, text)
            assert await found(f"present -{asked}", f"present NOT {asked}") == [False] * 3, (asked, text)
        both = f"{words[0]} {words[-1]}"
        assert await found(both, both) == [True] * 3, text
    await notes.delete(db, world.operator, path)
