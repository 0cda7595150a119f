"""The arguments of a request, from its query string or its JSON body: unknown, missing and ill-typed ones are told all at once."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from models.errors import Problem, Unprocessable
from models.json_text import shown
from models.text import printable

HEADING = "request rejected"
_PARAMETERS = 50

_EXPECTED = {
    "string_type": "text",
    "int_type": "an integer",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


class Arguments(BaseModel):
    """Arguments of one route: nothing is coerced and nothing else is taken."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(Arguments):
    """Arguments in the query string."""


class Body(Arguments):
    """Arguments in a JSON body."""


Model = TypeVar("Model", bound=Arguments)


def from_query(model: type[Query], text: bytes, problems: list[Problem]) -> Query | None:
    """The arguments of a query string, or None with what is wrong added to the problems."""
    try:
        # What is no UTF-8 becomes lone surrogates, which the checks name.
        pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True, errors="surrogateescape", max_num_fields=_PARAMETERS)
    except ValueError:
        problems.append(Problem(None, f"the query string has more than {_PARAMETERS} parameters"))
        return None
    # Of a repeated parameter one value would win silently; which one differs from server to server.
    given = dict(pairs)
    repeated = {name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1}
    problems += [Problem(printable(name)[:80], "given more than once") for name in sorted(repeated)]
    return _checked(model, given, "parameter", problems)


def from_body(model: type[Body], value: Any, problems: list[Problem]) -> Body | None:
    """The arguments of a JSON body, or None with what is wrong added to the problems."""
    if not isinstance(value, Mapping):
        problems.append(Problem(None, f"the body must be an object with {_names(model)}; got {shown(value)}"))
        return None
    return _checked(model, value, "field", problems)


def refuse(problems: list[Problem]) -> None:
    """Raise Unprocessable where there are problems."""
    if problems:
        raise Unprocessable.listing(HEADING, problems)


def _checked(model: type[Model], given: Mapping[str, Any], noun: str, problems: list[Problem]) -> Model | None:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        problems += [_problem(model, item, noun) for item in found]
        return None


def _problem(model: type[Arguments], error: ErrorDetails, noun: str) -> Problem:
    # The name of an unknown argument is the client's own text, which an answer must be able to hold.
    name = printable(".".join(str(part) for part in error["loc"]))[:80] or None
    kind, reason = error["type"], error["msg"]
    if kind == "missing":
        reason = "required; missing"
    elif kind == "extra_forbidden":
        reason = f"unknown {noun}; this route takes {_names(model)}"
    elif kind == "string_unicode":
        reason = "contains a lone surrogate, which is not text"
    elif kind in _EXPECTED:
        reason = f"expected {_EXPECTED[kind]}; got {shown(error['input'])}"
    elif kind == "value_error":
        reason = str(error.get("ctx", {}).get("error", reason))
    return Problem(name, reason)


def _names(model: type[Arguments]) -> str:
    return ", ".join(model.model_fields) or "none"


def telling(check: Callable[[str], Any], value: str) -> Any:
    """What a check of ours makes of a text; its refusal becomes the ValueError that a model's validator may raise."""
    try:
        return check(value)
    except Unprocessable as error:
        raise ValueError(error.message) from error
