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

import sys
from collections.abc import Callable
from typing import Any

import orjson
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.field import StrawberryField

READER = "engine.reader"


class ColumnField(StrawberryField):
    """A field without resolver that is computed from the row by the reader in its metadata."""

    def get_result(self, source: Any, info: Any, args: Any, kwargs: Any) -> Any:  # noqa: ARG002 - Strawberry's signature
        """Return what the reader makes of the row."""
        return self.metadata[READER].read(source)

    def __set_name__(self, owner: type, name: str) -> None:
        """Give JSON that names no attribute the field's own name."""
        super().__set_name__(owner, name)
        reader = self.metadata[READER]
        if isinstance(reader, Raw) and not reader.source:
            reader.source = name


class Computed:
    """Reads by a function of the row."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read


class Raw:
    """Reads JSON text as a fragment of the response."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source = source

    def read(self, row: Any) -> Any:
        """Return the text of the row's attribute as a fragment, any other value as it is."""
        return fragment(getattr(row, self.source))


class Embedded:
    """Reads an object whose attributes are columns of the same row."""

    __slots__ = ("absent", "prefix")

    def __init__(self, prefix: str, absent: str | None) -> None:
        self.prefix = prefix
        self.absent = absent

    def read(self, row: Any) -> "Prefixed | None":
        """Return a view of the row's columns with the prefix; None where the column `absent` is."""
        if self.absent is not None and getattr(row, self.absent) is None:
            return None
        return Prefixed(row, self.prefix)


class Prefixed:
    """A view of a row whose attributes are the columns with a prefix."""

    __slots__ = ("_prefix", "_row")

    def __init__(self, row: Any, prefix: str) -> None:
        self._row = row
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        # Special names are asked for by copying, pickling and the like; they are no columns.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._row, self._prefix + name)


def fragment(value: Any) -> Any:
    """Return JSON text as a fragment, any other value as it is."""
    return orjson.Fragment(value) if type(value) is str else value


def column(
    read: Callable[[Any], Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    deprecation_reason: str | None = None,
) -> Callable[[Callable[[Any], Any]], Any]:
    """Return a field computed by `read(self)` from the row alone: pure, quick, not async, no arguments.

    Use it as a decorator of a method whose `self` is the row. It may be called more than once for a row.
    """

    def decorate(function: Callable[[Any], Any]) -> ColumnField:
        annotation = function.__annotations__.get("return")
        if annotation is None:
            raise TypeError(f"the column {function.__qualname__} needs a return annotation")
        return ColumnField(
            graphql_name=name,
            description=description or function.__doc__,
            deprecation_reason=deprecation_reason,
            type_annotation=StrawberryAnnotation(annotation, namespace=sys.modules[function.__module__].__dict__),
            metadata={READER: Computed(function)},
        )

    return decorate if read is None else decorate(read)


def embedded(prefix: str, *, absent: str | None = None, name: str | None = None, description: str | None = None) -> Any:
    """Return a field whose object is built from columns of the same row: field `kind` reads `row.<prefix>kind`.

    Where `absent` names a column (with its prefix) and that is None, the field is null.
    """
    return ColumnField(
        graphql_name=name, description=description, metadata={READER: Embedded(_identifier(prefix), absent and _identifier(absent))}
    )


def raw_json(source: str | None = None, *, name: str | None = None, description: str | None = None) -> Any:
    """Return a JSON field whose text enters the response unparsed; `source` is the row's attribute (default: the field's name).

    A value that is not text (already parsed) is encoded as usual.
    """
    return ColumnField(graphql_name=name, description=description, metadata={READER: Raw(_identifier(source) if source else "")})


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot be part of an attribute's name")
    return name
