"""Documents are prepared once, and refused for every limit by its name."""

import gc
import tracemalloc
from typing import Any

import pytest
from graphql import get_introspection_query

from engine import Limits, RefusedError
from engine.documents import Documents
from tests.engine.sample import build


def documents(*, introspection: bool = True, **limits: int) -> Documents:
    return build(limits=Limits(**limits), introspection=introspection).engine.documents


def refusals(found: Documents, text: str, variables: dict[str, Any] | None = None) -> list[str]:
    def prepare() -> None:
        document = found.get(text)
        document.check_nodes(document.operation(None), variables)

    with pytest.raises(RefusedError) as caught:
        prepare()
    for error in caught.value.errors:
        assert error.extensions == {"code": "UNPROCESSABLE", "status": 422, "message": error.message, "problems": []}
    return [error.message for error in caught.value.errors]


def test_a_text_is_prepared_once() -> None:
    found = documents()
    assert found.get("{ __typename }") is found.get("{ __typename }")
    assert len(found) == 1


def test_the_least_recently_used_document_leaves_first() -> None:
    found = documents(cached_bytes=45_000)  # each of these has 17 to 19 KB
    first, second = "{ a: __typename }", "{ b: __typename }"
    for text in (first, second, first, "{ c: __typename }"):
        found.get(text)
    assert (first in found, second in found, len(found)) == (True, False, 2)


@pytest.mark.parametrize("literal", ["1, " * 900, f'"{"x" * 50_000}"', f'"{chr(0x4E00) * 25_000}"'], ids=["tokens", "text", "wide text"])
def test_what_is_kept_is_bounded_in_bytes_by_what_it_takes(literal: str) -> None:
    most = 1_000_000
    found = documents(cached_bytes=most)
    texts = [f"{{ echo(value: [{n}, {literal}]) }}" for n in range(25)]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for text in texts:
            found.get(text)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1.2 * most
    assert 0 < len(found) < len(texts)
    assert texts[-1] in found


def test_warmed_documents_stay_and_bad_ones_are_told_at_start() -> None:
    found = documents(cached_bytes=20_000)
    found.warm(["{ a: __typename }"])
    for n in range(3):
        found.get(f"{{ b{n}: __typename }}")
    assert "{ a: __typename }" in found
    assert len(found) == 2
    with pytest.raises(RefusedError, match="Cannot query field 'nothing' on type 'Query'"):
        found.warm(["{ nothing }"])


def test_refused_documents_are_not_kept() -> None:
    found = documents()
    assert refusals(found, "{ notes }") == [
        "Field 'notes' of type '[Note!]!' must have a selection of subfields. Did you mean 'notes { ... }'?"
    ]
    assert len(found) == 0


def test_every_error_of_validation_is_listed() -> None:
    assert refusals(documents(), "{ one two notes { three } }") == [
        "Cannot query field 'one' on type 'Query'. Did you mean 'note'?",
        "Cannot query field 'two' on type 'Query'.",
        "Cannot query field 'three' on type 'Note'. Did you mean 'twice'?",
    ]


@pytest.mark.parametrize(
    ("limits", "text", "message"),
    [
        ({"depth": 2}, "{ notes { updatedBy { name } } }", "the document is 3 levels deep; the limit is 2"),
        ({"depth": 2}, "{ notes { ...A } } fragment A on Note { updatedBy { name } }", "the document is 3 levels deep; the limit is 2"),
        ({"root_fields": 1}, "{ ...A note { id } } fragment A on Query { notes { id } }", "the document has 2 root fields; the limit is 1"),
        ({"aliases": 1}, "{ a: note { b: id } }", "the document has 2 aliases; the limit is 1"),
        ({"fields": 2}, "{ note { id key } }", "the document has 3 fields; the limit is 2"),
        ({"characters": 5}, "{ note { id } }", "the document has 15 characters; the limit is 5"),
    ],
)
def test_each_limit_refuses_by_its_name(limits: dict[str, int], text: str, message: str) -> None:
    assert refusals(documents(**limits), text) == [message]
    assert documents(**{name: value + 1 for name, value in limits.items()} | {"characters": 100}).get(text).operations


def test_all_limits_that_are_passed_are_told_at_once() -> None:
    assert refusals(documents(depth=1, aliases=0, root_fields=1), "{ a: note { id } b: note { id } }") == [
        "the document is 2 levels deep; the limit is 1",
        "the document has 2 root fields; the limit is 1",
        "the document has 2 aliases; the limit is 0",
    ]


def test_tokens_are_limited_while_the_text_is_read() -> None:
    (message,) = refusals(documents(tokens=10), "{" + " __typename" * 10 + " }")
    assert message == "Syntax Error: Document contains more than 10 tokens. Parsing aborted."


def test_comments_do_not_evade_the_limits() -> None:
    (message,) = refusals(documents(tokens=10), "#\n" * 11 + "{ __typename }")
    assert message == "Syntax Error: Document contains more than 10 comments. Parsing aborted."


@pytest.mark.parametrize("text", ["{ note " * 1900 + "}" * 1900, "{ echo(value: " + "[" * 1900 + "]" * 1900 + ") }"])
def test_deep_nesting_is_refused_whatever_it_nests(text: str) -> None:
    assert refusals(documents(), text) == ["Syntax Error: Document is nested too deeply. Parsing aborted."]


def test_a_chain_of_fragments_is_refused() -> None:
    chain = " ".join(f"fragment F{n} on Query {{ ...F{n + 1} }}" for n in range(500))
    (message,) = refusals(documents(tokens=9_000), f"{{ ...F0 }} {chain} fragment F500 on Query {{ __typename }}")
    assert message == "the document nests too deeply; the limit is 12 levels"


def test_fragments_that_hold_themselves_are_refused_by_name() -> None:
    text = "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"
    assert refusals(documents(), text) == ["Cannot spread fragment 'A' within itself via 'B'."]


def test_fragments_that_double_each_other_are_counted_without_walking_each_path() -> None:
    doubling = " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(40))
    (message,) = refusals(documents(), f"{{ ...F0 }} {doubling} fragment F40 on Query {{ __typename }}")
    assert message == f"the document has {2**40} root fields; the limit is 20"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{ __typename }", 0),
        ("{ note { id updatedBy { name } } }", 2),
        ("{ notes(limit: 5) { id updatedBy { name } } }", 10),
        ("{ notes { id } }", 20),
        ("{ maybe { id } }", 10),
        ("{ page(limit: 7) { total notes { id } } }", 8),
        ("{ page(limit: 7) { ...P } } fragment P on Page { notes { id parts { name } } }", 1 + 7 * 11),
        ("{ notes(limit: 100) { parts { name } } }", 100 * 11),
        ("{ notes(limit: 0) { id } }", 1),
        ("{ a: notes(limit: 3) { id } ... on Query { b: notes(limit: 4) { id } } }", 7),
    ],
)
def test_the_objects_that_an_operation_asks_for_are_counted(text: str, count: int) -> None:
    assert documents().get(text).operation(None).nodes(None) == count
    if count:
        message = f"the operation asks for up to {count} objects; the limit is {count - 1} (limit arguments multiply)"
        assert refusals(documents(nodes=count - 1), text) == [message]


def test_limits_in_variables_are_counted_when_it_is_executed() -> None:
    found = documents(nodes=100)
    text = "query ($n: Int, $m: Int = 3) { a: notes(limit: $n) { id } b: notes(limit: $m) { id } }"
    operation = found.get(text).operation(None)
    assert [operation.nodes(given) for given in (None, {}, {"n": 5}, {"n": 5, "m": 6}, {"n": "x"})] == [23, 23, 8, 11, 23]
    assert refusals(found, text, {"n": 98}) == ["the operation asks for up to 101 objects; the limit is 100 (limit arguments multiply)"]


def test_introspection_works_within_the_limits_and_can_be_switched_off() -> None:
    assert documents().get(get_introspection_query()).operations
    text = "{ __schema { types { name } } }"
    messages = refusals(documents(introspection=False), text)
    assert messages[0] == "GraphQL introspection has been disabled, but the requested query contained the field '__schema'."
    assert refusals(documents(introspection=False), "{ note { keys } }") == ["Cannot query field 'keys' on type 'Note'."]


def test_introspection_that_multiplies_is_refused() -> None:
    text = "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }"
    assert refusals(documents(), text) == ["Maximum introspection depth exceeded"]


def test_the_operation_must_be_named_where_there_are_several() -> None:
    document = documents().get("query A { __typename } query B { __typename }")
    assert document.operation("B").name == "B"
    with pytest.raises(RefusedError, match='operationName must say which operation to run: "A", "B"'):
        document.operation(None)
    with pytest.raises(RefusedError, match='unknown operation "C"; the document has "A", "B"'):
        document.operation("C")
