"""What a client is told of an error."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import FieldNode, GraphQLError

Log = Callable[[BaseException, str, str | None], None]
"""Called for each masked error with the exception, the id shown to the client and the operation's name."""

# What proxies and clients act on by the status alone; for the rest GraphQL over HTTP (6.4.1, application/json) has 200.
CARRIED_BY_HTTP = (401, 429, 503)


@dataclass(frozen=True, slots=True)
class Presented:
    """The message and the `extensions` of an error as the client sees them."""

    message: str
    extensions: dict[str, Any] = field(default_factory=dict)


Present = Callable[[BaseException], Presented | None]
"""Maps an exception to what is shown of it; None masks it as INTERNAL."""


class RefusedError(Exception):
    """A request that is not executed; `errors` says why."""

    def __init__(self, errors: Iterable[GraphQLError]) -> None:
        self.errors = list(errors)
        super().__init__("; ".join(error.message for error in self.errors))


def extensions_of(code: str, status: int, message: str, problems: Iterable[Any] = (), **more: Any) -> dict[str, Any]:
    """Return the `extensions` of an error in the shape that every door shows."""
    return {"code": code, "status": status, "message": message, "problems": [_problem(p) for p in problems], **more}


def unprocessable(message: str, **more: Any) -> GraphQLError:
    """Return an error with code UNPROCESSABLE and status 422 in its extensions."""
    return GraphQLError(message, extensions=extensions_of("UNPROCESSABLE", 422, message, **more))


def present(error: BaseException) -> Presented | None:
    """Return what is shown of an exception with `code`, `status` and `message` (and `problems`, `extensions` where it has them).

    This is duck-typed; None for any other exception, and for one whose code is INTERNAL.
    """
    code, status, message = (getattr(error, name, None) for name in ("code", "status", "message"))
    if not (isinstance(code, str) and isinstance(status, int) and isinstance(message, str)) or code == "INTERNAL":
        return None
    more = getattr(error, "extensions", None) or {}
    return Presented(message, extensions_of(code, status, message, getattr(error, "problems", None) or (), **more))


class Presenter:
    """Turns the errors of executions into those that clients see."""

    def __init__(self, present: Present, log: Log | None, new_id: Callable[[], str]) -> None:
        self._present = present
        self._log = log
        self._new_id = new_id

    def __call__(self, error: BaseException, operation_name: str | None = None) -> GraphQLError:
        """Return a new error with message and extensions for the client; place and path in the document stay."""
        shown = self._shown(error) or self._masked(error, operation_name)
        message = printable(shown.message)
        if not isinstance(error, GraphQLError):
            return GraphQLError(message, extensions=shown.extensions)
        return GraphQLError(message, error.nodes, error.source, error.positions, error.path, extensions=shown.extensions)

    def _shown(self, error: BaseException) -> Presented | None:
        cause = _cause(error)
        if not isinstance(cause, GraphQLError):
            presented = self._present(cause)
            if presented is not None or not isinstance(error, GraphQLError) or error.path is not None:
                return presented
            cause = error  # a value of a variable that a scalar refused
        if (extensions := cause.extensions) and "code" in extensions:
            return Presented(cause.message, dict(extensions))
        if _is_about_the_request(error, cause):
            message = printable(error.message if isinstance(error, GraphQLError) else cause.message)
            return Presented(message, extensions_of("UNPROCESSABLE", 422, message))
        return None

    def _masked(self, error: BaseException, operation_name: str | None) -> Presented:
        error_id = self._new_id()
        if self._log is not None:
            self._log(_cause(error), error_id, operation_name)
        message = f"internal error {error_id}; the server's log has it under this id"
        return Presented(message, extensions_of("INTERNAL", 500, message, id=error_id))


def status_of(errors: Iterable[Mapping[str, Any]]) -> int:
    """Return the HTTP status of an answer with these formatted errors: 401, 429 or 503 where one says so, else 200."""
    statuses = (error.get("extensions", {}).get("status") for error in errors)
    return next((status for status in statuses if status in CARRIED_BY_HTTP), 200)


def printable(text: str) -> str:
    """Return `text` with lone surrogates, which UTF-8 cannot hold, written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, GraphQLError) and error.original_error is not None:
        error = error.original_error
    return error


def _is_about_the_request(error: BaseException, cause: GraphQLError) -> bool:
    # Without a path nothing ran yet. With one, only a refused argument points at its own node instead of the field's;
    # all other errors of this class are the server's (a null where none may be, a value of a wrong type) and may quote data.
    if not isinstance(error, GraphQLError) or error.path is None:
        return True
    return bool(cause.nodes) and not any(isinstance(node, FieldNode) for node in cause.nodes or ())


def _problem(problem: Any) -> Any:
    if isinstance(problem, Mapping):
        return dict(problem)
    as_json = getattr(problem, "as_json", None)
    return as_json() if as_json is not None else {"column": getattr(problem, "column", None), "message": str(problem)}
