"""From a request's text to its answer: errors, statuses, scalars."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from engine import Limits, Presented, run
from tests.engine.sample import Context, build, row


class Refusal(Exception):
    def __init__(self, status: int = 409, **extensions: Any) -> None:
        self.code, self.status, self.message = "TAKEN", status, "the value is taken"
        self.problems = [SimpleNamespace(as_json=lambda: {"column": "mail", "message": "taken"}), {"column": None, "message": "again"}]
        self.extensions = extensions


async def test_an_answer_tells_what_ran() -> None:
    answer = await run(build().engine, "query Names { note { id } }", context=Context([row()]))
    assert (answer.body, answer.status, answer.errors) == (b'{"data":{"note":{"id":"1"}}}', 200, [])
    assert (answer.operation_name, answer.operation_type) == ("Names", "query")


async def test_exceptions_of_the_tree_are_shown() -> None:
    answer = await run(build().engine, "{ fail }", context=Context(Refusal(currentVersion=3)))
    assert orjson.loads(answer.body) == {
        "data": None,
        "errors": [
            {
                "message": "the value is taken",
                "locations": [{"line": 1, "column": 3}],
                "path": ["fail"],
                "extensions": {
                    "code": "TAKEN",
                    "status": 409,
                    "message": "the value is taken",
                    "problems": [{"column": "mail", "message": "taken"}, {"column": None, "message": "again"}],
                    "currentVersion": 3,
                },
            }
        ],
    }
    assert answer.errors == orjson.loads(answer.body)["errors"]


@pytest.mark.parametrize(
    ("status", "http"), [(401, 401), (403, 200), (404, 200), (409, 200), (422, 200), (429, 429), (500, 200), (503, 503)]
)
async def test_the_http_status_says_what_concerns_http(status: int, http: int) -> None:
    answer = await run(build().engine, "{ fail }", context=Context(Refusal(status)))
    assert answer.status == http


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("query Q { fail }", RuntimeError("secret")),
        ("query Q { notes { key } }", [row(key=None)]),
        ("query Q { notes { version } }", [row(version="secret")]),
        ("query Q { notes { id } }", "secret"),
    ],
)
async def test_all_other_errors_are_masked_with_an_id_that_the_log_has(query: str, rows: Any) -> None:
    seen: list[tuple[str, str | None]] = []
    schema = build(log=lambda _, error_id, name: seen.append((error_id, name)))
    answer = await run(schema.engine, query, context=Context(rows))
    assert b"secret" not in answer.body
    (error,) = answer.errors
    message = "internal error e1; the server's log has it under this id"
    assert error["message"] == message
    assert error["extensions"] == {"code": "INTERNAL", "status": 500, "message": message, "problems": [], "id": "e1"}
    assert seen == [("e1", "Q")]


async def test_the_log_gets_the_exception_itself() -> None:
    seen: list[BaseException] = []
    failure = RuntimeError("secret")
    await run(build(log=lambda error, *_: seen.append(error)).engine, "{ fail }", context=Context(failure))
    assert seen == [failure]


async def test_what_json_cannot_hold_is_an_internal_error() -> None:
    answer = await run(build().engine, "{ note { body } }", context=Context([row(body=object())]))
    assert (answer.body[:13], answer.errors[0]["extensions"]["code"]) == (b'{"data":null,', "INTERNAL")


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ((None, None, None), ["query must be the text of a GraphQL document"]),
        (
            (" ", [], 5),
            ["query must be the text of a GraphQL document", "variables must be an object or null", "operationName must be a text or null"],
        ),
        (("{ note { id }", None, None), ["Syntax Error: Expected Name, found <EOF>."]),
        (("{ nothing }", None, None), ["Cannot query field 'nothing' on type 'Query'."]),
        (
            ("query ($n: Int!) { notes(limit: $n) { id } }", {}, None),
            ["Variable '$n' has invalid value: Expected a value of non-null type 'Int!' to be provided."],
        ),
        (("query A { note { id } }", None, "B"), ['unknown operation "B"; the document has "A"']),
        (
            ("subscription { changed { id } }", None, None),
            ["subscriptions need a WebSocket (graphql-transport-ws) or Accept: text/event-stream"],
        ),
    ],
)
async def test_errors_before_execution_carry_a_code(arguments: tuple[Any, Any, Any], messages: list[str]) -> None:
    answer = await run(build().engine, *arguments, context=Context([row()]))
    assert [error["message"] for error in answer.errors] == messages
    assert all(error["extensions"]["code"] == "UNPROCESSABLE" and error["extensions"]["status"] == 422 for error in answer.errors)
    assert (orjson.loads(answer.body)["data"], answer.status) == (None, 200)


async def test_a_refused_mutation_does_not_run() -> None:
    context = Context([row()])
    answer = await run(build().engine, "mutation { touch { id } }", context=context, read_only=True)
    assert (answer.errors[0]["message"], context.closed) == ("mutations must be sent by POST", [])
    assert (await run(build().engine, "mutation { touch { id } }", context=context)).body == b'{"data":{"touch":{"id":"1"}}}'
    assert context.closed == ["touched"]


async def test_too_many_objects_by_a_variable_are_refused_before_anything_runs() -> None:
    context = Context([row()])
    engine = build(limits=Limits(nodes=50)).engine
    answer = await run(engine, "query ($n: Int) { notes(limit: $n) { id } }", {"n": 51}, context=context)
    assert answer.body.startswith(b'{"data":null,"errors":[{"message":"the operation asks for up to 51 objects; the limit is 50')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-11-30T10:00:00", "must be an RFC 3339 text with an offset"),
        ("2026-11-30", "must be an RFC 3339 text with an offset"),
        ("2026-02-30T00:00:00Z", "names no day or time of the years 1 to 9999 in UTC"),
        ("0001-01-01T00:00:00+01:00", "names no day or time of the years 1 to 9999 in UTC"),
        ("2026-11-30T24:00:00Z", "names no day or time"),
        ("2026-11-30T10:00:00+25:00", "names no day or time"),
    ],
)
async def test_bad_times_are_refused_as_literals_and_as_variables(text: str, message: str) -> None:
    literal = await run(build().engine, f'{{ page(since: "{text}") {{ total }} }}', context=Context([]))
    variable = await run(build().engine, "query ($t: DateTime) { page(since: $t) { total } }", {"t": text}, context=Context([]))
    for answer in (literal, variable):
        (error,) = answer.errors
        assert message in error["message"]
        assert error["extensions"]["code"] == "UNPROCESSABLE"


async def test_json_values_come_back_as_they_were_sent() -> None:
    value = {"a": [1, 2**60, 1.5, None, {"b": "é"}], "c": True}
    answer = await run(build().engine, "query ($v: JSON!) { echo(value: $v) }", {"v": value})
    assert orjson.loads(answer.body) == {"data": {"echo": value}}
    literal = await run(build().engine, 'query ($x: Int) { echo(value: {a: [1, 1.5, null, true, "t", E], b: $x}) }', {"x": 5})
    assert literal.body == b'{"data":{"echo":{"a":[1,1.5,null,true,"t","E"],"b":5}}}'


async def test_messages_with_lone_surrogates_can_be_sent() -> None:
    answer = await run(build().engine, "query ($n: Int) { notes(limit: $n) { id } }", {"n": "\ud800"})
    assert answer.errors[0]["extensions"]["code"] == "UNPROCESSABLE"
    assert orjson.loads(answer.body)["errors"] == answer.errors


async def test_times_leave_in_utc_without_an_empty_fraction() -> None:
    times = [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 1, tzinfo=UTC)]
    answer = await run(build().engine, "{ notes { at } }", context=Context([row(at=time) for time in times]))
    assert answer.body == b'{"data":{"notes":[{"at":"2026-01-02T03:04:05Z"},{"at":"9999-12-31T23:59:59.000001Z"}]}}'


async def test_a_presentation_of_the_callers_own_is_used() -> None:
    engine = build(present=lambda error: Presented(f"seen: {error}", {"code": "MINE"})).engine
    answer = await run(engine, "{ fail }", context=Context(KeyError("k")))
    assert (answer.errors[0]["message"], answer.errors[0]["extensions"]) == ("seen: 'k'", {"code": "MINE"})
