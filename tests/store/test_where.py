from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models import columns as dialect
from models import identity
from models.errors import Problem, Unprocessable
from store import collections, record_list, record_search, where
from store.database import Database
from store.parameters import Parameters
from store.terms import OneOf, common_pieces
from tests.store.people import PEOPLE, add_people
from tests.world import World

COLUMNS = dialect.parse(PEOPLE)


async def found(db: Database, world: World, terms: Any, collection: str = "people") -> list[str]:
    page = await record_list.list_records(db, world.operator, collection=collection, where=terms)
    assert page.total == len(page.records)
    return [row.id for row in page.records]


@pytest.mark.parametrize(
    ("value", "term", "matches"),
    [
        ("John Smith", "smith", True),
        ("John Smith", "n sm", True),
        ("John Smith", "smiht", True),
        ("Berths of ships", "berlin", False),
        ("Invoice 2026-12", "2026-1", True),
        ("Invoice 2026-21", "2026-1", False),
        ("Invoice 2026-12", "2062-12", False),
        ("100% sure_thing", "0% s", True),
        ("100% sure_thing", "e_t", True),
        ("1000 sure thing", "0% s", False),
        ("a\\b", "\\", True),
        ("ab", "\\", False),
        ("Cafe\u0301 Noir", "CAFÉ", True),
        ("Café Noir", "cafe\u0301", True),
        ("日本語の文", "本語", True),
        ("ab", "b", True),
        ("x", "", True),
        ("The Albertian league", "albert", True),
        ("Mr Albretson", "albert", False),
        ("an alberd", "albert", True),
        ("an alberd été", "albert", True),
        ("🦊 fox", "🦊", True),
    ],
)
async def test_a_text_matches_by_substring_and_by_spelling(db: Database, world: World, value: str, term: str, matches: bool) -> None:
    await add_people(db, world.operator, [{"name": value, "bio": "zzz"}, {"name": "meant", "bio": value}, {"name": "none"}])
    everything = ["1", "2"] if term == "" else ["2"]
    assert await found(db, world, {"bio": term}) == (everything if matches else [])


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ({"status": "won"}, ["1"]),
        ({"status": None}, ["3"]),
        ({"score": 2}, ["1"]),
        ({"score": 2.0}, ["1"]),
        ({"score": 9007199254740993}, ["2"]),
        ({"score": 9007199254740992}, []),
        ({"score": {"gte": 2}}, ["1", "2"]),
        ({"score": {"lte": 2, "gte": 0}}, ["1"]),
        ({"score": {"gte": 3, "lte": 2}}, []),
        ({"score": None}, ["3"]),
        ({"active": True}, ["1"]),
        ({"active": False}, ["2"]),
        ({"due": "2026-11-30T10:00:00+02:00"}, ["1"]),
        ({"due": {"gte": "2026-11-30T08:00:00Z"}}, ["1", "2"]),
        ({"due": {"gte": "2026-11-30T08:00:00.1Z"}}, ["2"]),
        ({"due": {"lte": "2026-11-30T08:00:00.499999Z"}}, ["1"]),
        ({"due": {"lte": "2026-11-30T08:00:00.5Z"}}, ["1", "2"]),
        ({"skills": "rust"}, ["1"]),
        ({"skills": "gardning"}, ["2"]),
        ({"skills": "zzz"}, []),
        ({"skills": None}, ["3"]),
        ({"labels": "red"}, ["1", "2"]),
        ({"labels": "green"}, ["2"]),
        ({"labels": None}, ["3"]),
        ({"id": 2}, ["2"]),
        ({"id": "2"}, ["2"]),
        ({"id": "02"}, None),
        ({"id": 99}, []),
        ({"id": "9" * 200}, []),
        ({"id": 10**300}, []),
        ({"id": None}, []),
        ({"status": "new", "score": {"gte": 3}}, ["2"]),
        ({"name": {"eq": " A "}}, ["1"]),
        ({"name": {"ne": "A"}}, ["2", "3"]),
        ({"name": {"in": ["a", "C", "x"]}}, ["1", "3"]),
        ({"status": {"eq": "WON"}}, ["1"]),
        ({"status": {"ne": "won"}}, ["2", "3"]),
        ({"status": {"startsWith": "n"}}, ["2"]),
        ({"score": {"eq": 2.0}}, ["1"]),
        ({"score": {"in": [2, 9007199254740993]}}, ["1", "2"]),
        ({"score": {"ne": 2}}, ["2", "3"]),
        ({"score": {"gt": 2}}, ["2"]),
        ({"score": {"gte": 2, "lt": 9007199254740993}}, ["1"]),
        ({"score": {"gt": 5, "lt": 2}}, []),
        ({"score": {"eq": 2, "ne": 2}}, []),
        ({"score": {"missing": True}}, ["3"]),
        ({"score": {"missing": False}}, ["1", "2"]),
        ({"active": {"eq": False}}, ["2"]),
        ({"active": {"ne": False}}, ["1", "3"]),
        ({"active": {"in": [True, False]}}, ["1", "2"]),
        ({"due": {"eq": "2026-11-30T10:00:00+02:00"}}, ["1"]),
        ({"due": {"gt": "2026-11-30T08:00:00Z"}}, ["2"]),
        ({"due": {"lt": "2026-11-30T08:00:00.5Z"}}, ["1"]),
        ({"skills": {"eq": "RUST"}}, ["1"]),
        ({"skills": {"eq": "garden"}}, []),
        ({"skills": {"eq": ["X", "gardening"]}}, ["2"]),
        ({"skills": {"eq": ["gardening"]}}, []),
        ({"skills": {"in": ["rust", ["x", "Gardening"]]}}, ["1", "2"]),
        ({"skills": {"ne": "rust"}}, ["2", "3"]),
        ({"skills": {"contains": "arden"}}, ["2"]),
        ({"skills": {"startsWith": "Gar"}}, ["2"]),
        ({"skills": {"startsWith": "arden"}}, []),
        ({"labels": {"eq": ["RED"]}}, ["1"]),
        ({"id": {"in": [1, "3", 10**30]}}, ["1", "3"]),
        ({"id": {"ne": 2}}, ["1", "3"]),
        ({"id": {"gt": 1, "lte": 3}}, ["2", "3"]),
        ({"id": {"lt": 10**30}}, ["1", "2", "3"]),
        ({}, ["1", "2", "3"]),
        (None, ["1", "2", "3"]),
    ],
)
async def test_terms_match_by_the_type_of_their_column(db: Database, world: World, term: Any, expected: list[str] | None) -> None:
    await add_people(
        db,
        world.operator,
        [
            {
                "name": "a",
                "status": "won",
                "score": 2,
                "active": True,
                "due": "2026-11-30T08:00:00Z",
                "skills": ["Rust"],
                "labels": ["red"],
            },
            {
                "name": "b",
                "status": "new",
                "score": 9007199254740993,
                "active": False,
                "due": "2026-11-30T08:00:00.5Z",
                "skills": ["gardening", "x"],
                "labels": ["green", "red"],
            },
            {"name": "c"},
        ],
    )
    if expected is None:
        with pytest.raises(Unprocessable):
            await found(db, world, term)
    else:
        assert await found(db, world, term) == expected


async def test_values_of_a_former_type_match_nothing_and_break_nothing(db: Database, world: World) -> None:
    table = await add_people(db, world.operator, [{"name": "n", "bio": "tomorrow", "score": 5, "skills": ["a", "b"], "status": "won"}])
    retyped = {"bio": "datetime", "score": "text", "skills": "number", "status": "array"}
    columns = [{**item, "type": retyped.get(item["name"], item["type"])} for item in PEOPLE]
    await collections.update(db, world.operator, table.id, columns=columns)
    assert await found(db, world, {"bio": {"gte": "0001-01-01T00:00:00Z"}}) == []
    assert await found(db, world, {"skills": {"gte": -1}}) == []
    assert await found(db, world, {"status": "won"}) == []
    assert await found(db, world, {"score": "5"}) == ["1"]
    for name in ("bio", "score", "skills"):
        page = await record_list.list_records(db, world.operator, collection="people", order=(name, "desc"))
        assert [row.id for row in page.records] == ["1"]


EXPECTED_TEXT = "expected text; got 5"


@pytest.mark.parametrize(
    ("terms", "problems"),
    [
        ({"bio": 5}, [("bio", EXPECTED_TEXT)]),
        ({"bio": ["x"]}, [("bio", 'expected text; got ["x"]')]),
        (
            {"bio": {"gte": "a"}},
            [("bio", 'unknown operator "gte"; a text column takes eq, ne, in, contains, startsWith, missing')],
        ),
        (
            {"bio": {"eq": 5, "in": [], "missing": 1}},
            [
                ("bio", f"eq: {EXPECTED_TEXT}"),
                ("bio", "in: expected a list of 1 to 50 values; got []"),
                ("bio", "missing: expected true or false; got 1"),
            ],
        ),
        ({"name": {"in": ["x"] * 51}}, [("name", "in: expected at most 50 values; got 51")]),
        ({"status": {"in": ["NEW", "pending"]}}, [("status", 'in: expected one of new, won, lost; got "pending"')]),
        ({"labels": {"eq": ["red", "blue"]}}, [("labels", 'eq: expected one of red, green; got "blue"')]),
        ({"active": {"eq": None}}, [("active", 'eq: expected boolean; got null (records without a value are {"missing": true})')]),
        ({"active": {"gt": True}}, [("active", 'unknown operator "gt"; a boolean column takes eq, ne, in, missing')]),
        ({"id": {"like": 1}}, [("id", 'expected operators of eq, in, ne, gt, gte, lt, lte; got ["like"]')]),
        ({"id": {"in": [1, "x"]}}, [("id", 'in: expected a record\'s id, like 12; got "x"')]),
        ({"bio": {"contains": "x" * 201}}, [("bio", "contains: the term has 201 characters; at most 200 are allowed")]),
        ({"status": "pending"}, [("status", 'expected one of new, won, lost; got "pending"')]),
        ({"status": 1}, [("status", "expected one of new, won, lost; got 1")]),
        ({"labels": "blue"}, [("labels", 'expected one of red, green; got "blue"')]),
        ({"labels": ["red"]}, [("labels", 'expected text; got ["red"]')]),
        ({"skills": 5}, [("skills", EXPECTED_TEXT)]),
        ({"score": "5"}, [("score", 'expected number; got "5"')]),
        ({"score": True}, [("score", "expected number; got true")]),
        ({"score": float("inf")}, [("score", "expected a finite number (within ±1.8e308); got Infinity")]),
        ({"score": {}}, [("score", "expected at least one operator of eq, ne, in, gt, gte, lt, lte, missing; got {}")]),
        ({"score": {"equals": 1}}, [("score", 'unknown operator "equals"; a number column takes eq, ne, in, gt, gte, lt, lte, missing')]),
        (
            {"score": {"gte": None, "lte": "x"}},
            [
                ("score", 'gte: expected number; got null (records without a value are {"missing": true})'),
                ("score", 'lte: expected number; got "x"'),
            ],
        ),
        ({"active": 1}, [("active", "expected boolean (true or false); got 1")]),
        ({"id": "abc"}, [("id", 'expected a record\'s id, like 12; got "abc"')]),
        ({"id": True}, [("id", "expected a record's id, like 12; got true")]),
        ({"id": 1.0}, [("id", "expected a record's id, like 12; got 1.0")]),
        ({"id": -1}, [("id", "expected a record's id, like 12; got -1")]),
        ({"bio": "x" * 201}, [("bio", "the term has 201 characters; at most 200 are allowed")]),
        ({"due": {"gte": "x" * 201}}, [("due", "gte: the term has 201 characters; at most 200 are allowed")]),
        ({"bio": "a\x00b"}, [("bio", "contains a NUL character")]),
        ({"bio": "\ud800"}, [("bio", "contains a lone surrogate, which is not text")]),
        ([], [(None, "where must be an object of columns and terms; got []")]),
        ("bio", [(None, 'where must be an object of columns and terms; got "bio"')]),
        (
            {"created_at": "x", "nope": 1},
            [
                (name, "unknown column; where takes id and the declared columns, which are " + ", ".join(c["name"] for c in PEOPLE))
                for name in ("created_at", "nope")
            ],
        ),
    ],
)
def test_what_a_term_cannot_be_is_told(terms: Any, problems: list[tuple[str | None, str]]) -> None:
    told: list[Problem] = []
    where.read(terms, COLUMNS, told)
    assert [(problem.column, problem.message) for problem in told] == problems


@pytest.mark.parametrize("due", ["2026-11-30T10:00:00", "2026-02-30T00:00:00Z", "soon", 5])
def test_a_datetime_term_is_a_datetime_with_a_zone(due: Any) -> None:
    told: list[Problem] = []
    where.read({"due": due}, COLUMNS, told)
    where.read({"due": {"gte": due}}, COLUMNS, told)
    assert [problem.column for problem in told] == ["due", "due"]


def test_at_most_eight_columns_id_included_and_terms_of_200_characters() -> None:
    told: list[Problem] = []
    where.read({"id": 1, **dict.fromkeys([c["name"] for c in PEOPLE if c["name"] != "labels"])}, COLUMNS, told)
    where.read({"bio": "x" * 200}, COLUMNS, told)
    assert told == []
    where.read({"id": 1, **dict.fromkeys([c["name"] for c in PEOPLE])}, COLUMNS, told)
    assert [problem.message for problem in told] == ["where names 9 columns; at most 8 are allowed, id included"]


OPERATORS = ["gte", "lt", "eq", "ne", "in", "contains", "missing", "x"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=210),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(OPERATORS), inner, max_size=3),
    max_leaves=4,
)


@given(terms=st.dictionaries(st.sampled_from([*(c["name"] for c in PEOPLE), "id"]) | st.text(max_size=5), JSON, max_size=9) | JSON)
def test_any_json_is_read_or_refused_with_reasons(terms: Any) -> None:
    told: list[Problem] = []
    read = where.read(terms, COLUMNS, told)
    asked = len(terms) if isinstance(terms, dict) else 0
    assert told or len(read.terms) >= asked
    assert all(problem.message for problem in told)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("smiht", ["%iht%", "%mih%", "%smi%", "%sm%"]),
        ("Berlin", ["%ber%", "%erl%", "%lin%", "%rli%"]),
        ("a", ["%a%"]),
        ("!?", []),
        ("café", []),
    ],
)
def test_pieces_are_the_longest_runs_of_which_one_must_be_shared(text: str, pieces: list[str]) -> None:
    assert common_pieces(text) == pieces


WORDS = st.lists(st.text(st.sampled_from("abAB1-"), min_size=1, max_size=9), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(term=WORDS, values=st.lists(WORDS, min_size=30, max_size=30))
async def test_what_is_spelled_alike_shares_a_piece(db: Database, term: str, values: list[str]) -> None:
    statement = """SELECT v FROM unnest($1::text[]) v WHERE word_similarity($2, v) >= 0.5 AND NOT lower(v) LIKE ANY ($3::text[])"""
    if pieces := common_pieces(term):
        async with db.read() as reader:
            assert await reader.rows(statement, values, term, pieces) == []


def test_no_more_names_are_told_one_by_one_than_a_table_could_have() -> None:
    told: list[Problem] = []
    where.read({"x" * 100 + str(n): 1 for n in range(1_000)}, COLUMNS, told)
    assert told[0] == Problem(None, "where names 1000 columns; at most 8 are allowed, id included")
    assert [problem.column for problem in told[1:]] == ["x" * 80] * 65


async def test_a_plain_text_that_equals_a_unique_value_finds_that_record_alone(db: Database, world: World) -> None:
    await add_people(
        db, world.operator, [{"name": name, "bio": name} for name in ("ada@example.org", "adam@example.org", "bob@example.org")]
    )
    assert await found(db, world, {"name": " Ada@example.org"}) == ["1"]
    assert await found(db, world, {"name": "example.org"}) == ["1", "2", "3"]
    assert await found(db, world, {"bio": "ada@example.org"}) == ["1", "2", "3"]
    assert await found(db, world, {"name": {"eq": "john@example.org"}}) == []
    assert await found(db, world, {"name": {"contains": "da@"}}) == ["1"]
    hits = await record_search.search(db, world.operator, query="example", collection="people", where={"name": "ADA@example.org"})
    assert [row.id for row in hits] == ["1"]


async def test_equal_to_a_unique_value_is_answered_by_its_index(db: Database, world: World) -> None:
    table = await add_people(db, world.operator, [{"name": f"person {n}"} for n in range(500)])
    async with db.write() as tx:
        await tx.execute("ANALYZE artifacts")
    told: list[Problem] = []
    parameters = Parameters([world.org, table.id])
    condition = " AND ".join(where.read({"name": {"eq": "Person 7"}}, COLUMNS, told, table.id).conditions(parameters))
    async with db.read() as reader:
        plan = await reader.rows(
            f"""EXPLAIN SELECT id FROM artifacts a WHERE a.org_id = $1 AND a.collection_id = $2 AND a.kind = 'OBJECT'
            AND a.deleted_at IS NULL AND {condition}""",
            *parameters.values,
        )
    assert "artifacts_live_identity" in "".join(row[0] for row in plan)


# Letters whose lower case is not one letter, or depends on its neighbours.
TEXTS = st.lists(st.sampled_from([*"aAbß ẞéÉİiıΣσςΟ\t\u00a0\u0301KK"]), max_size=6).map("".join)  # noqa: RUF001


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=st.lists(TEXTS, min_size=8, max_size=8), asked=TEXTS)
async def test_equal_is_what_the_unique_column_calls_equal(db: Database, stored: list[str], asked: str) -> None:
    parameters = Parameters([stored])
    term = OneOf("c", (identity.folded(asked),), items=False)
    async with db.read() as reader:
        rows = await reader.rows(
            f"""SELECT v FROM unnest($1::text[]) AS u(v), LATERAL (SELECT jsonb_build_object('c', v) AS content_json) a
            WHERE {term.condition(parameters)}""",
            *parameters.values,
        )
    assert [row.v for row in rows] == [text for text in stored if one_sigma(text) == one_sigma(asked)]


def one_sigma(text: str) -> str:
    return identity.folded(text).replace("ς", "σ")  # noqa: RUF001
