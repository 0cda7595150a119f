"""Embed markup and its inlining, without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embeds import Embed, Foreign, Found, Key, Note, Table, can_be_embedded, inlined, markup, pieces, targets
from models.limits import EMBED_BYTES

BUDGET = "embeds inline at most 64 KB together"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("plain [[name]] prose", ["plain [[name]] prose"]),
        ("a ![[x.md]] b", ["a ", Embed("x.md"), " b"]),
        ("![[x.md]]![[ y.md\t]]", [Embed("x.md"), Embed("y.md")]),
        ("![[a]b[c].md]]", [Embed("a]b[c].md")]),
        ("![[x.md]]]", [Embed("x.md"), "]"]),
        ("![[[x.md]]", [Embed("[x.md")]),
        ("![[![[x.md]]", ["![[", Embed("x.md")]),
        ("![[x\ny.md]] ![[]] ![[x.md]", ["![[x\ny.md]] ![[]] ![[x.md]"]),
        ("!\\[[x.md]] ! [[x.md]]", ["!\\[[x.md]] ! [[x.md]]"]),
    ],
)
def test_markup(text: str, expected: list[str | Embed]) -> None:
    assert list(pieces(text)) == expected


@given(st.text(alphabet="![]a\n "))
def test_pieces_leave_nothing_out(text: str) -> None:
    parts = list(pieces(text))
    plain = "".join(part for part in parts if isinstance(part, str))
    assert all(part for part in parts if isinstance(part, str))
    assert len(text) >= len(plain) + sum(len(part.target) + 5 for part in parts if isinstance(part, Embed))
    assert not any("[[" in part.target or "]]" in part.target for part in parts if isinstance(part, Embed))


@given(st.text(alphabet="![]ab. \t\n"))
def test_what_can_be_embedded_is_what_its_markup_names(path: str) -> None:
    assert can_be_embedded(path) == (list(pieces(markup(path))) == [Embed(path)])


def shown(task: str, **found: Found) -> str:
    return inlined(task, {(None, target): what for target, what in found.items()})


def test_each_sort_of_target() -> None:
    found = {"n": Note("body", None), "t": Table("leads"), "f": Foreign()}
    assert shown("1 ![[n]] 2 ![[t]] 3 ![[f]] 4 ![[gone]] 5", **found) == (
        "1 body 2 leads 3 [cannot be embedded: f; only notes and collections can] 4 [missing: gone] 5"
    )


def test_one_nested_hop_and_cycles() -> None:
    found = {"a": Note("A(![[b]])", None), "b": Note("B(![[c]] ![[a]] ![[b]])", None), "c": Note("C", None)}
    deep = "[not inlined: c; embeds are followed one level deep]"
    assert shown("![[a]] ![[c]]", **found) == (f"A(B({deep} [not inlined: a; it embeds itself] [not inlined: b; it embeds itself])) C")
    assert shown("![[a]]", a=Note("x![[a]]y", None)) == "x[not inlined: a; it embeds itself]y"
    assert targets("![[a]] ![[b]] ![[a]]") == ["a", "b"]


def test_a_nested_embed_counts_by_the_right_of_who_wrote_it() -> None:
    found: dict[Key, Found] = {
        (None, "a"): Note("![[s]] ![[b]]", "ada"),
        (None, "s"): Note("secret", None),
        ("ada", "b"): Note("hers", None),
    }
    assert inlined("![[a]] ![[s]]", found) == "[missing: s] hers secret"


def test_the_budget_met_exactly() -> None:
    assert shown("![[a]]", a=Note("x" * EMBED_BYTES, None)) == "x" * EMBED_BYTES
    assert shown("![[a]]", a=Note("x" * (EMBED_BYTES + 1), None)) == "x" * EMBED_BYTES + f"\n[cut: a; {BUDGET}]"


def test_the_budget_is_for_all_inlined_text_together() -> None:
    note = Note("x" * 40_000, None)
    rest = "x" * (EMBED_BYTES - 40_000)
    task = "y" * 70_000 + "![[a]] ![[b]] ![[c]] ![[e]]![[t]]"
    assert shown(task, a=note, b=note, c=note, e=Note("", None), t=Table("leads")) == (
        "y" * 70_000 + "x" * 40_000 + f" {rest}\n[cut: b; {BUDGET}] [cut: c; {BUDGET}] leads"
    )
    assert shown("![[a]]", a=Note("![[n]]" + "x" * 40_000, None), n=note) == "x" * EMBED_BYTES + f"\n[cut: a; {BUDGET}]"
    assert shown("![[a]]", a=Note("![[n]]![[n]]-", None), n=note) == ("x" * EMBED_BYTES + f"\n[cut: n; {BUDGET}]\n[cut: a; {BUDGET}]")
    assert shown("![[a]]", a=Note(None, None)) == f"[cut: a; {BUDGET}]"


@given(st.integers(0, 3), st.sampled_from("é€\N{ROCKET}"))
def test_a_cut_never_splits_a_character(offset: int, character: str) -> None:
    text = "x" * offset + character * EMBED_BYTES
    body, _, mark = shown("![[a]]", a=Note(text, None)).partition("\n")
    assert text.startswith(body)
    assert mark == f"[cut: a; {BUDGET}]"
    assert EMBED_BYTES - len(character.encode()) < len(body.encode()) <= EMBED_BYTES


_BODIES = st.lists(st.sampled_from(["![[a]]", "![[b]]", "![[t]]", "![[gone]]", "words ", "x" * 30_000, "é" * 20_000]), max_size=6).map(
    "".join
)


@given(_BODIES, _BODIES, _BODIES)
def test_inlined_text_stays_within_the_budget(task: str, a: str, b: str) -> None:
    found = {"a": Note(a, None), "b": Note(b, None), "t": Table("leads")}
    marks = 200 * (1 + sum(isinstance(piece, Embed) for piece in pieces(task)))
    own = sum(len(piece.encode()) if isinstance(piece, str) else len("[missing: gone]") for piece in pieces(task))
    assert len(shown(task, **found).encode()) <= own + EMBED_BYTES + marks
