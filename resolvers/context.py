"""What every resolver is given: who asks, and where answers come from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from strawberry.types import Info as StrawberryInfo

from models.caller import Caller
from models.errors import Unauthenticated
from resolvers.loaders import Loaders
from resolvers.mount import Mount
from store.database import Database
from store.feed import Feed


@dataclass
class Context:
    """One request's, or one socket's, surroundings. `connection_params` is where Strawberry puts the first message of a socket."""

    db: Database
    feed: Feed
    vault: Mount | None = None
    known: Caller | None = None
    connection_params: Any = None

    @property
    def caller(self) -> Caller:
        """Who asks. Raises Unauthenticated for nobody."""
        if self.known is None:
            raise Unauthenticated("say who you are: send `Authorization: Bearer <token>`, or sign in")
        return self.known

    def operator(self, what: str) -> Caller:
        """Who asks, if it is an operator. Raises Unauthenticated or Forbidden."""
        caller = self.caller
        caller.require_operator(what)
        return caller

    @cached_property
    def load(self) -> Loaders:
        """Rows by key, many at a time."""
        return Loaders(self.db, self.caller)


Info = StrawberryInfo[Context, None]
