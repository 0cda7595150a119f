"""How types say which attributes they read, and what the scalars let through."""

from datetime import UTC, datetime, timedelta, timezone
from json import JSONDecodeError
from types import SimpleNamespace

import orjson
import pytest
import strawberry
from graphql import GraphQLError

from engine import EngineSchema, column, dumps, embedded, loads, parse_datetime, raw_json, run, serialize_datetime
from tests.engine.sample import NOON, build


def test_the_schema_shows_the_types_as_annotated() -> None:
    sdl = build().as_str()
    assert "updatedBy: Actor!" in sdl
    assert "run: Run\n" in sdl
    assert "body: JSON!" in sdl
    assert '  """The key twice."""\n  twice: String!' in sdl


def test_a_reader_needs_names_that_can_be_attributes() -> None:
    for make in (lambda: embedded("a b"), lambda: embedded("a_", absent="1"), lambda: raw_json("x-y")):
        with pytest.raises(ValueError, match="cannot be part of an attribute's name"):
            make()


def test_a_column_needs_its_type() -> None:
    with pytest.raises(TypeError, match="needs a return annotation"):
        column(lambda self: self)


async def test_readers_are_inherited_with_the_type() -> None:
    @strawberry.type
    class Base:
        @column
        def name(self) -> str:
            return self.title  # type: ignore[attr-defined,no-any-return]

    @strawberry.type
    class Derived(Base):
        @column(name="shouted", deprecation_reason="too loud")
        def loud(self) -> str:
            return self.title.upper()  # type: ignore[attr-defined]

    @strawberry.type
    class Query:
        @strawberry.field
        def it(self) -> Derived:
            return SimpleNamespace(title="t")  # type: ignore[return-value]

    for compiled in (True, False):
        answer = await run(EngineSchema(Query, compiled=compiled).engine, "{ it { name shouted } }")
        assert answer.body == b'{"data":{"it":{"name":"t","shouted":"T"}}}'


def test_datetimes_are_read_to_the_microsecond_in_utc() -> None:
    assert parse_datetime("2026-11-30T10:00:00+02:00") == datetime(2026, 11, 30, 8, tzinfo=UTC)
    assert parse_datetime("2026-11-30t10:00:00.1234567z") == datetime(2026, 11, 30, 10, 0, 0, 123456, tzinfo=UTC)
    assert parse_datetime("2026-11-30 10:00:00.5-00:30").isoformat() == "2026-11-30T10:30:00.500000+00:00"
    with pytest.raises(GraphQLError, match=r"not 5$"):
        parse_datetime(5)
    with pytest.raises(GraphQLError, match=r"not 'xxx.*\.\.\.$"):
        parse_datetime("x" * 1000)


def test_datetimes_are_written_in_utc() -> None:
    assert serialize_datetime(NOON) is NOON
    assert dumps(serialize_datetime(NOON.astimezone(timezone(timedelta(hours=-3))))) == b'"2026-11-30T12:00:00Z"'
    with pytest.raises(ValueError, match="without an offset"):
        serialize_datetime(NOON.replace(tzinfo=None))
    with pytest.raises(TypeError, match="cannot represent str"):
        serialize_datetime("2026-11-30T12:00:00Z")


def test_json_text_is_copied_and_read_exactly() -> None:
    assert dumps({"body": orjson.Fragment('{"n": 123456789012345678901234567890}')}) == b'{"body":{"n": 123456789012345678901234567890}}'
    assert loads('{"n": 123456789012345678901234567890}') == {"n": 123456789012345678901234567890}
    assert orjson.loads(dumps(loads('["\\u00e9"]'))) == ["é"]


@pytest.mark.parametrize("text", ["", "{", b"\xff", "[" * 100_000])
def test_what_is_no_json_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(JSONDecodeError):
        loads(text)
