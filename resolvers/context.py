"""What every resolver is given: who asks, and where answers come from."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any

from strawberry.types import Info as StrawberryInfo

from models.caller import Caller, required
from models.errors import Forbidden, MunimentError, Unauthenticated
from resolvers.loaders import Loaders
from resolvers.mount import Mount
from store import callers
from store.database import Database
from store.feed import Feed
from store.shares import Shares
from store.usage import Party, Usage, current

# Seconds for which a subscription goes by rights that were read before; revoked ones must end within one.
OLDEST_RIGHTS = 0.9


@dataclass
class Context:
    """The surroundings of one request, or of one operation of a socket.

    `refused` is why a socket's handshake named nobody, `held_socket` who holds a place for an open socket; `connection_params` is where
    Strawberry puts a socket's first message.
    """

    db: Database
    feed: Feed
    vault: Mount | None = None
    known: Caller | None = None
    refused: MunimentError | None = None
    subscriptions: Shares = field(default_factory=lambda: Shares(1_000))
    held_socket: Party | None = None
    answer_bytes: int = 33_554_432
    connection_params: Any = None
    as_of: float = field(default_factory=monotonic)

    @property
    def caller(self) -> Caller:
        """Who asks. Raises Unauthenticated for nobody."""
        return required(self.known)

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

    def sharing(self) -> Hashable:
        """Whoever has the same is shown the same of a change: the operators of an organisation, or one agent on several sockets."""
        return None if self.known is None else (self.known.org_id, self.known.agent_id)

    async def renew(self) -> None:
        """Take the caller's rights as they are now, unless they were read a moment ago. Raises Unauthenticated once they have ended."""
        if self.known is not None:
            # The answer to each event has bounds of its own.
            current.set(Usage(self.known.org_id, self.known.id, self.answer_bytes))
        if monotonic() - self.as_of < OLDEST_RIGHTS:
            return
        # Before the wait: events that come meanwhile need not ask too.
        self.as_of = monotonic()
        self.known = await callers.still_valid(self.db, self.caller)
        # The loaders hold the caller with the old rights.
        self.__dict__.pop("load", None)
        if self.known is None:
            raise Unauthenticated("the token or the rights of this subscription have ended")

    @cached_property
    def load(self) -> Loaders:
        """Rows by key, many at a time."""
        return Loaders(self.db, self.caller)


Info = StrawberryInfo[Context, None]
