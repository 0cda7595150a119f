"""Compiled and ordinary completion answer with the same bytes."""

import asyncio
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import asyncpg
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Limits, run
from engine.completion import RowExecutor
from engine.plans import Plan
from tests.engine.sample import NOON, Context, Kind, Row, build, row

if TYPE_CHECKING:
    from server.postgres import EmbeddedPostgres

WIDE = Limits(depth=30, aliases=1000, fields=5000, tokens=50_000, nodes=10**9)

ALL = """id key version score done at seen kind tags body extra values twice updatedBy { kind id name label }
    run { id status by { kind name } } parts { name size } first { name }"""

CORPUS = [
    f"{{ notes {{ {ALL} }} }}",
    f"{{ maybe {{ {ALL} }} }}",
    f"{{ note {{ {ALL} }} }}",
    f"{{ page {{ total notes {{ {ALL} }} }} }}",
    "{ notes { __typename id who: updatedBy { __typename n: name name } } }",
    """{ notes { ...A ... on Note { key id } ...A updatedBy { id } } }
    fragment A on Note { id updatedBy { name ...B } } fragment B on Actor { kind }""",
    "{ notes { id change { at operation } key } }",
    '{ notes { key slow other: slow(suffix: "?") updatedBy { name } change { at } version } }',
    "{ note { key change { at } slow } }",
    "{ notes { id @skip(if: true) key @include(if: true) version @include(if: false) } }",
    "query ($a: Boolean = true, $b: Boolean!) { notes { id @skip(if: $a) key @include(if: $b) updatedBy { name @skip(if: $b) id } } }",
    "query ($b: Boolean!) { notes { id ...F @include(if: $b) ... @skip(if: $b) { version } } } fragment F on Note { key }",
    "query ($b: Boolean!) { one: notes { id } two: notes { key @skip(if: $b) } note { id run { id } } }",
    "mutation { touch { id key updatedBy { name } } }",
    "{ notes { parts { __typename } run { by { label } } } __typename }",
    "query @skip(if: false) { notes { id } }",
]


async def both(query: str, rows: Any, variables: dict[str, Any] | None = None) -> tuple[bytes, bytes]:
    answers = []
    for compiled in (True, False):
        engine = build(compiled=compiled, limits=WIDE).engine
        answers.append((await run(engine, query, variables, context=Context(rows))).body)
    return answers[0], answers[1]


ODD_ROWS = [
    [],
    [row()],
    [row(), row(id="2", seen=NOON, kind=Kind.AGENT, run_id="r1", first=SimpleNamespace(name="f"))],
    [row(id=1, version="3", done=1, score=2, key=5)],
    [row(tags=None), row()],
    [row(tags=("t",), body={"a": [1]}, extra_text="[1, 2]")],
    [row(key=None)],
    [row(version=2**31)],
    [row(version=13)],
    [row(kind="nobody")],
    [row(kind=[])],
    [row(updated_by_name=None), row()],
    [row(at=NOON.replace(tzinfo=None))],
    [row(at=NOON.astimezone(timezone(timedelta(hours=2))))],
    [row(at="today")],
    [row(score=float("nan"))],
    [row(key=ValueError("a value"))],
    [row(body=ValueError("a value"))],
    [row(body=None)],
    [row(parts=None)],
    [row(parts=[None])],
    [row(parts=[SimpleNamespace(name="p")])],
    [row(parts=[SimpleNamespace(name="p", size=1), {"name": "d"}])],
    [row(first=SimpleNamespace(name=None))],
    [row(tags=["a", None])],
    [row(tags="text")],
    [row(run_id="r", run_by_name=None)],
    [row(run_id=5)],
    [None, row()],
    [ValueError("a row")],
    [SimpleNamespace(id="1")],
    [{"id": "1"}],
    None,
    5,
    (row(), row(id="2")),
]


@pytest.mark.parametrize("query", CORPUS)
@pytest.mark.parametrize("number", range(len(ODD_ROWS)))
async def test_the_corpus_has_the_same_bytes_both_ways(query: str, number: int) -> None:
    for flag in (True, False):
        variables = {"b": flag} if "$b" in query else None
        if not isinstance(ODD_ROWS[number], list | tuple) and "page" in query:
            continue
        compiled, ordinary = await both(query, ODD_ROWS[number], variables)
        assert compiled == ordinary


async def test_awaitable_values_are_awaited_both_ways() -> None:
    class Later:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return "later"

    compiled, ordinary = await both("{ notes { id key } }", [row(key=Later()), row()])
    assert compiled == ordinary == b'{"data":{"notes":[{"id":"1","key":"later"},{"id":"1","key":"a.md"}]}}'


async def test_a_full_answer_reads_as_it_should() -> None:
    compiled, ordinary = await both(CORPUS[0], [row(run_id="r1", at=NOON.replace(microsecond=120000))])
    assert compiled == ordinary
    assert b'"body":{"n": 9007199254740993}' in compiled
    assert orjson.loads(compiled)["data"]["notes"] == [
        {
            "id": "1",
            "key": "a.md",
            "version": 3,
            "score": 1.5,
            "done": True,
            "at": "2026-11-30T12:00:00.120000Z",
            "seen": None,
            "kind": "USER",
            "tags": ["x", "y"],
            "body": {"n": 9007199254740993},
            "extra": None,
            "values": ["x", "y"],
            "twice": "a.mda.md",
            "updatedBy": {"kind": "AGENT", "id": "7", "name": "Ada", "label": "agent:Ada"},
            "run": {"id": "r1", "status": "running", "by": {"kind": "USER", "name": "Bob"}},
            "parts": [{"name": "p", "size": 1}, {"name": "q", "size": None}],
            "first": None,
        }
    ]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often the compiled functions and the ordinary path are entered."""
    counts = {"many": 0, "one": 0, "field": 0}
    for owner, name, key in ((Plan, "many", "many"), (Plan, "one", "one"), (RowExecutor, "execute_field", "field")):
        original = getattr(owner, name)

        def counted(self: Any, *args: Any, original: Any = original, key: str = key) -> Any:
            counts[key] += 1
            return original(self, *args)

        monkeypatch.setattr(owner, name, counted)
    return counts


async def test_a_list_of_plain_columns_takes_one_call_and_no_field_is_executed(calls: dict[str, int]) -> None:
    engine = build().engine
    answer = await run(engine, "{ notes { id key updatedBy { name } run { id } } }", context=Context([row() for _ in range(50)]))
    assert len(orjson.loads(answer.body)["data"]["notes"]) == 50
    assert calls == {"many": 1, "one": 0, "field": 0}


async def test_beside_a_loader_the_plain_columns_are_compiled_still(calls: dict[str, int]) -> None:
    engine = build().engine
    answer = await run(engine, "{ notes { id key version change { operation } at } }", context=Context([row(), row()]))
    expected = {"id": "1", "key": "a.md", "version": 3, "change": {"operation": "UPDATE"}, "at": "2026-11-30T12:00:00Z"}
    assert orjson.loads(answer.body) == {"data": {"notes": [expected, expected]}}
    assert list(orjson.loads(answer.body)["data"]["notes"][0]) == list(expected)
    # The root field and the loader of each row; the two changes are objects of one call each.
    assert calls == {"many": 0, "one": 4, "field": 3}


async def test_documents_with_the_same_selection_share_a_plan_and_conditions_do_not_mix() -> None:
    engine = build().engine
    query = "query ($b: Boolean!) { notes { id key @include(if: $b) } }"
    answers = [(await run(engine, query, {"b": flag}, context=Context([row()]))).body for flag in (True, False, True)]
    assert answers == [
        b'{"data":{"notes":[{"id":"1","key":"a.md"}]}}',
        b'{"data":{"notes":[{"id":"1"}]}}',
        b'{"data":{"notes":[{"id":"1","key":"a.md"}]}}',
    ]
    store = engine.documents._store
    before = len(store._plans)
    await run(engine, "{ notes(limit: 7) { id key } }", context=Context([row()]))
    assert len(store._plans) == before


async def test_what_is_left_to_the_ordinary_path_is_counted_by_type() -> None:
    engine = build().engine
    await run(engine, "{ notes { id } note { key } }", context=Context([row()]))
    assert engine.documents.fallbacks == {}
    await run(engine, "{ notes { id kind } note { key } }", context=Context([row(kind="nobody"), row()]))
    # The list, and then the one object in it that is not plain.
    assert engine.documents.fallbacks == {"Note": 2}


async def test_a_fault_of_compiled_code_is_reported_and_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_plan: Plan, _rows: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(Plan, "many", fail)
    answer = await run(build().engine, "{ notes { id } }", context=Context([row()]))
    assert [error["extensions"]["code"] for error in answer.errors] == ["INTERNAL"]


# ---------------------------------------------------------------- driver rows


@pytest.fixture(scope="session")
def driver_rows(cluster: "EmbeddedPostgres") -> list[Row]:
    async def fetch() -> list[Row]:
        connection = await asyncpg.connect(cluster.dsn("postgres"), record_class=Row)
        try:
            return await connection.fetch(
                """SELECT n::text AS id, 'k' || n AS key, n AS version, n / 2.0::float8 AS score, n % 2 = 0 AS done,
                    timestamptz '2026-11-30 10:00:00.5+02' + n * interval '1 hour' AS at, NULL::timestamptz AS seen, 'user' AS kind,
                    ARRAY['a', 'b'] AS tags, jsonb_build_object('n', n, 'text', 'é "q"') AS body, '[1]'::jsonb AS extra_text,
                    'agent' AS updated_by_kind, NULL AS updated_by_id, 'Ada' AS updated_by_name,
                    CASE WHEN n % 3 = 0 THEN 'r' || n END AS run_id, 'running' AS run_status, 'user' AS run_by_kind,
                    NULL AS run_by_id, 'Bob' AS run_by_name, NULL AS parts, NULL AS first
                FROM generate_series(1, 30) AS n"""
            )
        finally:
            await connection.close()

    return asyncio.run(fetch())


@pytest.mark.parametrize("query", CORPUS)
async def test_rows_of_the_driver_have_the_same_bytes_both_ways(query: str, driver_rows: list[Row]) -> None:
    compiled, ordinary = await both(query, driver_rows, {"b": True} if "$b" in query else None)
    assert compiled == ordinary


async def test_rows_of_the_driver_are_read(driver_rows: list[Row]) -> None:
    query = "{ notes { id version score done at body extra values kind updatedBy { kind id name } run { id by { name } } } }"
    compiled, _ = await both(query, driver_rows[2:3])
    assert compiled == (
        b'{"data":{"notes":[{"id":"3","version":3,"score":1.5,"done":false,"at":"2026-11-30T11:00:00.500000Z",'
        b'"body":{"n": 3, "text": "\xc3\xa9 \\"q\\""},"extra":[1],"values":["a","b"],"kind":"USER",'
        b'"updatedBy":{"kind":"AGENT","id":null,"name":"Ada"},"run":{"id":"r3","by":{"name":"Bob"}}}]}}'
    )


# ---------------------------------------------------------------- generated selections

FIELDS: dict[str, dict[str, str | None]] = {
    "Note": {
        **dict.fromkeys(
            ["id", "key", "version", "score", "done", "at", "seen", "kind", "tags", "body", "extra", "values", "twice", "slow"]
        ),
        "updatedBy": "Actor",
        "run": "Run",
        "parts": "Part",
        "first": "Part",
        "change": "Change",
    },
    "Actor": dict.fromkeys(["kind", "id", "name", "label"]),
    "Run": {"id": None, "status": None, "by": "Actor"},
    "Part": dict.fromkeys(["name", "size"]),
    "Change": dict.fromkeys(["at", "operation"]),
}
CONDITIONS = st.sampled_from(
    ["", "", "", " @skip(if: $b)", " @include(if: $b)", " @skip(if: false)", " @include(if: $c)", " @skip(if: true)"]
)


@st.composite
def selections(draw: st.DrawFn, type_name: str, depth: int = 0) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 5))):
        form = draw(st.sampled_from(["field", "field", "field", "typename", "inline", "spread"]))
        condition = draw(CONDITIONS)
        if form == "typename":
            parts.append("__typename" + condition)
        elif form == "inline" and depth < 3:
            on = draw(st.sampled_from(["", f" on {type_name}"]))
            parts.append(f"...{on}{condition} {{ {draw(selections(type_name, depth + 1))} }}")
        elif form == "spread":
            parts.append(f"...{type_name}{draw(st.sampled_from('AB'))}{condition}" if depth < 9 else "__typename")
        else:
            name = draw(st.sampled_from(sorted(FIELDS[type_name])))
            # The alias belongs to one field, so that selections never conflict.
            alias = draw(st.sampled_from(["", f"{name}2: "]))
            below = FIELDS[type_name][name]
            inner = f" {{ {draw(selections(below, depth + 1))} }}" if below else ""
            parts.append(alias + name + condition + inner)
    return " ".join(parts)


@st.composite
def documents(draw: st.DrawFn) -> str:
    root = draw(st.sampled_from(["notes", "maybe", "note"]))
    body = draw(selections("Note"))
    fragments = {f"{name}A": draw(selections(name, 9)) for name in FIELDS} | {f"{name}B": "__typename" for name in FIELDS}
    used = {name for name in fragments if f"...{name}" in body}
    written = "".join(f" fragment {name} on {name[:-1]} {{ {fragments[name]} }}" for name in sorted(used))
    header = "$b: Boolean! = true, $c: Boolean! = false, $d: Boolean = false"
    conditions = "a: __typename @skip(if: $b) b: __typename @skip(if: $c) c: __typename @skip(if: $d)"
    return f"query ({header}) {{ {root} {{ {body} }} {conditions} }}{written}"


values = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["1", 2, None]),
        "key": st.sampled_from(['é"\n', 5, None, b"x"]),
        "version": st.sampled_from([0, -1, 2**31, True, "4", 1.0, 1.5, 13]),
        "score": st.sampled_from([None, 1, 0.25, float("inf")]),
        "done": st.sampled_from([False, None, 1, "yes"]),
        "at": st.sampled_from([NOON, NOON.replace(microsecond=1), datetime(1, 1, 1, tzinfo=NOON.tzinfo), None]),
        "kind": st.sampled_from(["agent", Kind.USER, None, "x"]),
        "tags": st.sampled_from([None, [], ["a"], [1], [None], "no"]),
        "body": st.sampled_from(['"s"', "null", None, {"a": 1}, 5]),
        "updated_by_kind": st.sampled_from(["user", None]),
        "updated_by_id": st.sampled_from([None, 5]),
        "run_id": st.sampled_from([None, "r", 4]),
        "parts": st.sampled_from([[], None, [None], (SimpleNamespace(name="n", size=0),), [SimpleNamespace(size=1)]]),
        "first": st.sampled_from([None, SimpleNamespace(name="f", size=2), SimpleNamespace(name=None)]),
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(documents(), st.lists(values, max_size=4), st.booleans(), st.booleans())
def test_generated_selections_have_the_same_bytes_both_ways(query: str, changes: list[dict[str, Any]], b: bool, c: bool) -> None:
    rows = [row(**change) for change in changes]
    compiled, ordinary = asyncio.run(both(query, rows, {"b": b, "c": c}))
    assert compiled == ordinary
    assert b"UNPROCESSABLE" not in compiled
