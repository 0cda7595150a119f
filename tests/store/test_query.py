"""What a typed query means: whatever a person types is an answer or a clear refusal."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.errors import Unprocessable
from models.limits import QUERY_CHARACTERS
from models.words import SEPARATOR, cut, index
from store import query
from store.database import Database
from store.parameters import Parameters
from store.query import parse

E_ACUTE = "\N{LATIN SMALL LETTER E WITH ACUTE}"


@pytest.mark.parametrize(
    ("text", "words", "token"),
    [
        ("kite", "'kite'", "kite"),
        ("  Kite \n", "'kite'", "Kite"),
        ("50%_a\\b", "('50' <-> 'a' <-> 'b' | 'L' & '50' & 'a' & 'b')", "50%_a\\b"),
        ("e\N{COMBINING ACUTE ACCENT}", f"'{E_ACUTE}'", E_ACUTE),
        ("two words", "'two' & 'words'", None),
        ("no\N{NO-BREAK SPACE}break", "'no' & 'break'", None),
        ('"kite"', "'kite'", None),
        ('"unbalanced kite', "('unbalanced' <-> 'kite' | 'L' & 'unbalanced' & 'kite')", None),
        ("-kite", "!('kite')", None),
        ("--kite", "!('kite')", None),
        ("- kite", "'kite'", None),
        ("a-b", "('a' <-> 'b' | 'L' & 'a' & 'b')", "a-b"),
        ("a -b-c", "'a' & !('b' <-> 'c')", None),
        ('a -"b c"', "'a' & !('b' <-> 'c')", None),
        ('"a"-b', "'a' & 'b'", None),
        ("a or b", "'a' | 'b'", None),
        ("or a", "'or' & 'a'", None),
        ("a OR", "'a' & 'or'", None),
        ("a OR OR b", "'a' | 'or' & 'b'", None),
        ('a "or" b', "'a' & 'or' & 'b'", None),
        ("a OR -b", "'a' | !('b')", None),
        ("!!!", None, "!!!"),
        ("-", None, None),
        ("x" * 256, f"('{'x' * 255}' <-> 'x' | 'L' & '{'x' * 255}' & 'x')", "x" * 256),
        ("word " * 100, " & ".join(["'word'"] * 100), None),
        ("a OR b " * 50, " & ".join(["'a' | 'b'"] * 50), None),
    ],
)
def test_parsed(text: str, words: str | None, token: str | None) -> None:
    parsed = parse(text)
    assert (parsed.words, parsed.token) == (words, token)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TCP/IP stack", ["tcp", "ip", "stack"]),
        ("u http://h.io/p", ["u", "http", "h", "io", "p"]),
        ("snake_case, A-12", ["snake", "case", "a", "12"]),
        ("e\N{COMBINING ACUTE ACCENT}t\N{COMBINING DOT BELOW}e", [f"{E_ACUTE}t\N{COMBINING DOT BELOW}e".replace("t\u0323", "\u1e6d")]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ΟΔΟΣ.ΟΔΟΣ", ["οδος", "οδος"]),
        ("日本語。東京", ["日本語", "東京"]),
        ("\N{ROCKET}x\N{ROCKET}", ["x"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert cut(text) == words


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
    parameters = Parameters([stored, *index(stored)])
    condition = parse(text).predicate("a", parameters)
    async with db.read() as reader:
        statement = f"""SELECT {condition}
            FROM (SELECT $1::text AS search_blob, $2::tsvector AS search, $3::text AS search_words) a"""
        return bool(await reader.value(statement, *parameters.values))


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
    # A token always matches the text that it is; whatever else is typed is read without an error.
    assert await matches(db, text, text) or parse(text).token is None


# Words of a dozen scripts, with every ASCII symbol and some others between them.
WORDS = st.one_of(
    st.text("abcXYZ0189", min_size=1, max_size=4),
    st.sampled_from(
        [
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
            "Ⅷ",
            "cafe\u0301",
            "ⅧÅ",
        ]
    ),
)
APART = st.text([chr(code) for code in range(32, 127) if not chr(code).isalnum()] + list("\t\n\u00a0—。، \u200d"), min_size=1, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[str]]:
    words = draw(st.lists(WORDS, min_size=1, max_size=6))
    return "".join(piece for word in words for piece in (word, draw(APART))), words


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts(), st.data())
async def test_a_text_is_found_by_its_words_and_phrases_and_excluded_by_them(
    db: Database, given_text: tuple[str, list[str]], data: st.DataObject
) -> None:
    text, words = given_text
    first, second = (data.draw(st.sampled_from(words)) for _ in range(2))
    start = data.draw(st.integers(0, len(words) - 1))
    phrase = " ".join(words[start : start + 3])
    for asked in (
        first,
        first.upper() if first.isascii() else first,
        f"{first} {second}",
        f'"{phrase}"',
        "/".join(words[start : start + 3]),
    ):
        assert await matches(db, asked, text), asked
        assert not await matches(db, f"-{asked}", text), asked
    assert not await matches(db, f'-"{phrase}"', text)
    assert await matches(db, f'"{" ".join(cut(text))}"', text)


@pytest.mark.parametrize("stored", [" ".join(["the end"] * 300 + ["last word"]), " ".join(f"w{n}" for n in range(17_000)) + " last word"])
async def test_a_phrase_is_found_also_where_a_vector_has_no_room_for_its_positions(db: Database, stored: str) -> None:
    assert index(stored).words is not None
    for asked, found in (
        ('"last word"', True),
        ('"word last"', False),
        ('-"last word"', False),
        ('-"word last"', True),
        ("last-word w1 OR end", True),
    ):
        assert await matches(db, asked, stored) is found, asked


async def test_a_phrase_does_not_cross_the_parts_of_a_text(db: Database) -> None:
    stored = SEPARATOR.join(["red kite", "over hills"])
    assert await matches(db, '"over hills"', stored)
    assert not await matches(db, '"kite over"', stored)
    assert await matches(db, "kite over", stored)
