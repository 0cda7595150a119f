"""The short way from the text of a request to the bytes of its answer."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request: its JSON, its HTTP status, its errors as sent, and what the log wants to know."""

    body: bytes
    status: int
    errors: list[dict[str, Any]]
    operation_name: str | None
    operation_type: str | None  # query or mutation; None where the document was refused


class Engine:
    """A schema with its kept documents; made by EngineSchema. `documents.warm(texts)` prepares and pins documents."""


async def run(
    engine: Engine,
    query: Any,
    variables: Any = None,
    operation_name: Any = None,
    context: Any = None,
    root: Any = None,
    *,
    read_only: bool = False,
) -> Answer:
    """Return the answer to a query or mutation. It raises nothing but cancellation: every error is in the answer.

    The first three are as the client sent them and are checked here. `read_only` refuses mutations (GET).
    """
    raise NotImplementedError
