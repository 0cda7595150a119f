from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault.errors import UnreadableRecord
from vault.frontmatter import create, decode, edit, parse, readable_body, same

SOURCE = """---
# a comment
id: x          # why not
nr: 012
at: 10:00
day: 2026-03-01
'quoted':   "yes"
tags:
    - a        # first
    - b

# before the list
list:
- one
- two
flow: [1,  2]
text: |
  # no comment
  two lines

nested: {a: {b: [c]}}
---
body
---
more
"""


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_values_are_read_as_people_mean_them() -> None:
    data = parse(SOURCE, "x.md").data
    assert data == {
        "id": "x",
        "nr": "012",
        "at": "10:00",
        "day": "2026-03-01",
        "quoted": "yes",
        "tags": ["a", "b"],
        "list": ["one", "two"],
        "flow": [1, 2],
        "text": "# no comment\ntwo lines\n",
        "nested": {"a": {"b": ["c"]}},
    }


def test_the_body_keeps_its_dashes() -> None:
    assert readable_body(parse(SOURCE, "x.md")) == "body\n---\nmore"


@pytest.mark.parametrize(
    ("changes", "gone", "come"),
    [
        ({"id": "y"}, ["id: x          # why not"], ["id: 'y'          # why not"]),
        ({"nr": 13}, ["nr: 012"], ["nr: 13"]),
        ({"nr": "012"}, [], []),
        ({"tags": ["a", "b", "c"]}, [], ["    - c"]),
        ({"tags": ["b"]}, ["    - a        # first"], []),
        ({"list": ["two", "three"]}, ["- one"], ["- three"]),
        ({"flow": [1, 2, 3]}, ["flow: [1,  2]"], ["flow: [1, 2, 3]"]),
        ({"quoted": None}, ["'quoted':   \"yes\""], []),
        ({"text": "short"}, ["text: |", "  # no comment", "  two lines"], ["text: short"]),
        ({"nested": {"z": 1}}, ["nested: {a: {b: [c]}}"], ["nested: {z: 1}"]),
        ({"new": "10:30"}, [], ["new: '10:30'"]),
        ({"day": "2026-04-01"}, ["day: 2026-03-01"], ["day: '2026-04-01'"]),
    ],
)
def test_an_edit_changes_only_the_lines_that_it_means(changes: Any, gone: Any, come: Any) -> None:
    document = parse(SOURCE, "x.md")
    after = edit(document, changes)
    assert lines_changed(SOURCE, after) == (gone, come)
    assert parse(after, "x.md").data == {key: value for key, value in (document.data | changes).items() if value is not None}


def test_an_edit_without_changes_is_byte_for_byte_the_same() -> None:
    document = parse(SOURCE, "x.md")
    assert edit(document, {}) == SOURCE
    assert edit(document, dict(document.data), readable_body(document)) == SOURCE


def test_crlf_and_bom_stay() -> None:
    source = "\ufeff" + SOURCE.replace("\n", "\r\n")
    document = parse(source, "x.md")
    after = edit(document, {"new": ["p", "q"], "tags": ["a", "b", "c"]}, "line one\nline two")
    assert after.startswith("\ufeff---\r\n# a comment\r\n")
    assert after.count("\n") == after.count("\r\n")
    assert after.endswith("---\r\nline one\r\nline two\r\n")
    assert parse(after, "x.md").data["new"] == ["p", "q"]


def test_a_body_is_replaced_and_the_frontmatter_stays() -> None:
    after = edit(parse(SOURCE, "x.md"), {}, "new body")
    assert after == SOURCE.split("---\nbody", maxsplit=1)[0] + "---\nnew body\n"


def test_a_flow_mapping_is_edited_in_place() -> None:
    document = parse("---\n{id: x, list: [1], last: 'z'}  # all on one line\n---\nb\n", "x.md")
    assert (
        edit(document, {"id": "y: z", "more": "#1", "last": None})
        == '---\n{id: "y: z", list: [1], "more": "#1"}  # all on one line\n---\nb\n'
    )


def test_an_anchor_that_others_use_is_never_broken() -> None:
    document = parse("---\na: &x one\nb: *x\n---\nt\n", "x.md")
    with pytest.raises(UnreadableRecord) as caught:
        edit(document, {"a": "two"}, where="traps/t.md")
    assert "traps/t.md" in str(caught.value)
    assert edit(document, {"b": "two"}) == "---\na: &x one\nb: two\n---\nt\n"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts.filter(str.strip), inner, max_size=4), max_leaves=8
)
mappings = st.dictionaries(texts.filter(str.strip), values, max_size=6)


@settings(max_examples=300, deadline=None)
@given(mappings, texts)
def test_whatever_is_written_is_read_again(data: Any, body: Any) -> None:
    wanted = {key: value for key, value in data.items() if value is not None}
    document = parse(create(data, body), "x.md")
    assert same(document.data, wanted)
    assert document.body.removesuffix("\n") == body.removesuffix("\n")


@settings(max_examples=300, deadline=None)
@given(mappings, mappings, st.booleans())
def test_edits_mean_what_they_say_and_touch_no_other_key(data: Any, changes: Any, crlf: Any) -> None:
    text = create(data, "body")
    if crlf:
        text = text.replace("\n", "\r\n") if all("\n" not in str(value) and "\r" not in str(value) for value in data.values()) else text
    document = parse(text, "x.md")
    after = parse(edit(document, changes), "x.md")
    wanted = {key: value for key, value in (document.data | changes).items() if value is not None}
    assert same(after.data, wanted)
    assert after.body == document.body


@settings(max_examples=200, deadline=None)
@example(before=[], after=["?0", "-a", "*b", "&c", "!d", "%e", "@f", "`g", "|h", ">i", "a?b", "true", "1", "...", "---"])
@given(st.lists(texts, max_size=5), st.lists(texts, max_size=5))
def test_lists_are_edited_item_by_item(before: Any, after: Any) -> None:
    document = parse(create({"id": "x", "tags": before, "last": 1}, "b"), "x.md")
    assert parse(edit(document, {"tags": after}), "x.md").data == {"id": "x", "tags": after, "last": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no frontmatter", "does not start with a frontmatter block"),
        ("---\nid: x\n", "is not closed"),
        ("---\n- a\n---\n", "not a mapping"),
        ("---\nid: x\nid: y\n---\n", 'the key "id" appears twice (line 3)'),
        ("---\na: {b: 1, b: 2}\n---\n", 'the key "b" appears twice (line 2)'),
        ("---\na:\n\t- b\n---\n", "tabs cannot indent YAML (line 3"),
        ("---\na: [1\n---\n", "not valid YAML"),
        ("---\na: *nobody\n---\n", "names no finished anchor"),
        ("---\na: &a [*a]\n---\n", "names no finished anchor"),
        ("---\n? [1, 2]\n: x\n---\n", "a key is a list or a mapping"),
        ("---\na: \x01\n---\n", "a character that YAML does not allow"),
        ("---\n" + "\n".join(f"key{number}: value" for number in range(100_000)) + "\n---\n", "larger than 256 KiB"),
        ("---\na: " + "[" * 5_000 + "\n---\n", "nest"),
        ("---\na: " + "{a: " * 70 + "1" + "}" * 70 + "\n---\n", "more than 60 levels"),
        (
            "---\n" + "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9) if n else '0, 0'}]" for n in range(20)) + "\n---\n",
            "more than 50,000 values once its aliases are followed",
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_bad_files_are_refused_with_their_name_and_reason(text: Any, why: Any) -> None:
    with pytest.raises(UnreadableRecord) as caught:
        parse(text, "traps/bad.md")
    assert str(caught.value).startswith("traps/bad.md: ")
    assert why in str(caught.value)


def test_invalid_utf8_and_oversized_files_are_refused() -> None:
    with pytest.raises(UnreadableRecord, match=r"traps/bad.md: the file is not UTF-8 \(byte 3\)"):
        decode(b"ab\xff", "traps/bad.md")
    with pytest.raises(UnreadableRecord, match="larger than 16 MiB"):
        decode(b"x" * (16 * 1024 * 1024 + 1), "traps/bad.md")


def test_aliases_in_reason_are_followed() -> None:
    assert parse("---\nbase: &b {x: 1}\nuse: *b\n---\n", "x.md").data == {"base": {"x": 1}, "use": {"x": 1}}
