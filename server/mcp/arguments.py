"""What tools take: each argument as models are told of it, and as it is read. Every wrong one is told at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from models import datetimes
from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.kinds import NoteLevel
from models.limits import DEFAULT_PAGE, MAX_PAGE, WHERE_COLUMNS, WHERE_TERM_CHARACTERS
from models.text import printable
from store.record_list import parse_order


class Unreadable(Exception):
    """A value that an argument does not take; the message goes on from the argument's name."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its JSON schema, and what reads it. `read` raises Unreadable, or Unprocessable."""

    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    required: bool = True

    def described(self, text: str) -> Self:
        """The same argument with a description."""
        return replace(self, schema={**self.schema, "description": text})

    def optional(self) -> Self:
        """The same argument, which may be left out; null counts as left out."""
        return replace(self, required=False)


def schema(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments; no others are taken."""
    return {
        "type": "object",
        "properties": {name: dict(argument.schema) for name, argument in arguments.items()},
        "required": [name for name, argument in arguments.items() if argument.required],
        "additionalProperties": False,
    }


def read(tool: str, heading: str, arguments: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the arguments that were given. Raises Unprocessable listing everything that is wrong with names and types."""
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, argument in arguments.items():
        value = given.get(name)
        # Models send null for what they leave out.
        if value is None:
            if argument.required:
                problems.append(Problem(None, f"{name} is required"))
            continue
        try:
            values[name] = argument.read(value)
        except Unprocessable as error:
            problems += error.problems
        except Unreadable as error:
            problems.append(Problem(None, f"{name} {error}"))
    problems += [Problem(None, _unknown(tool, name, arguments)) for name in given if name not in arguments]
    if problems:
        raise Unprocessable.listing(heading, problems)
    return values


def _unknown(tool: str, name: str, arguments: Mapping[str, Argument]) -> str:
    takes = f"takes {', '.join(arguments)}" if arguments else "takes no arguments"
    return f"unknown argument {shown(name)}; {tool} {takes}"


# ---------------------------------------------------------------------- how values are read


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unreadable(f"must be a text; got {shown(value)}")
    return value


def _level(value: Any) -> NoteLevel:
    if isinstance(value, str) and value.upper() in NoteLevel.__members__:
        return NoteLevel[value.upper()]
    raise Unreadable(f"must be one of agent, guild, org; got {shown(value)}")


def _whole(value: Any) -> int:
    # JSON has no integers of its own: 20.0 is 20.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unreadable(f"must be a whole number; got {shown(value)}")
    return value


def _record_id(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return str(_whole(value))
    except Unreadable:
        raise Unreadable(f"must be a record's id, like 12; got {shown(value)}") from None


def _since(value: Any) -> datetime:
    if not isinstance(value, str):
        raise Unreadable(f"must be an ISO 8601 datetime with a timezone, like {datetimes.EXAMPLE}; got {shown(value)}")
    try:
        return datetime.fromisoformat(datetimes.normalised(value))
    except ValueError as error:
        raise Unreadable(f"{str(error).replace('expected', 'must be', 1)}; got {shown(printable(value))}") from None


def _body(value: Any) -> Mapping[str, Any]:
    return _object("columns and values", value)


def _where(value: Any) -> Mapping[str, Any]:
    return _object("columns and terms", value)


def _object(of: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unreadable(f"must be an object of {of}; got {shown(value)}")
    return value


def _order(value: Any) -> Any:
    if not isinstance(value, str | Mapping):
        raise Unreadable(f'must be {{"column": name, "direction": "asc" or "desc"}}, or the text "name" or "name desc"; got {shown(value)}')
    return parse_order(value)


# ---------------------------------------------------------------------- the kinds of argument

TEXT = Argument({"type": "string"}, _text)
LEVEL = Argument({"type": "string", "enum": [level.lower() for level in NoteLevel]}, _level)
RECORD_ID = Argument({"type": ["string", "integer"]}, _record_id)
BODY = Argument({"type": "object"}, _body)
SINCE = Argument({"type": "string", "format": "date-time"}, _since, required=False)
LIMIT = Argument({"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE}, _whole, required=False).described(
    f"How many to return at most, 1 to {MAX_PAGE}."
)
OFFSET = Argument({"type": "integer", "minimum": 0, "default": 0}, _whole, required=False).described(
    "How many to skip, to read the next page."
)
ORDER = Argument(
    {
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"column": {"type": "string"}, "direction": {"type": "string", "enum": ["asc", "desc"]}},
                "required": ["column"],
                "additionalProperties": False,
            },
        ]
    },
    _order,
    required=False,
).described(
    'The order: "column", "column desc", or {"column": …, "direction": "asc" or "desc"}, over a declared column (not an array), id, '
    "created_at or updated_at. By default id; with since, updated_at."
)
WHERE = Argument({"type": "object"}, _where, required=False).described(
    f"Narrows by columns: {{column: term}}, at most {WHERE_COLUMNS} columns, id among them, and {WHERE_TERM_CHARACTERS} characters a "
    'term. To ask exactly, send operators: {"eq": v}, {"ne": v}, {"in": [v, …]} on every column; {"contains": v}, {"startsWith": v} on '
    'text and array items; {"gt": v}, {"gte": v}, {"lt": v}, {"lte": v} on numbers and datetimes; {"missing": true}. Whether a record '
    'exists is {"eq": v} on the unique column. A plain term is fuzzy on text and array items: by substring, and by similar spelling when '
    "it has no digit; on every other column it is exact. null matches a missing value."
)
