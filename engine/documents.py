"""Documents that were parsed, checked and validated once."""

from collections.abc import Iterable, Mapping
from sys import getsizeof
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    parse,
    specified_rules,
    validate,
)
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from engine.errors import RefusedError, unprocessable
from engine.kept import Kept
from engine.limits import Limits
from engine.measure import NodeCount, event_variables, limit_variables, structure_problems
from engine.plans import DocumentPlans, PlanStore
from engine.repeats import may_repeat

MOST_ERRORS = 20
MOST_KEPT_COUNTS = 64
# As measured: of a document without its tokens, and of a token with the node that it becomes.
BYTES_A_DOCUMENT, BYTES_A_TOKEN = 16_000, 400
UNTRIED = object()


class Operation:
    """One operation of a kept document: its name, its type (query, mutation or subscription) and how much it asks for."""

    __slots__ = ("_counts", "_defaults", "_document", "event_variables", "may_repeat", "name", "node", "shortcut", "type")

    def __init__(self, document: "Document", node: OperationDefinitionNode) -> None:
        self.name = node.name.value if node.name else None
        self.type = node.operation.value
        self.node = node
        self._document = document
        self._defaults = limit_variables(document.node, node)
        self.event_variables = event_variables(document.node, node) if self.type == "subscription" else ()
        self.may_repeat = may_repeat(document.schema, document.node, node)
        self._counts: dict[tuple[Any, ...], int] = {}
        self.shortcut: Any = UNTRIED  # how `shortcut.py` runs it; None where it cannot

    def nodes(self, variables: Mapping[str, Any] | None) -> int:
        """Return how many objects the operation asks for, at most, with these values of its variables."""
        given = variables or {}
        asked = {name: given.get(name, default) for name, default in self._defaults.items()}
        # Anything but an integer is refused when the variables are read; here it counts as not given.
        values = {name: value if isinstance(value, int) else None for name, value in asked.items()}
        key = tuple(values.values())
        if (count := self._counts.get(key)) is None:
            document = self._document
            count = NodeCount(document.schema, document.node, document.limits, values).of(self.node)
            # Clients choose the values, so there is no end to them.
            if len(self._counts) < MOST_KEPT_COUNTS:
                self._counts[key] = count
        return count


class Document:
    """A valid document: its operations by name, and the functions that complete its rows."""

    __slots__ = ("limits", "node", "operations", "plans", "schema", "text")

    def __init__(self, text: str, node: DocumentNode, schema: GraphQLSchema, limits: Limits, store: PlanStore) -> None:
        self.text = text
        self.node = node
        self.schema = schema
        self.limits = limits
        self.plans = DocumentPlans(store)
        self.operations = [Operation(self, found) for found in node.definitions if isinstance(found, OperationDefinitionNode)]

    def operation(self, name: str | None) -> Operation:
        """Return the operation to run. Raises RefusedError where the name is unknown, or missing and needed."""
        if name is None and len(self.operations) == 1:
            return self.operations[0]
        found = next((operation for operation in self.operations if name is not None and operation.name == name), None)
        if found is not None:
            return found
        known = ", ".join(f'"{operation.name}"' for operation in self.operations)
        if name is None:
            raise RefusedError([unprocessable(f"operationName must say which operation to run: {known}")])
        raise RefusedError([unprocessable(f'unknown operation "{name}"; the document has {known}')])

    def check_nodes(self, operation: Operation, variables: Mapping[str, Any] | None) -> None:
        """Raise RefusedError where the operation asks for more objects than the limits allow."""
        count = operation.nodes(variables)
        if count > self.limits.nodes:
            message = f"the operation asks for up to {count} objects; the limit is {self.limits.nodes} (limit arguments multiply)"
            raise RefusedError([unprocessable(message)])


class Documents:
    """Keeps valid documents by their text, the least recently used leave first; warmed ones stay."""

    def __init__(self, schema: GraphQLSchema, limits: Limits, *, introspection: bool = True) -> None:
        self.limits = limits
        self._schema = schema
        self.introspection = introspection
        self._rules = [*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule]
        if not introspection:
            self._rules.append(NoSchemaIntrospectionCustomRule)
        self._store = PlanStore(schema, limits.cached_bytes)
        self.fallbacks = self._store.fallbacks
        self._pinned: dict[str, Document] = {}
        self._kept: Kept[str, Document] = Kept(limits.cached_bytes)

    def __len__(self) -> int:
        return len(self._pinned) + len(self._kept)

    def __contains__(self, text: object) -> bool:
        return text in self._pinned or text in self._kept

    def warm(self, texts: Iterable[str]) -> None:
        """Prepare our own documents at start and keep them for good. Raises RefusedError for the first that is not valid.

        The limits on what is written in a document are not for them; what they ask for is counted when they run.
        """
        for text in texts:
            self._pinned[text] = self._document(text, parse(text))

    def get(self, text: str) -> Document:
        """Return the document of a text. Raises RefusedError with every error of syntax, limits or validation; such are not kept."""
        if (pinned := self._pinned.get(text)) is not None:
            return pinned
        if (kept := self._kept.get(text)) is not None:
            return kept
        document = self._prepare(text)
        self._kept.keep(text, document, _weight(document))
        return document

    def _prepare(self, text: str) -> Document:
        node = self._parse(text)
        if problems := structure_problems(node, self.limits):
            raise RefusedError(unprocessable(problem) for problem in problems)
        document = self._document(text, node)
        # By the defaults, so that what is too large without any variables is never kept.
        for operation in document.operations:
            document.check_nodes(operation, None)
        return document

    def _document(self, text: str, node: DocumentNode) -> Document:
        errors = validate(self._schema, node, self._rules, max_errors=MOST_ERRORS, hide_suggestions=not self.introspection)
        if errors:
            raise RefusedError(_refused(error) for error in errors)
        return Document(text, node, self._schema, self.limits, self._store)

    def _parse(self, text: str) -> DocumentNode:
        limits = self.limits
        if len(text) > limits.characters:
            raise RefusedError([unprocessable(f"the document has {len(text)} characters; the limit is {limits.characters}")])
        try:
            return parse(text, max_lexical_tokens=limits.tokens, max_comments=limits.tokens)
        except GraphQLError as error:
            raise RefusedError([_refused(error)]) from error


def _weight(document: Document) -> int:
    """Return about how many bytes a document takes: its text twice, and the tokens and nodes."""
    tokens = 0
    token = document.node.loc.start_token if document.node.loc else None
    while token is not None:
        tokens, token = tokens + 1, token.next
    return BYTES_A_DOCUMENT + BYTES_A_TOKEN * tokens + 2 * getsizeof(document.text)


def _refused(error: GraphQLError) -> GraphQLError:
    extensions = unprocessable(error.message).extensions
    return GraphQLError(error.message, error.nodes, error.source, error.positions, extensions=extensions)
