from dataclasses import replace
from pathlib import Path

import pytest

from tests.vault.index_vault import FileVault
from vault.errors import QueryInvalid
from vault.index import SearchFilters
from vault.scan import RecordKey

NONE = SearchFilters()


@pytest.fixture
def vault(tmp_path: Path) -> FileVault:
    return FileVault(tmp_path)


def found(vault: FileVault, query: str, filters: SearchFilters = NONE, limit: int = 20) -> list[str]:
    return [hit.key.slug for hit in vault.index.search(query, filters, limit)]


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ("cafe", {"french"}),
        ("CAFÉ", {"french"}),
        ("running", {"french"}),  # stemmed: runs
        ("multi-agent", {"agents"}),
        ("don't", {"agents"}),
        ("a:b", {"agents"}),
        ("東京", {"tokyo"}),
        ("京都", {"tokyo"}),
        ("東", {"tokyo"}),
        ("東京都庁", {"tokyo"}),
        ("aurant", {"french"}),  # inside of a word
        ("->", {"agents"}),
        ("restaurant OR 東京", {"french", "tokyo"}),
        ("restaurant 東京", set()),
        ("the NOT restaurant", {"agents"}),
        ("the NOT aurant", {"french", "agents"}),  # a word is excluded as a word
        ("庁 NOT 東京", set()),
        ('"the café"', {"french"}),
        ('"café the"', set()),
        ("(restaurant OR agents) NOT runs", {"agents"}),
        ("kitchen", {"french"}),  # a tag
        ("tokyo", {"tokyo"}),  # the slug
    ],
)
def test_a_query_finds(vault: FileVault, query: str, slugs: set[str]) -> None:
    vault.write("french", "The café and the restaurant; it runs well", tags=("kitchen",))
    vault.write("agents", "the multi-agent loop, and don't forget a:b -> c, agents")
    vault.write("tokyo", "会議は東京都庁で行う")
    assert set(found(vault, query)) == slugs


def test_a_query_that_cannot_be_read_searches_nothing(vault: FileVault) -> None:
    vault.write("one", "text")
    with pytest.raises(QueryInvalid):
        vault.index.search("NOT text", NONE)
    with pytest.raises(QueryInvalid):
        vault.index.search("", NONE)


def test_title_before_body_before_inside_of_words(vault: FileVault) -> None:
    vault.write("inside", "the overlocking of things", updated="2026-03-01T00:00:00.000Z")
    vault.write("body", "a lock in the body")
    vault.write("title", "nothing", title="lock")
    for number in range(5):
        vault.write(f"other-{number}", "another text altogether")
    assert found(vault, "lock") == ["title", "body", "inside"]
    assert found(vault, "lock", limit=1) == ["title"]


def test_salience_multiplies_the_rank(vault: FileVault) -> None:
    vault.write("good", "deploy on friday")
    vault.write("stale", "deploy on friday", salience=0.25, flagged=True, updated="2026-03-01T00:00:00.000Z")
    good, stale = vault.index.search("deploy", NONE)
    assert (good.key.slug, stale.key.slug, stale.flagged) == ("good", "stale", True)
    assert stale.rank == pytest.approx(good.rank / 4)


def test_filters_narrow(vault: FileVault) -> None:
    vault.write("t", "word", kind="trap", tags=("Net", "db"), path_patterns=("src/api/**", "*.sql"))
    vault.write("d", "word", kind="decision", status="archived", created="2026-02-01T00:00:00.000Z")
    vault.write("s", "word", kind="scratch", subdir="scratch", expires_at="2026-01-10T00:00:00.000Z")
    vault.write("o", "word", project="other")
    base = SearchFilters(projects=("p",), now="2026-01-09T00:00:00.000Z")

    def slugs(**changes: object) -> set[str]:
        return set(found(vault, "word", replace(base, **changes)))

    assert slugs() == {"t", "d", "s"}
    assert slugs(projects=()) == {"t", "d", "s", "o"}
    assert slugs(projects=("other",)) == {"o"}
    assert slugs(kinds=("trap", "decision")) == {"t", "d"}
    assert slugs(exclude_kinds=("scratch",)) == {"t", "d"}
    assert slugs(statuses=("archived",)) == {"d"}
    assert slugs(tags=("net",)) == {"t"}
    assert slugs(tags=("net", "ui")) == set()
    assert slugs(path="src/api/users.py") == {"t"}
    assert slugs(path="src") == {"t"}
    assert slugs(path="deep/down/x.sql") == {"t"}
    assert slugs(path="src/web/x.py") == set()
    assert slugs(now="2026-01-10T00:00:00.000Z") == {"t", "d"}
    assert slugs(now="2026-01-10T00:00:00.000Z", include_expired=True) == {"t", "d", "s"}
    assert slugs(as_of="2026-01-15T00:00:00.000Z", now="2027-01-01T00:00:00.000Z") == {"t"}
    assert slugs(as_of="2026-01-05T00:00:00.000Z", now="2027-01-01T00:00:00.000Z") == {"t", "s"}


def test_a_hit_tells_all_about_its_record(vault: FileVault) -> None:
    vault.write("x", "lead " * 40 + "\n\nneedle\nin hay" + " trail" * 40, title="Title", tags=("a",), record_id="other-id")
    (hit,) = vault.index.search("needle", NONE)
    assert hit.key == RecordKey("p", "traps", "x")
    assert (hit.record_id, hit.kind, hit.status, hit.title, hit.tags) == ("other-id", "trap", "active", "Title", ("a",))
    assert (hit.created, hit.updated, hit.expires_at, hit.expired) == (
        "2026-01-01T00:00:00.000Z",
        "2026-01-02T00:00:00.000Z",
        None,
        False,
    )
    assert hit.snippet.startswith("…")
    assert "needle in hay trail" in hit.snippet
    assert len(hit.snippet) <= 242


def test_a_snippet_of_a_text_without_spaces_is_cut_around_the_match(vault: FileVault) -> None:
    vault.write("x", "あ" * 5000 + "東京" + "い" * 5000)
    (hit,) = vault.index.search("東京", NONE)
    assert hit.snippet == "…" + "あ" * 60 + "東京" + "い" * 178 + "…"


def test_an_id_is_found_and_a_vault_that_is_not_there_holds_nothing(vault: FileVault, tmp_path: Path) -> None:
    vault.write("x", "text", record_id="trap-20260101")
    assert found(vault, "trap-20260101") == ["x"]
    missing = FileVault(tmp_path / "missing")
    assert missing.index.search("text", NONE) == []
    assert not (tmp_path / "missing").exists()


def test_a_long_text_full_of_matches_is_answered_with_its_first(vault: FileVault) -> None:
    vault.write("x", "lead " * 40 + "deploying word " * 200_000)
    (hit,) = vault.index.search("deployed", NONE)
    assert hit.snippet.startswith("…")
    assert "lead deploying word deploying" in hit.snippet
