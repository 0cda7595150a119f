"""A record is found by its own words and phrases, whatever stands between them, and is not found where they are excluded."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.index_vault import FileVault
from vault.index import SearchFilters

WORDS = [
    "abc",
    "x9",
    "Straße",
    "Ελλάς",
    "Москва",
    "שלום",
    "العربية",
    "हिन्दी",
    "தமிழ்",
    "ภาษาไทย",
    "日本語",
    "한국어",
    "İstanbul",
    "cafe\u0301",
]
SYMBOLS = [chr(code) for code in range(32, 127) if not chr(code).isalnum()] + list("\t\n\u00a0—。、")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.data())
def test_a_record_is_found_by_its_words_and_phrases(words: list[str], data: st.DataObject) -> None:
    text = "".join(word + data.draw(st.text(SYMBOLS, min_size=1, max_size=2)) for word in words)
    start = data.draw(st.integers(0, len(words) - 1))
    phrase = words[start : start + 3]
    with TemporaryDirectory() as folder:
        vault = FileVault(Path(folder))
        vault.write("one", text, title="present")

        def found(query: str) -> bool:
            return bool(vault.index.search(query, SearchFilters(), 20))

        for query in (words[0], f"({words[0]} {words[-1]})", f'"{" ".join(phrase)}"', "/".join(phrase)):
            assert found(query), (query, text)
            assert not found(f"present NOT {query}"), (query, text)
