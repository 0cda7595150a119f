"""The column dialect: what a column of a collection may be, and what is wrong with a definition that is none."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from models.errors import LimitExceeded, Problem, Unprocessable
from models.json_text import shown
from models.kinds import ColumnType
from models.limits import COLUMNS_PER_COLLECTION, DESCRIPTION_CHARACTERS, VALUE_CHARACTERS, VALUES_PER_COLUMN
from models.text import fault, faults_in, printable
from models.unset import UNSET

RESERVED = frozenset({"id", "created_at", "updated_at", "created_by", "updated_by"})
FIELDS = ("name", "type", "description", "required", "unique", "values", "rename_from")
TYPES = tuple(kind.lower() for kind in ColumnType)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """One column. `rename_from` is part of a request only: the column of the present table whose values this one takes."""

    name: str
    type: ColumnType
    description: str
    required: bool = False
    unique: bool = False
    values: tuple[str, ...] | None = None
    rename_from: str | None = None

    def stored(self) -> dict[str, Any]:
        """The column as the table keeps it, and as every door but GraphQL shows it: the type in lower case."""
        return {
            "name": self.name,
            "type": self.type.lower(),
            "description": self.description,
            "required": self.required,
            "unique": self.unique,
            "values": None if self.values is None else list(self.values),
        }


def dump(columns: Sequence[ColumnDef]) -> str:
    """The columns as the JSON text that is stored."""
    return json.dumps([column.stored() for column in columns], ensure_ascii=False)


# A longer definition takes up to 2 MB as objects, so that few of those are kept.
_LONG = 4_000


def load(text: str) -> tuple[ColumnDef, ...]:
    """The columns of a collection row's JSON text; kept, since every record write needs them."""
    return _load_long(text) if len(text) > _LONG else _load(text)


# The text itself is the key, so nothing has to be told when a table changes.
@lru_cache(maxsize=16)
def _load_long(text: str) -> tuple[ColumnDef, ...]:
    return _read(text)


@lru_cache(maxsize=1024)
def _load(text: str) -> tuple[ColumnDef, ...]:
    return _read(text)


def _read(text: str) -> tuple[ColumnDef, ...]:
    return tuple(
        ColumnDef(
            name=item["name"],
            type=ColumnType(item["type"].upper()),
            description=item["description"],
            required=item["required"],
            unique=item["unique"],
            values=None if item.get("values") is None else tuple(item["values"]),
        )
        for item in json.loads(text)
    )


def unique_column(columns: Sequence[ColumnDef]) -> ColumnDef | None:
    """The column whose values tell records apart, if there is one."""
    return next((column for column in columns if column.unique), None)


def parse(definitions: Any) -> tuple[ColumnDef, ...]:
    """The columns of a request. Raises Unprocessable listing every problem, LimitExceeded over 64 columns."""
    if problems := faults(definitions):
        raise Unprocessable.listing("columns rejected", problems)
    return tuple(_column(item) for item in definitions)


def faults(definitions: Any) -> list[Problem]:
    """What is wrong with the columns of a request. Raises LimitExceeded over 64 columns."""
    if not isinstance(definitions, Sequence) or isinstance(definitions, str):
        return [Problem(None, "columns must be a list of column definitions")]
    # Before the definitions are looked into: a list of a million must not be answered by a million problems.
    if len(definitions) > COLUMNS_PER_COLLECTION:
        raise LimitExceeded(f"a collection has at most {COLUMNS_PER_COLLECTION} columns; got {len(definitions)}")
    if not definitions:
        return [Problem(None, "a collection needs at least one column")]
    problems = [problem for index, item in enumerate(definitions) for problem in _faults(index, item)]
    return problems + list(_faults_together([item for item in definitions if isinstance(item, Mapping)]))


def _column(item: Mapping[str, Any]) -> ColumnDef:
    values = item.get("values")
    return ColumnDef(
        name=item["name"],
        type=ColumnType(item["type"].upper()),
        description=item["description"],
        required=bool(item.get("required")),
        unique=bool(item.get("unique")),
        values=None if values is None else tuple(values),
        rename_from=item.get("rename_from"),
    )


def _faults(index: int, item: Any) -> Iterator[Problem]:
    if not isinstance(item, Mapping):
        yield Problem(None, f"column {index + 1} must be an object; got {shown(item)}")
        return
    name = item.get("name")
    # A definition without a usable name is told apart by its place.
    label = printable(name)[:80] if isinstance(name, str) and name else f"column {index + 1}"
    reasons = [*_name_faults(name), *_type_faults(item), *_description_faults(item.get("description"))]
    reasons += _flag_faults(item) + _unique_faults(item) + _values_faults(item)
    reasons += [f"{field} {problem.message}" for field in ("values", "rename_from") for problem in faults_in(item.get(field))]
    reasons += [f"unknown field {shown(key)}; fields are {', '.join(FIELDS)}" for key in item if key not in FIELDS]
    for reason in reasons:
        yield Problem(label, reason)


def _name_faults(name: Any) -> list[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return [f"name must match ^[a-z][a-z0-9_]{{0,63}}$; got {shown(name)}"]
    return [f"name is reserved; reserved are {', '.join(sorted(RESERVED))}"] if name in RESERVED else []


def _type_faults(item: Mapping[str, Any]) -> list[str]:
    return [] if _type(item) else [f"type must be one of {', '.join(TYPES)}; got {shown(item.get('type'))}"]


def _type(item: Mapping[str, Any]) -> ColumnType | None:
    kind = item.get("type")
    return ColumnType(kind.upper()) if isinstance(kind, str) and kind.lower() in TYPES else None


def _description_faults(description: Any) -> list[str]:
    if not isinstance(description, str) or not description.strip():
        return ["description is required, since agents read it"]
    if reason := fault(description):
        return [f"description {reason}"]
    if len(description) > DESCRIPTION_CHARACTERS:
        return [f"description has {len(description)} characters; at most {DESCRIPTION_CHARACTERS} are allowed"]
    return []


def _flag_faults(item: Mapping[str, Any]) -> list[str]:
    flags = {field: item.get(field, False) for field in ("required", "unique")}
    reasons = [f"{field} must be true or false; got {shown(value)}" for field, value in flags.items() if not isinstance(value, bool)]
    source = item.get("rename_from")
    if source is not None and not isinstance(source, str):
        reasons.append(f"rename_from must be the name of a column; got {shown(source)}")
    return reasons


def _unique_faults(item: Mapping[str, Any]) -> list[str]:
    kind = _type(item)
    if item.get("unique") is True and kind not in {None, ColumnType.TEXT, ColumnType.NUMBER}:
        return [f"only a text or number column can be unique; this one is {str(kind).lower()}"]
    return []


def _values_faults(item: Mapping[str, Any]) -> list[str]:
    values, kind = item.get("values"), _type(item)
    if values is None:
        return []
    reasons = []
    if kind not in {None, ColumnType.TEXT, ColumnType.ARRAY}:
        reasons.append(f"only a text or array column can list values; this one is {str(kind).lower()}")
    if not isinstance(values, Sequence) or isinstance(values, str):
        return [*reasons, f"values must be a list of texts; got {shown(values)}"]
    if not 1 <= len(values) <= VALUES_PER_COLUMN:
        reasons.append(f"values must list 1 to {VALUES_PER_COLUMN} texts; got {len(values)}")
    return reasons + _single_value_faults(values)


def _single_value_faults(values: Sequence[Any]) -> list[str]:
    reasons, seen = [], set[str]()
    for value in values:
        if not isinstance(value, str) or not value:
            reasons.append(f"values must be non-empty texts; got {shown(value)}")
        elif len(value) > VALUE_CHARACTERS:
            reasons.append(f"values have at most {VALUE_CHARACTERS} characters; {shown(value)} has {len(value)}")
        elif value in seen:
            reasons.append(f"values must be distinct; {shown(value)} is repeated")
        else:
            seen.add(value)
    return reasons


def _faults_together(items: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    # Names that are no names have their own problem already, however often they come.
    names = [name for item in items if isinstance(name := item.get("name"), str) and _NAME.fullmatch(name)]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Problem(name, "name is used by more than one column")
    # Which of them was meant is for the sender to say, so all are named.
    unique = [shown(item.get("name", UNSET)) for item in items if item.get("unique") is True]
    if len(unique) > 1:
        yield Problem(None, f"at most one column can be unique; got {', '.join(unique)}")
