"""Arguments that are objects."""

from typing import Any

import strawberry
from strawberry import ID, UNSET, field

from models.errors import Unprocessable
from models.kinds import ColumnType, SortDirection
from models.unset import UNSET as NOT_GIVEN


@strawberry.input(description="The definition of a column.")
class ColumnInput:
    name: str = field(description="Its name: a lower-case letter, then lower-case letters, digits or _, 64 at most.")
    type: ColumnType = field(description="What its values are.")
    description: str = field(description="What it holds, 200 characters at most; agents are told this.")
    required: bool = field(default=False, description="Whether every record must have it.")
    unique: bool = field(default=False, description="Whether no two live records may share a value; text or number, one column at most.")
    values: list[str] | None = field(default=UNSET, description="The only values that it accepts: 1 to 50, text or array.")
    rename_from: str | None = field(default=UNSET, description="The present name of the column that this one replaces, values and all.")

    def as_dict(self) -> dict[str, Any]:
        """The definition as the store takes it."""
        given = {
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "required": self.required,
            "unique": self.unique,
            "values": self.values,
            "rename_from": self.rename_from,
        }
        return {key: value for key, value in given.items() if value is not UNSET and value is not None}


@strawberry.input(description="An order of records; ties go by id, missing values come last.")
class RecordOrder:
    column: str = field(description="A declared column that is no array, or id, created_at, updated_at.")
    direction: SortDirection = field(default=SortDirection.ASC, description="Which end comes first.")


def given(value: Any) -> Any:
    """The store's mark for an argument that was not sent, else the value."""
    return NOT_GIVEN if value is UNSET else value


def required_if_given(**arguments: Any) -> dict[str, Any]:
    """Arguments that may be left out but not be null. Raises Unprocessable naming those that are."""
    if nulls := [name for name, value in arguments.items() if value is None]:
        raise Unprocessable(f"{', '.join(nulls)} cannot be null; leave it out to keep what is there")
    return {name: given(value) for name, value in arguments.items()}


def or_default(value: int | None, default: int) -> int:
    """The value, or the default where null was sent."""
    return default if value is None else value


__all__ = ["ID", "ColumnInput", "RecordOrder", "given", "or_default", "required_if_given"]
