from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.conftest import SteppingClock
from vault import Vault
from vault.recurrence import THRESHOLD, Similar, classify, jaccard, words
from vault.schema import Invalid


@pytest.mark.parametrize(
    ("data", "body", "result"),
    [
        ({}, "text", {"layer": "other"}),
        ({"layer": "Frontend"}, "**Layer**: domain", {"layer": "web"}),
        ({}, "**Layer**: `Backend` / API\n**Module**: `auth/login`", {"layer": "application", "module": "auth/login"}),
        ({}, "- **layer:** infra", {"layer": "infrastructure"}),
        ({}, "**Layer**: n/a", {"layer": "other"}),
        ({"layer": "security"}, "**Layer**: tests", {"layer": "tests", "tags": ["security"]}),
        ({"layer": "Segurança", "tags": ["a"]}, "", {"layer": "other", "tags": ["a", "security"]}),
        ({}, "**Layer**: security / web", {"layer": "other", "tags": ["security"]}),
        (
            {"module": "m", "tags": ["security"], "layer": "security"},
            "**Module**: x",
            {"layer": "other", "module": "m", "tags": ["security"]},
        ),
    ],
)
def test_classification(data: Any, body: Any, result: Any) -> None:
    assert classify(data, body) == result


def test_an_unknown_layer_is_refused() -> None:
    with pytest.raises(Invalid):
        classify({"layer": "kitchen"}, "")
    with pytest.raises(Invalid):
        classify({}, "**Layer**: kitchen")


def test_overlap_is_of_sets_of_words() -> None:
    assert words("Über-Fix: the fix, THE fix!") == {"über", "fix", "the"}
    assert jaccard(words("a b c d e f g"), words("a b c d e f g h i j")) == 0.7
    assert jaccard(frozenset(), frozenset()) == 1.0
    assert jaccard(words("a"), frozenset()) == 0.0


bags = st.lists(st.sampled_from("abcdefghij"), max_size=12).map(" ".join)


@given(st.lists(bags, max_size=12), bags)
def test_the_quick_search_finds_what_comparing_all_finds(texts: Any, wanted: Any) -> None:
    similar: Similar[int] = Similar()
    for number, text in enumerate(texts):
        similar.put(number, text)
    expected = {number for number, text in enumerate(texts) if jaccard(words(text), words(wanted)) >= THRESHOLD}
    assert {number for _, number in similar.matches(wanted)} == expected


SEVEN = "one two three four five six seven"


def test_a_trap_that_comes_back_is_counted_where_it_is(vault: Any, clock: SteppingClock, events: Any) -> None:
    first = vault.upsert("p", "trap", SEVEN, slug="first", frontmatter={"pathPatterns": ["b", "a"]}).record
    clock.step(hours=1)
    result = vault.upsert("p", "trap", f"{SEVEN} eight nine ten", slug="second", frontmatter={"pathPatterns": ["a", "b"], "title": "New"})
    assert (result.created, result.recurrence, result.superseded) == (False, True, False)
    assert result.record.id == "first"
    assert result.record.body == SEVEN
    assert result.record.frontmatter == first.frontmatter | {"occurrences": 2, "lastSeen": "2026-06-04T13:00:00.000Z"}
    assert [path.name for path in (vault.root / "projects/p/traps").iterdir()] == ["first.md"]
    assert [event[3] for event in events] == ["CREATE", "UPDATE"]


@pytest.mark.parametrize(
    ("body", "extra", "arguments"),
    [
        (f"{SEVEN} eight nine ten eleven", {}, {}),
        (SEVEN, {"pathPatterns": ["a", "c"]}, {}),
        (SEVEN, {"supersedes": "nobody"}, {}),
        (SEVEN, {"allowDuplicate": True}, {}),
        (SEVEN, {}, {"allow_duplicate": True}),
    ],
)
def test_what_is_no_recurrence(vault: Any, body: Any, extra: Any, arguments: Any) -> None:
    vault.upsert("p", "trap", SEVEN, slug="first", frontmatter={"pathPatterns": ["a", "b"]})
    result = vault.upsert("p", "trap", body, slug="second", frontmatter={"pathPatterns": ["a", "b"], **extra}, **arguments)
    assert (result.created, result.recurrence) == (True, False)
    assert "allowDuplicate" not in result.record.frontmatter


def test_only_living_traps_of_the_project_recur(vault: Any) -> None:
    vault.upsert("p", "trap", SEVEN, slug="archived")
    vault.forget("p", "archived")
    vault.upsert("q", "trap", SEVEN, slug="elsewhere")
    vault.upsert("p", "decision", SEVEN, slug="no-trap")
    assert vault.upsert("p", "trap", SEVEN, slug="new").recurrence is False
    assert vault.upsert("p", "trap", SEVEN, slug="newer").record.id == "new"


def test_an_edit_of_the_same_trap_is_no_recurrence(vault: Any) -> None:
    vault.upsert("p", "trap", SEVEN, slug="first")
    result = vault.upsert("p", "trap", f"{SEVEN} eight", slug="first")
    assert (result.created, result.recurrence, result.record.frontmatter["occurrences"]) == (False, False, 1)


def test_a_trap_edited_by_hand_is_compared_as_it_is_now(vault: Any) -> None:
    vault.upsert("p", "trap", SEVEN, slug="first")
    path = vault.root / "projects/p/traps/first.md"
    path.write_text(path.read_text().replace(SEVEN, "something else altogether"))
    assert vault.upsert("p", "trap", SEVEN, slug="second").recurrence is False


def test_long_runs_of_blanks_take_linear_time(vault: Vault) -> None:
    run = " " * 200_000  # quadratic time would be minutes
    body = f"# Pool{run}leaks ##\n\n**Layer**: {run}web{run} / x{run}y\n**Module**:{run}pool{run}."
    record = vault.upsert("p", "trap", body, slug="x").record
    assert (record.title, record.frontmatter["layer"], record.frontmatter["module"][:4]) == ("Pool leaks", "web", "pool")
