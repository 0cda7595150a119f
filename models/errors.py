"""Every refusal of the product, as one tree.

MunimentError
├── Unauthenticated      401  no caller, or a bad or revoked token
├── Forbidden            403  the caller may read but not write, or an operator's operation
├── NotFound             404  unknown, or not readable by this caller
├── Conflict             409  a unique value is taken
│   └── VersionConflict  409  the expected version is not the current one
├── Unprocessable        422  something is wrong with the arguments
│   ├── CursorExpired    422  a feed position from before retention
│   └── LimitExceeded    422  a stored cap would be passed
├── RateLimited          429  too many requests of one caller
└── Unavailable          503  what is needed does not answer, or the operation took too long
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request: the column or argument, if one is meant, and why."""

    column: str | None
    message: str

    def as_json(self) -> dict[str, str | None]:
        """The shape that every door shows."""
        return {"column": self.column, "message": self.message}


MOST_PROBLEMS = 100
_MOST_CHARACTERS = 2_000


def listed(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems that a refusal lists: the first 100, each shortened, then how many more there are."""
    shown = [Problem(p.column and shortened(p.column), shortened(p.message)) for p in problems[:MOST_PROBLEMS]]
    if (left := len(problems) - len(shown)) > 0:
        shown.append(Problem(None, f"and {left:,} more problems"))
    return tuple(shown)


def shortened(text: str, most: int = _MOST_CHARACTERS) -> str:
    """Return a text of at most `most` characters, so that a refusal does not send back all that it was sent."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class MunimentError(Exception):
    """A refusal that a client sees as it is."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, problems: Sequence[Problem] = (), **extensions: Any) -> None:
        super().__init__(message)
        self.message = message
        self.problems = listed(problems)
        self.extensions = extensions

    def as_json(self) -> dict[str, Any]:
        """Code, status, message, problems and whatever else this refusal tells."""
        return {
            "code": self.code,
            "status": self.status,
            "message": self.message,
            "problems": [problem.as_json() for problem in self.problems],
            **self.extensions,
        }


class Unauthenticated(MunimentError):
    """No caller, or a bad or revoked token."""

    code = "UNAUTHENTICATED"
    status = 401


class Forbidden(MunimentError):
    """The caller may read but not write, or the operation is an operator's."""

    code = "FORBIDDEN"
    status = 403


class NotFound(MunimentError):
    """Unknown, or not readable by this caller."""

    code = "NOT_FOUND"
    status = 404


class Conflict(MunimentError):
    """A unique value is taken, or something else stands in the way; the message names it."""

    code = "CONFLICT"
    status = 409


class VersionConflict(Conflict):
    """The expected version is not the current one."""

    code = "VERSION_CONFLICT"

    def __init__(self, path: str, *, expected: int, current: int) -> None:
        # Both numbers, so that the caller need not read the file to learn how far it is behind.
        state = f"is at version {current}" if current else "does not exist (version 0)"
        super().__init__(f"{path} {state}, not at version {expected}; read it again and repeat the change", currentVersion=current)


class Unprocessable(MunimentError):
    """Something is wrong with the arguments; every problem is listed and nothing was written."""

    code = "UNPROCESSABLE"
    status = 422

    @classmethod
    def listing(cls, heading: str, problems: Sequence[Problem]) -> "Unprocessable":
        """A refusal whose message is the heading and one line for each problem that is listed."""
        lines = (f'- column "{p.column}": {p.message}' if p.column is not None else f"- {p.message}" for p in listed(problems))
        return cls("\n".join([heading, *lines]), problems=problems)


class CursorExpired(Unprocessable):
    """A position in the feed from before what retention keeps."""

    def __init__(self) -> None:
        super().__init__("this cursor is older than the changes that are kept; start again without it", reason="CURSOR_EXPIRED")


class LimitExceeded(Unprocessable):
    """A stored cap would be passed; the message names it."""

    code = "LIMIT_EXCEEDED"


class RateLimited(MunimentError):
    """Too many requests of one caller."""

    code = "RATE_LIMITED"
    status = 429

    def __init__(self, retry_after: float, reason: str = "too many requests") -> None:
        """`retry_after` is in seconds."""
        super().__init__(f"{reason}; try again in {retry_after:.1f} s", retryAfter=retry_after)


class Unavailable(MunimentError):
    """What is needed does not answer, or the operation took too long."""

    code = "UNAVAILABLE"
    status = 503
