"""Statements over the SQLModel tables, compiled once, when their module loads, into the text that asyncpg sends.

A statement is SQLAlchemy Core with its parameters by name, and it declares the shape of its rows:

    class GuildRow(Shape):
        id: str
        name: str

    _GET = query(GuildRow, select(guilds.c.id, guilds.c.name).where(guilds.c.org_id == arg("org_id")))

    guild = await reader.row(_GET, org_id=caller.org_id)  # GuildRow | None

A misspelt column of a table fails when the module loads, and a misspelt attribute of a row fails in mypy.
"""

import typing
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import ARRAY, BindParameter, ClauseElement, ColumnElement, Table, Text, bindparam
from sqlalchemy.dialects.postgresql.asyncpg import PGCompiler_asyncpg, PGDialect_asyncpg
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import ReturnsRows
from sqlalchemy.sql.type_api import TypeEngine
from sqlmodel import SQLModel

TEXTS = ARRAY(Text)


class Shape:
    """The attributes of a row, as annotations. No instance is made: a row of the driver stands for one."""


R_co = TypeVar("R_co", bound=Shape, covariant=True)


class _Compiler(PGCompiler_asyncpg):
    """Writes constants into the text, since a partial index serves only a condition that the planner can see."""

    def visit_bindparam(self, bindparam: Any, *positional: Any, **options: Any) -> Any:
        if not bindparam.required:
            options["literal_binds"] = True
        return super().visit_bindparam(bindparam, *positional, **options)  # type: ignore[no-untyped-call]


_DIALECT = PGDialect_asyncpg()  # type: ignore[no-untyped-call]
_DIALECT.statement_compiler = _Compiler


class Statement:
    """SQL text with numbered parameters, and the names of the parameters in the order of their numbers."""

    __slots__ = ("names", "text")

    def __init__(self, clause: ClauseElement) -> None:
        compiled = cast(SQLCompiler, clause.compile(dialect=_DIALECT))
        # SQLAlchemy fills in such a default while it executes, which is not how these statements are run.
        if compiled.insert_prefetch:
            raise TypeError(
                f"the insert must name {[column.name for column in compiled.insert_prefetch]}: their defaults are not the database's"
            )
        self.text = str(compiled)
        self.names: tuple[str, ...] = tuple(compiled.positiontup or ())

    def arguments(self, named: dict[str, Any]) -> list[Any]:
        """Return the values in the order of the numbers. Raises TypeError for a missing or an unknown name."""
        if len(named) != len(self.names):
            raise TypeError(f"the statement takes {sorted(self.names)}, not {sorted(named)}")
        try:
            return [named[name] for name in self.names]
        except KeyError as error:
            raise TypeError(f"the statement takes {sorted(self.names)}; {error} is missing") from None


class Query(Statement, Generic[R_co]):
    """A statement that returns rows of the shape R."""

    __slots__ = ()


def query(shape: type[R_co], clause: ClauseElement) -> Query[R_co]:
    """Compile a statement whose rows have the shape. Raises TypeError where its columns are not the attributes of the shape."""
    found = set(_returned(clause))
    if found != (declared := set(typing.get_type_hints(shape))):
        raise TypeError(f"{shape.__name__} declares {sorted(declared - found)} too much and {sorted(found - declared)} too little")
    return Query(clause)


def command(clause: ClauseElement) -> Statement:
    """Compile a statement that returns no rows."""
    return Statement(clause)


def fragment(clause: ClauseElement) -> str:
    """Return the text of an expression without parameters, for a statement that is text. Raises TypeError for one with parameters."""
    compiled = Statement(clause)
    if compiled.names:
        raise TypeError(f"a fragment takes no parameters, but this one takes {sorted(compiled.names)}")
    return compiled.text


def columns(model: type[SQLModel], shape: type[Shape]) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of a table that a shape names. Raises KeyError for an attribute that is no column."""
    return tuple(table(model).c[name] for name in typing.get_type_hints(shape))


def arg(name: str, type_: TypeEngine[Any] | type[TypeEngine[Any]] | None = None) -> BindParameter[Any]:
    """A parameter by its name; the type is that of the column it is compared with, unless given."""
    return bindparam(name, type_=type_)


def table(model: type[SQLModel]) -> Table:
    """The table of a SQLModel class."""
    found: Table = model.__table__  # type: ignore[attr-defined]  # set by SQLModel's metaclass
    return found


def _returned(clause: ClauseElement) -> list[str]:
    returned = getattr(clause, "exported_columns", ()) if isinstance(clause, ReturnsRows) else ()
    return [column.name for column in returned]
