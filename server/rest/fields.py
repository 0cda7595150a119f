"""The kinds of argument that a text of the query string, or of a JSON body, stands for."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import PlainValidator, WithJsonSchema

from models.cursor import Cursor
from models.datetimes import normalised
from models.json_text import shown
from models.kinds import AccessMode, NoteLevel
from models.limits import MAX_PAGE, QUERY_CHARACTERS
from models.text import fault
from server.body import json_value
from server.rest.arguments import telling
from store.transfer import Format

Kind = TypeVar("Kind", bound=StrEnum)

# int() alone would also take blanks, underscores and the digits of other scripts; 18 digits fit every column.
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
# A plus sign that was not encoded arrives as a space.
_LOST_PLUS = re.compile(r" (?=[0-9]{2}:?[0-9]{2}$)", re.ASCII)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def _integer(value: Any) -> int:
    if not _INTEGER.fullmatch(value):
        raise ValueError(f"expected an integer; got {shown(value)}")
    return int(value)


def _flag(value: Any) -> bool:
    if value not in _FLAGS:
        raise ValueError(f"expected true or false; got {shown(value)}")
    return _FLAGS[value]


def _text(value: Any) -> str:
    if reason := fault(value):
        raise ValueError(reason)
    return str(value)


def _json(value: Any) -> Any:
    return telling(lambda text: json_value(_text(text), "the text"), value)


def _order(value: Any) -> Any:
    """JSON, or the words of an order as they are: `status desc`."""
    return _json(value) if value[:1] in {"{", '"', "["} else _text(value)


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"expected text; got {shown(value)}")  # noqa: TRY004  # pydantic takes ValueError for a refusal
    try:
        return datetime.fromisoformat(normalised(_LOST_PLUS.sub("+", value)))
    except ValueError as error:
        raise ValueError(f"{error}; got {shown(value)}") from error


def _paths(value: Any) -> list[str]:
    return [path for path in _text(value).split(",") if path]


def one_of(kinds: type[Kind], value: Any) -> Kind:
    """The member that a text names, in any case. Raises ValueError saying which there are."""
    if isinstance(value, str) and value.upper() in kinds.__members__:
        return kinds[value.upper()]
    raise ValueError(f"expected one of {', '.join(kind.lower() for kind in kinds)}; got {shown(value)}")


def _enum(kinds: type[StrEnum]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": [kind.lower() for kind in kinds]})


_JSON_TEXT = WithJsonSchema({"type": "string", "contentMediaType": "application/json"})

# Their bounds are the operations' own, which tell them in one answer with whatever else is wrong; the document says them here.
Limit = Annotated[int, PlainValidator(_integer), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_PAGE})]
Offset = Annotated[int, PlainValidator(_integer), WithJsonSchema({"type": "integer", "minimum": 0})]
Words = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": QUERY_CHARACTERS})]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
Text = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string"})]
Json = Annotated[Any, PlainValidator(_json), _JSON_TEXT]
OrderText = Annotated[Any, PlainValidator(_order), WithJsonSchema({"type": "string"})]
Moment = Annotated[datetime, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
Paths = Annotated[list[str], PlainValidator(_paths), WithJsonSchema({"type": "string"})]
Position = Annotated[Cursor, PlainValidator(lambda value: telling(Cursor.parse, value)), WithJsonSchema({"type": "string", "minLength": 1})]
Level = Annotated[NoteLevel, PlainValidator(lambda value: one_of(NoteLevel, value)), _enum(NoteLevel)]
Mode = Annotated[AccessMode, PlainValidator(lambda value: one_of(AccessMode, value)), _enum(AccessMode)]
GuildMode = Annotated[
    AccessMode, PlainValidator(lambda value: one_of(AccessMode, value)), WithJsonSchema({"type": "string", "enum": ["read", "write"]})
]
FileFormat = Annotated[Format, PlainValidator(lambda value: one_of(Format, value)), _enum(Format)]
