"""What a route is: one entry of the table that serves requests, checks their arguments and documents them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope

from models.caller import Caller
from server.rest.arguments import Body, Query
from server.services import Services
from store.database import Database


class Tag(Enum):
    """What an entity tag is made of."""

    VERSION = "version"
    # Where the answer shows more than the version counts, such as names of others.
    CONTENT = "content"


class Guard(Enum):
    """Which states a write may be bound to."""

    NONE = "none"
    MATCH = "If-Match"
    # The write may also be bound to there being nothing yet.
    MATCH_OR_NEW = "If-Match or If-None-Match: *"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a route, with who sent it. `expected` is the version that it is bound to, 0 for none yet."""

    services: Services
    caller: Caller
    path: dict[str, str]
    headers: Headers
    expected: int | None
    scope: Scope
    receive: Receive

    @property
    def db(self) -> Database:
        """The database."""
        return self.services.db


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers: its JSON, the version of what it shows, and a status or place other than the route's usual."""

    content: Any = None
    version: int | None = None
    status: int | None = None
    location: str | None = None


class NoQuery(Query):
    """No parameters."""


Handler: TypeAlias = Callable[[Call, Any], Awaitable[Answer | Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One method at one path. The handler is given the body if the route takes one, else the query; its docstring documents the route."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    group: str
    query: type[Query] = NoQuery
    body: type[Body] | None = None
    answer: type[BaseModel] | None = None
    status: int = 200
    tag: Tag | None = None
    guard: Guard = Guard.NONE
    headers: dict[str, str] = field(default_factory=dict)
    # Media types of an answer, or of a body, that is no JSON; such a request takes as long as it takes.
    gives: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The operation's name in the document, the log and the metrics."""
        return f"{self.group.replace(' ', '_')}.{self.handler.__name__}"

    @property
    def long(self) -> bool:
        """Whether the time of the request depends on a file's size."""
        return bool(self.gives or self.takes)
