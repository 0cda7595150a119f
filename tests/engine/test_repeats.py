"""Which operations may write a value many times that they read once."""

import pytest
from graphql import OperationDefinitionNode, parse

from engine.repeats import may_repeat
from schema import build
from server.documents import documents

SCHEMA = build()._schema  # graphql-core's


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{ notes(level: ORG) { key content createdBy { name } } }", False),
        ("{ notes(level: ORG) { key text: content } }", True),
        ("{ notes(level: ORG) { latestChange { displayPath } } }", True),
        ("{ agent(id: 1) { guild { notes { content } } } }", False),
        ("{ organisation { agents { guild { name } } } }", True),
        ("{ organisation { agents { ...A } } } fragment A on Agent { ...B ...B } fragment B on Agent { guild { name } }", True),
        ("{ organisation { ... on Organisation { name ... { id } } } }", False),
        ("{ __schema { types { name } } }", True),
        ("{ __typename }", False),
    ],
)
def test_aliases_and_shared_objects_may_repeat(query: str, expected: bool) -> None:
    document = parse(query)
    operation = document.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    assert may_repeat(SCHEMA, document, operation) is expected


def test_what_the_pages_send_most_is_not_measured() -> None:
    engine = build().engine
    engine.documents.warm(documents().values())
    plain = {
        operation.name for text in documents().values() for operation in engine.documents.get(text).operations if not operation.may_repeat
    }
    assert plain >= {"AddRecord"}
