"""What one case of the conformance table says."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Refused:
    """The code of a refusal and what its message must hold; `exact` is the whole message, `columns` those of its problems."""

    code: str
    says: tuple[str, ...] = ()
    exact: str | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Call:
    """An operation by a caller of the world; `{name}` in arguments stands for an id of the ground, see ground.py."""

    caller: str
    operation: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A call, what goes before it, and what must come of it: a part of the answer, or a refusal that changes nothing."""

    name: str
    section: str
    call: Call
    expected: dict[str, Any] | Refused
    before: tuple[Call, ...] = field(default=())
    doors: frozenset[str] | None = None

    def __str__(self) -> str:
        return self.name
