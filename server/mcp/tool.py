"""One tool: what a model is told of it, and the operation that it calls."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from models.caller import Caller
from server.mcp import arguments
from server.mcp.answers import Answer
from server.mcp.arguments import Argument
from store.database import Database

Run = Callable[..., Awaitable[Answer]]
"""Called with the database, the caller and the arguments that were given, by their names."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `heading` begins the refusal of wrong arguments, as the operation's own refusals begin."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Argument]
    run: Run
    heading: str = "request rejected"
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return arguments.schema(self.arguments)

    async def answer(self, db: Database, caller: Caller, given: Mapping[str, Any]) -> Answer:
        """What the tool answers. Raises Unprocessable for wrong arguments, and what its operation raises."""
        values = arguments.read(self.name, self.heading, self.arguments, given)
        return await self.run(db, caller, **values)
