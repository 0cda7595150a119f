"""What a client is told of an error."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLError

Log = Callable[[BaseException, str, str | None], None]
"""Called for each masked error with the exception, the id shown to the client and the operation's name."""


@dataclass(frozen=True, slots=True)
class Presented:
    """The message and the `extensions` of an error as the client sees them."""

    message: str
    extensions: dict[str, Any] = field(default_factory=dict)


Present = Callable[[BaseException], Presented | None]
"""Maps an exception to what is shown of it; None masks it as INTERNAL."""


def unprocessable(message: str, **more: Any) -> GraphQLError:
    """Return an error with code UNPROCESSABLE and status 422 in its extensions."""
    raise NotImplementedError


def present(error: BaseException) -> Presented | None:
    """Return what is shown of an exception with `code`, `status` and `message` (and `problems`, `extensions` where it has them).

    This is duck-typed; None for any other exception.
    """
    raise NotImplementedError


class Presenter:
    """Turns the errors of one execution into those that the client sees."""

    def __init__(self, present: Present, log: Log | None, new_id: Callable[[], str]) -> None:
        raise NotImplementedError

    def __call__(self, error: GraphQLError, operation_name: str | None) -> GraphQLError:
        """Return a new error with message and extensions for the client; place and path stay."""
        raise NotImplementedError


def status_of(errors: list[Mapping[str, Any]]) -> int:
    """Return the HTTP status of an answer with these formatted errors: 401, 429 or 503 where one says so, else 200."""
    raise NotImplementedError
