"""What a typed query means: whatever a person types is an answer or a clear refusal."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.errors import Unprocessable
from models.limits import QUERY_CHARACTERS
from store import query
from store.database import Database
from store.query import parse, predicate, tsquery

E_ACUTE = "\N{LATIN SMALL LETTER E WITH ACUTE}"


@pytest.mark.parametrize(
    ("text", "words", "pattern"),
    [
        ("kite", "kite", "%kite%"),
        ("  kite \n", "kite", "%kite%"),
        ("50%_a\\b", "50%_a\\b", r"%50\%\_a\\b%"),
        ("e\N{COMBINING ACUTE ACCENT}", E_ACUTE, f"%{E_ACUTE}%"),
        ("two words", "two words", None),
        ("no\N{NO-BREAK SPACE}break", "no\N{NO-BREAK SPACE}break", None),
        ('"kite"', '"kite"', None),
        ('"unbalanced', '"unbalanced', None),
        ("-kite", "-kite", None),
        ("a-b", "a-b", "%a-b%"),
        ("a--b", "a--b", "%a--b%"),
        ("a !-(--b", "a !-b", None),
        ("a!--b", "a!-b", "%a!--b%"),
        ("a <!-- b", "a   b", None),
        ("x" * 256, "x" * 255 + " x", "%" + "x" * 256 + "%"),
        ("word " * 100, " ".join(["word"] * 100), None),
        ("a OR b " * 50, " ".join(["a OR b"] * 50), None),
        ("a,b,c,d " * 100, " ".join(["a,b,c,d"] * 100), None),
    ],
)
def test_parsed(text: str, words: str, pattern: str | None) -> None:
    parsed = parse(text)
    assert (parsed.words, parsed.pattern) == (words, pattern)
    assert parsed.token == (text.strip().replace("e\N{COMBINING ACUTE ACCENT}", E_ACUTE) if pattern else None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the query is empty"),
        (" \t\n\N{IDEOGRAPHIC SPACE}", "the query is empty"),
        ("x" * (QUERY_CHARACTERS + 1), "has 4,001 characters; at most 4,000"),
        ("a " * 101, "the query has 101 words; at most 100 are allowed"),
        ("a,b,c,d,e " * 100, "the words of the query have 500 parts of letters and digits; at most 400 are allowed"),
        ("a\x00b", "NUL"),
        ("\ud83d", "surrogate"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(Unprocessable, match=message):
        parse(text)


def test_contains_is_literal() -> None:
    assert query.contains("100%") == r"%100\%%"


async def matches(db: Database, text: str, stored: str) -> bool:
    parsed = parse(text)
    async with db.read() as reader:
        statement = f"""SELECT {predicate("a", 1, 2)}
            FROM (SELECT to_tsvector('simple', $3::text) AS search, $3::text AS search_blob) a"""
        return bool(await reader.value(statement, parsed.words, parsed.pattern, stored))


@pytest.mark.parametrize(
    ("text", "stored", "expected"),
    [
        ("red kite", "a kite that is red", True),
        ("red kite", "a blue kite", False),
        ("red OR blue", "a blue kite", True),
        ('"red kite"', "a red kite", True),
        ('"red kite"', "a kite red", False),
        ("kite -red", "a blue kite", True),
        ("kite -red", "a red kite", False),
        ("-red", "a blue kite", True),
        ("-red", "a red kite", False),
        ("KIT", "a kite", True),
        ("kit red", "a red kite", False),
        ("kiet", "a kite", False),
        ("2026-1", "seen 2026-11-30", True),
        ("%", "50% off", True),
        ("%", "plain", False),
        ("_", "plain", False),
        ("É", "café", True),
        ("!!!", "what!!!", True),
        ("!!!", "what", False),
    ],
)
async def test_meaning(db: Database, text: str, stored: str, expected: bool) -> None:
    assert await matches(db, text, stored) is expected


ODD = [
    '"unbalanced',
    "a:b & !",
    "'; drop table",
    "\\",
    "! | & ( ) :* <->",
    "\N{ROCKET}",
    "x" * QUERY_CHARACTERS,
    "a " * 100,
    "-" * 4_000,
    '"' * 999,
]


@pytest.mark.parametrize("text", ODD)
async def test_odd_queries_answer(db: Database, text: str) -> None:
    stored = "\n".join(ODD)[:20_000]
    one_token = parse(text).token is not None
    assert await matches(db, text, stored) or not one_token


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)
SIGNS = st.lists(st.sampled_from([*"-!&|()\"':*<>\\ a,\t", " or ", "OR", "-a", '""', "<->"]), max_size=400).map("".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(ANY_TEXT, SIGNS).filter(str.strip))
async def test_any_text_answers(db: Database, text: str) -> None:
    parsed = parse(text)
    async with db.read() as reader:
        found = await reader.value(
            f"SELECT to_tsvector('simple', $1) @@ {tsquery(1)} OR $3::text ILIKE $2", parsed.words, parsed.pattern, parsed.token
        )
    # A token always matches the text that it is; whatever else is typed is read without an error.
    assert found is True or parsed.token is None
