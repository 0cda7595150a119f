"""What every shape is, and what several share."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Access = Literal["none", "read", "write"]
Scope = Literal["org", "guild"]


class Shape(BaseModel):
    """An object with exactly these fields."""

    model_config = ConfigDict(extra="forbid")


class Actor(Shape):
    """Who did something, as they were called then."""

    kind: Literal["user", "agent", "system"]
    id: str
    name: str


class ColumnProblem(Shape):
    """What is wrong with a value."""

    column: str | None
    message: str


class Refusal(BaseModel):
    """Why a request was refused. Some refusals tell more, such as `current_version`."""

    code: str
    status: int
    message: str
    problems: list[ColumnProblem]
