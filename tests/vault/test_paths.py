import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault.errors import PathRefused
from vault.paths import MAX_SLUG, check_name, derive_slug, name_problem, project_problem, slug_of_name, slugify
from vault.scan import is_record_name

GOOD = re.compile(r"[a-z0-9._-]*\Z")


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("  Hello,  World! ", "hello-world"),
        ("a--b__c..d", "a-b__c..d"),
        ("Café", "caf"),
        ("Cafe\u0301", "caf"),
        ("日本語", ""),
        ("--x--", "x"),
        ("v1.2_final", "v1.2_final"),
        ("a/b\\c", "a-b-c"),
    ],
)
def test_slugs(text: Any, slug: Any) -> None:
    assert slugify(text) == slug


@given(st.text())
def test_slugs_are_plain_and_stable(text: Any) -> None:
    slug = slugify(text)
    assert GOOD.match(slug)
    assert "--" not in slug
    assert slug == slug.strip("-")
    assert slugify(slug) == slug


@given(st.text(max_size=600))
@example("a.conflict")
@example("x.sync-conflict-1")
@example("...")
@example("." * 300 + "a" * 300)
def test_derived_slugs_always_name_a_record_or_nothing(text: Any) -> None:
    slug, _ = derive_slug(text)
    assert len(slug) <= MAX_SLUG
    assert slug == "" or is_record_name(f"{slug}.md")
    assert slug == "" or name_problem(slug) is None


def test_two_long_texts_never_share_a_slug() -> None:
    one, other = derive_slug("x" * 500 + "a")[0], derive_slug("x" * 500 + "b")[0]
    assert one != other
    assert len(one) == MAX_SLUG


def test_lost_letters_are_reported() -> None:
    assert derive_slug("日本 v1") == ("v1", True)
    assert derive_slug("Release v1!") == ("release-v1", False)


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/b", "a\\b", "..",
        ".", ".hidden", "a..b", "x\0y", "x\ny", "", "  ", "a\u2044b", "a\u2215b", "a\uff0fb", "a\uff3cb", "a\u29f8b",
        "\u2025", "\uff0e\uff0e", "\u2024.x", "a.conflict.b", "a.conflict", "a.sync-conflict-2", "x" * 201, "\ud800", "a\u2028b",
    ],
)  # fmt: skip
def test_names_that_could_leave_their_folder_are_refused(name: Any) -> None:
    with pytest.raises(PathRefused, match=r"^slug must "):
        check_name(name, "slug")


@pytest.mark.parametrize("name", ["TRAP-007", "log-2026-06-01T08-00-00-000Z-411-00aa11bb", "a b", "v1.2", "Ünïcode", "メモ1"])
def test_harmless_names_pass(name: Any) -> None:
    assert check_name(name, "id") == name


def test_a_name_without_usable_characters_is_refused() -> None:
    for name in ("日本語", "!!!", "x" * 161):
        with pytest.raises(PathRefused, match="can name a file"):
            slug_of_name(name, "slug")


@pytest.mark.parametrize("project", ["", "..", ".x", "a/b", "a..b", "é", "x" * 201, "a b", None, 3, "a\n"])
def test_project_ids_are_one_plain_segment(project: Any) -> None:
    assert project_problem(project) is not None
