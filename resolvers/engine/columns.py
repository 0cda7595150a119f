"""How types say that a field is read from a row, without a coroutine and without a resolver of its own.

A Strawberry type describes what a client sees; resolvers return rows, never instances of the type:

    @strawberry.type
    class Note:
        display_path: str                                    # row.display_path
        updated_at: datetime
        body: JSON = raw_json()                              # row.body, JSON text of the driver
        updated_by: Actor = embedded("updated_by_")          # row.updated_by_kind, row.updated_by_id, ...
        run: Run | None = embedded("run_", absent="run_id")  # null where row.run_id is None

        @column(description="How many words it has.")
        def words(self) -> int:                              # self is the row
            return len(self.content.split())

A plain annotation is Strawberry's default resolver, `getattr(row, name)`. It makes no coroutine, and such fields are completed by a
compiled function. Rows are accepted because a type without interfaces has no `is_type_of`: do not give it one, and do not put it
into an interface or a union if rows are to be returned.
Rows may be any objects with attributes. For subclasses of `asyncpg.Record` with a `__getattr__` that reads by key, the compiled
function reads by key directly. `__getattr__` must raise AttributeError, not KeyError, for an unknown name. Names that the class
itself has (`get`, `items`, `keys`, `values`) hide columns of that name: select them under another name and use `column`.
"""

from collections.abc import Callable
from typing import Any


def column(read: Callable[[Any], Any] | None = None, /, *, name: str | None = None, description: str | None = None) -> Any:
    """Return a field computed by `read(self)` from the row alone: pure, quick, not async, no arguments.

    Use it as a decorator of a method whose `self` is the row. It may be called more than once for a row.
    """
    raise NotImplementedError


def embedded(prefix: str, *, absent: str | None = None, name: str | None = None, description: str | None = None) -> Any:
    """Return a field whose object is built from columns of the same row: field `kind` reads `row.<prefix>kind`.

    Where `absent` names a column and that is None, the field is null.
    """
    raise NotImplementedError


def raw_json(source: str | None = None, *, name: str | None = None, description: str | None = None) -> Any:
    """Return a JSON field whose text enters the response unparsed; `source` is the row's attribute (default: the field's name).

    A value that is not text (already parsed) is encoded as usual.
    """
    raise NotImplementedError
