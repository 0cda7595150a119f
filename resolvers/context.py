"""What every resolver is given: who asks, and where answers come from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from strawberry.types import Info as StrawberryInfo

from models.caller import Caller
from models.errors import Forbidden, MunimentError, Unauthenticated
from resolvers.loaders import Loaders
from resolvers.mount import Mount
from store.database import Database
from store.feed import Feed


@dataclass
class Context:
    """The surroundings of one request, or of one operation of a socket.

    `refused` is why a socket's handshake named nobody; `connection_params` is where Strawberry puts a socket's first message.
    """

    db: Database
    feed: Feed
    vault: Mount | None = None
    known: Caller | None = None
    refused: MunimentError | None = None
    most_subscriptions: int = 1_000
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

    def operator_or_agent(self, agent_id: str, what: str) -> Caller:
        """Who asks, if it is an operator or this very agent; `what` is of the agent. Raises Unauthenticated, Forbidden."""
        caller = self.caller
        if caller.is_agent and caller.id != agent_id:
            raise Forbidden(f"another agent's {what} is for operators")
        return caller

    @cached_property
    def load(self) -> Loaders:
        """Rows by key, many at a time."""
        return Loaders(self.db, self.caller)


Info = StrawberryInfo[Context, None]
