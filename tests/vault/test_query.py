import sqlite3

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vault.errors import QueryInvalid
from vault.index.query import MOST_GROUPS, MOST_TERMS, All, AnyOf, Term, parse_query
from vault.index.sql import quoted

A, B, C = Term("a"), Term("b"), Term("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("  a\t", A),
        ("a b", All((A, B))),
        ("a AND b", All((A, B))),
        ("a and b", All((A, Term("and"), B))),
        ("a OR b", AnyOf((A, B))),
        ("a OR b c", AnyOf((A, All((B, C))))),
        ("a NOT b", All((A,), (B,))),
        ("a AND NOT b", All((A,), (B,))),
        ("a NOT b c", All((A, C), (B,))),
        ("a NOT b OR c", AnyOf((All((A,), (B,)), C))),
        ("(a OR b) c", All((AnyOf((A, B)), C))),
        ("a NOT (b OR c)", All((A,), (AnyOf((B, C)),))),
        ("((a))", A),
        ('"a b" c', All((Term("a b"), C))),
        ('("a b")', Term("a b")),
        ('a"b"', All((A, B))),
        ('"say ""a"" b"', Term('say "a" b')),
        ('"AND"', Term("AND")),
        ("multi-agent", Term("multi-agent")),
        ("title:x", Term("title:x")),
        ("don't", Term("don't")),
        ("f(x)", Term("f(x)")),
        ("(f(x))", Term("f(x)")),
        ("f()", Term("f()")),
        ("a)", Term("a)")),
        (":-(", Term(":-(")),
        ("a*", Term("a*")),
        ("^a + {b} NEAR(c)", All((Term("^a"), Term("+"), Term("{b}"), Term("NEAR(c)")))),
        ("cafe\u0301", Term("caf\u00e9")),
        ("a\u3000b", All((A, B))),
    ],
)
def test_a_query_is_read_as(text: str, tree: object) -> None:
    assert parse_query(text).root == tree


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it holds no word to look for"),
        ("  \n", "it holds no word to look for"),
        ("AND", "it holds no word to look for"),
        ("()", "it holds no word to look for"),
        ("a AND", "it ends where a word is expected"),
        ("a OR", "it ends where a word is expected"),
        ("a NOT", "it ends where a word is expected"),
        ("AND a", 'AND stands where a word is expected; write "AND" in quotes to search for it'),
        ("NOT a", 'NOT stands where a word is expected; write "NOT" in quotes to search for it'),
        ("a OR NOT b", 'NOT stands where a word is expected; write "NOT" in quotes to search for it'),
        ("a AND OR b", 'OR stands where a word is expected; write "OR" in quotes to search for it'),
        ("a ()", "a word is missing before a closing parenthesis"),
        ("(a", "a parenthesis is not closed; put it in quotes to search for it"),
        ("a )", "a parenthesis closes nothing"),
        ('"a', 'a quote is not closed; write "" for a quote inside quotes'),
        ('a ""', "there is nothing between two quotes"),
        ("a\0b", "it holds a character that no text can hold"),
        ("a\ud800b", "it holds a character that no text can hold"),
        ("a" * 2001, "it is longer than 2000 characters"),
        ("a " * (MOST_TERMS + 1), f"it has more than {MOST_TERMS} words"),
        ("(" * (MOST_GROUPS + 1) + "a" + ")" * (MOST_GROUPS + 1), f"more than {MOST_GROUPS} parentheses are open"),
    ],
)
def test_a_query_that_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(QueryInvalid) as caught:
        parse_query(text)
    assert caught.value.problems == (f"the query cannot be read: {why}",)


def test_only_what_is_wanted_counts_for_the_rank() -> None:
    assert parse_query("a NOT b OR a (c NOT a)").wanted == (A, C)


SYNTAX = st.text(alphabet=st.sampled_from(list('ab ANDORT"()*:^-+{}\u4e1c\u00e9\0')), max_size=40)


@given(SYNTAX | st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryInvalid:
        return
    assert query.wanted
    assert all(term.text.strip() for term in query.wanted)


@given(st.text(min_size=1, max_size=30))
def test_fts5_takes_every_quoted_text_as_plain_text(text: str) -> None:
    assume("\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    connection.execute("INSERT INTO t VALUES ('nothing here')")
    connection.execute("SELECT count(*) FROM t WHERE t MATCH ?", [quoted(text)]).fetchone()
    connection.close()


WORDS = st.text(alphabet="abcxyz-'.:*", min_size=1, max_size=8)
TREES = st.recursive(
    WORDS.map(Term),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda options: AnyOf(tuple(options)))
        | st.tuples(st.lists(inner, min_size=1, max_size=3), st.lists(inner, min_size=1, max_size=2)).map(
            lambda parts: All(tuple(parts[0]), tuple(parts[1]))
        )
    ),
    max_leaves=8,
)


def written(node: object) -> str:
    if isinstance(node, Term):
        return node.text
    if isinstance(node, AnyOf):
        return "(" + " OR ".join(map(written, node.options)) + ")"
    assert isinstance(node, All)
    return "(" + " AND ".join(map(written, node.wanted)) + "".join(f" NOT {written(child)}" for child in node.unwanted) + ")"


@given(TREES)
def test_a_written_tree_is_read_back(tree: object) -> None:
    assert parse_query(written(tree)).root == tree
