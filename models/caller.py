from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from models.errors import Forbidden, Unauthenticated


class ActorKind(StrEnum):
    """Who wrote: a person, an agent, or the product itself."""

    USER = "USER"
    AGENT = "AGENT"
    SYSTEM = "SYSTEM"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, for which organisation and, for an agent's run, from which tool call.

    The four bindings and `guild_id` mean something for agents only. `token_id` or `session_id` is what it came with, if that has a row.
    `expires_at` is the end of a signed token (JWT) or of the session.
    """

    org_id: str
    kind: ActorKind
    id: str
    name: str
    guild_id: str | None = None
    read_guild: bool = False
    read_org: bool = False
    write_guild: bool = False
    write_org: bool = False
    run_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    token_id: str | None = None
    session_id: str | None = None
    expires_at: datetime | None = None

    @property
    def is_agent(self) -> bool:
        """Whether an agent calls."""
        return self.kind is ActorKind.AGENT

    @property
    def agent_id(self) -> str | None:
        """The calling agent's id, or None for an operator."""
        return self.id if self.is_agent else None

    def require_operator(self, what: str) -> None:
        """Refuse agents; `what` is the operation as the message names it. Raises Forbidden."""
        if self.is_agent:
            raise Forbidden(f"{what} is for operators")

    def in_call(self, run_id: str | None, tool_call_id: str | None, tool_name: str | None) -> "Caller":
        """The same caller within a run's tool call."""
        return replace(self, run_id=run_id, tool_call_id=tool_call_id, tool_name=tool_name)


def system(org_id: str, name: str = "muniment") -> Caller:
    """The product itself, with an operator's reach in one organisation."""
    return Caller(org_id=org_id, kind=ActorKind.SYSTEM, id="system", name=name)


def required(caller: Caller | None) -> Caller:
    """Return the caller. Raises Unauthenticated for nobody."""
    if caller is None:
        raise Unauthenticated("say who you are: send `Authorization: Bearer <token>`, or sign in")
    return caller
