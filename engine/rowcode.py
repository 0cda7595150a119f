"""Functions from rows to response items, written for one selection and one class of rows.

They know the common case only. Whatever else a value is, they raise NotPlainError, and the ordinary path completes (or reports) it
instead; this is safe because reading a row has no effect. Any other exception is a fault of this module.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from graphql import GraphQLEnumType, GraphQLLeafType
from orjson import Fragment

from engine.columns import Embedded, Prefixed, fragment
from engine.leaves import NAMES, NotPlainError, coercion, enum_names, list_coercion, slow_test
from engine.scalars import serialize_json

Read = str | Callable[[Any], Any]
"""An attribute's name, or a function of the row."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A key with the same value in each item: `__typename`, or a place that is filled later."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar or enum, or a list of such."""

    key: str
    read: Read
    type: GraphQLLeafType
    nullable: bool
    items_nullable: bool | None = None  # None: no list
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Nested:
    """An object (or a list of objects) that an attribute of the row holds, completed by a plan of its own."""

    key: str
    read: Read
    complete: Callable[[Any], Any]
    nullable: bool


@dataclass(frozen=True, slots=True)
class Inline:
    """An object that is built from columns of the same row."""

    key: str
    reader: Embedded
    nullable: bool
    parts: tuple["Part", ...]


Part = Constant | Leaf | Nested | Inline


@dataclass(frozen=True, slots=True)
class RowFunctions:
    """What was compiled for one class of rows."""

    one: Callable[[Any], dict[str, Any]]
    many: Callable[[Sequence[Any]], list[dict[str, Any]]]


class Writer:
    """Writes the source of the functions; values that have no literal are bound to names."""

    def __init__(self, row_class: type) -> None:
        self._by_key = reads_by_key(row_class)
        self._class = row_class
        self._bound: dict[str, Any] = {
            **NAMES,
            "UTC": UTC,
            "NotPlainError": NotPlainError,
            "Prefixed": Prefixed,
            "Fragment": Fragment,
            "fragment": fragment,
        }
        self._count = 0
        self._lines: list[str] = []

    def functions(self, parts: tuple[Part, ...]) -> RowFunctions:
        """Return the compiled functions for these parts."""
        item = self._object(parts, "", 1)
        body = "\n".join(self._lines)
        inner = "\n".join(f" {line}" for line in self._lines)
        one = f"def one(row):\n{body}\n return {item}\n"
        many = f"def many(rows):\n items = []\n add = items.append\n for row in rows:\n{inner}\n  add({item})\n return items\n"
        exec(compile(one + many, "<row functions>", "exec"), self._bound)  # noqa: S102 - written above from identifiers and literals only
        return RowFunctions(self._bound["one"], self._bound["many"])

    def _object(self, parts: tuple[Part, ...], prefix: str, depth: int) -> str:
        return "{" + ", ".join(f"{part.key!r}: {self._part(part, prefix, depth)}" for part in parts) + "}"

    def _part(self, part: Part, prefix: str, depth: int) -> str:
        if isinstance(part, Constant):
            return repr(part.value)
        if isinstance(part, Inline):
            return self._inline(part, prefix, depth)
        variable = self._name("v")
        self._guarded(depth, f"{variable} = {self._value(part.read, prefix)}")
        if isinstance(part, Nested):
            self._nested(part, variable, depth)
        else:
            self._leaf(part, variable, depth)
        return variable

    def _nested(self, part: Nested, variable: str, depth: int) -> None:
        complete = self._bind("n", part.complete)
        self._line(depth, f"if {variable} is not None: {variable} = {complete}({variable})")
        if not part.nullable:
            self._line(depth, f"else: {self._refuse()}")

    def _leaf(self, leaf: Leaf, variable: str, depth: int) -> None:
        if leaf.raw and leaf.items_nullable is None and getattr(leaf.type, "coerce_output_value", None) is serialize_json:
            slow = self._bind("c", coercion(leaf.type, nullable=leaf.nullable))
            self._line(depth, f"{variable} = Fragment({variable}) if type({variable}) is str else {slow}({variable})")
            return
        if leaf.raw:
            self._line(depth, f"{variable} = fragment({variable})")
        if leaf.items_nullable is not None:
            slow = self._bind("c", list_coercion(leaf.type, nullable=leaf.nullable, nullable_items=leaf.items_nullable))
            self._line(depth, f"{variable} = {slow}({variable})")
            return
        slow = self._bind("c", coercion(leaf.type, nullable=leaf.nullable))
        if isinstance(leaf.type, GraphQLEnumType):
            names = self._bind("e", enum_names(leaf.type).get)
            # A value that cannot be a key of a dict is no value of the enum.
            self._guarded(depth, f"{variable} = {names}({variable}) or {slow}({variable})")
            return
        test = slow_test(leaf.type, variable)
        if leaf.nullable:
            test = f"{variable} is not None and ({test})"
        self._line(depth, f"if {test}: {variable} = {slow}({variable})")

    def _inline(self, part: Inline, prefix: str, depth: int) -> str:
        inner = prefix + part.reader.prefix
        if part.reader.absent is None:
            return self._object(part.parts, inner, depth)
        variable = self._name("v")
        self._guarded(depth, f"{variable} = {self._value(part.reader.absent, prefix)}")
        self._line(depth, f"if {variable} is None:")
        self._line(depth + 1, f"{variable} = None" if part.nullable else self._refuse())
        self._line(depth, "else:")
        item = self._object(part.parts, inner, depth + 1)
        self._line(depth + 1, f"{variable} = {item}")
        return variable

    def _value(self, read: Read, prefix: str) -> str:
        if not isinstance(read, str):
            row = f"Prefixed(row, {prefix!r})" if prefix else "row"
            return f"{self._bind('f', read)}({row})"
        name = prefix + read
        if self._by_key and not hasattr(self._class, name):
            return f"row[{name!r}]"
        return f"row.{name}"

    def _refuse(self) -> str:
        return "raise NotPlainError"

    def _guarded(self, depth: int, text: str) -> None:
        """Write a line that runs code of the row: what it raises is for the ordinary path to report. `try` costs nothing by itself."""
        self._line(depth, f"try: {text}")
        self._line(depth, f"except Exception as error: {self._refuse()} from error")

    def _line(self, depth: int, text: str) -> None:
        self._lines.append(" " * depth + text)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _bind(self, letter: str, value: Any) -> str:
        name = self._name(letter)
        self._bound[name] = value
        return name


def reads_by_key(row_class: type) -> bool:
    """Return whether attributes of these rows are their keys: a class of asyncpg records with a `__getattr__`."""
    # By name, so that this layer does not depend on the driver.
    from_driver = any(base.__name__ == "Record" and base.__module__.partition(".")[0] == "asyncpg" for base in row_class.__mro__)
    return from_driver and hasattr(row_class, "__getattr__")


def is_plain_class(row_class: type) -> bool:
    """Return whether the ordinary path reads fields off such values, rather than raise, await or look keys up."""
    return not issubclass(row_class, BaseException | Mapping | type(None)) and not hasattr(row_class, "__await__")
