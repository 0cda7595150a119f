"""Who created and who last saved a row: the columns of models.tables.columns.Saved, as a shape, as values to write and as arguments."""

from datetime import datetime
from typing import Any

from models.caller import Caller
from store.sql import Shape, arg


class UpdatedShape(Shape):
    """When a row was last saved, and by whom."""

    updated_at: datetime
    updated_by_kind: str
    updated_by_id: str
    updated_by_name: str


class SavedShape(UpdatedShape):
    """When a row was created and last saved, and by whom."""

    created_at: datetime
    created_by_kind: str
    created_by_id: str
    created_by_name: str


_FACTS = {"at": "at", "by_kind": "saver_kind", "by_id": "saver_id", "by_name": "saver_name"}

# For the values() of a statement that saves a row; `arguments` gives the parameters.
UPDATED = {f"updated_{fact}": arg(name) for fact, name in _FACTS.items()}
CREATED = {f"created_{fact}": arg(name) for fact, name in _FACTS.items()} | UPDATED


def arguments(caller: Caller, at: datetime) -> dict[str, Any]:
    """Return the parameters of CREATED and UPDATED."""
    return {"at": at, "saver_kind": caller.kind, "saver_id": caller.id, "saver_name": caller.name}
