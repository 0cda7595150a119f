"""What `muniment import` does with one file."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import typer

from models import columns as dialect
from models.caller import system
from models.errors import LimitExceeded, Unprocessable
from models.limits import PURPOSE_CHARACTERS, RECORDS_PER_COLLECTION
from server import runtime
from server.cli.choosing import organisation
from server.cli.progress import progress
from server.settings import Settings
from store import access, transfer
from store.database import Database
from store.transfer import Format, ImportResult, Inference, NewTable, Reading
from store.transfer.parsing import PLAIN

_SHOWN = 50
_STDIN = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asked for."""

    file: Path
    collection: str
    org: str | None
    kind: Format | None
    create: bool
    purpose: str | None
    unique: str | None
    dry_run: bool
    reading: Reading = PLAIN


def reading(mapped: list[str], missing: str | None) -> Reading:
    """Return how the file is read. Raises Unprocessable for what is no `Header=column`."""
    pairs = [pair.rpartition("=") for pair in mapped]
    if wrong := [pair for pair, (field, _, column) in zip(mapped, pairs, strict=True) if not field or not column]:
        raise Unprocessable(f'--map takes "Header=column"; got {", ".join(wrong)}')
    return Reading({field: column for field, _, column in pairs}, frozenset(text.strip() for text in (missing or "").split(",") if text))


def import_file(settings: Settings, request: Request) -> None:
    """Import the file and say what came of it; exits with 1 where it was refused."""
    kind = request.kind or transfer.format_of(request.file.name)
    if kind is None:
        raise Unprocessable(f"{request.file} does not say by its name whether it is CSV or JSON Lines; add --format csv or --format jsonl")
    with _opened(request.file) as file:
        new = _new_table(request, file, kind) if request.create else None
        with progress(f"Importing {request.file.name}") as tell:
            result = runtime.run(settings, lambda db: _import(db, request, file, kind, new, tell))
    _report(request, result)


async def _import(
    db: Database, request: Request, file: IO[bytes], kind: Format, new: NewTable | None, tell: Callable[[int], None]
) -> ImportResult:
    caller = system(await organisation(db, request.org))
    if new is None:
        async with db.read() as reader:
            table = await access.for_write(reader, caller, request.collection)
        columns = dialect.load(table.columns)
        transfer.require_room(table, columns, file, kind)
    else:
        columns = dialect.parse(new.columns)
    # The columns may have been inferred from the same file.
    file.seek(0)
    parsed = transfer.parse(file, kind, columns, request.reading)
    return await transfer.import_into(db, caller, request.collection, parsed, dry_run=request.dry_run, create=new, progress=tell)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, which can be gone through twice; `-` is what comes in."""
    if path != _STDIN:
        try:
            file = path.open("rb")
        except OSError as error:
            raise Unprocessable(f"cannot read {path}: {error.strerror}") from error
        with file:
            yield file
        return
    # Inferring columns reads everything before the import reads it again, and a pipe can be read once.
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.seek(0)
        yield kept


def _new_table(request: Request, file: IO[bytes], kind: Format) -> NewTable:
    name = "standard input" if request.file == _STDIN else request.file.name
    found = transfer.infer(file, kind, request.reading)
    columns = _with_unique(found.columns, request.unique)
    dialect.parse(columns)
    _show_columns(request, replace(found, columns=columns))
    if found.rows > RECORDS_PER_COLLECTION and not any(column["unique"] for column in columns):
        raise LimitExceeded(f"{name} has {found.rows:,} rows; a collection holds at most {RECORDS_PER_COLLECTION:,} records")
    purpose = request.purpose or f"Imported from {name}; say here what it is for."
    return NewTable(purpose[:PURPOSE_CHARACTERS], columns)


def _with_unique(columns: list[dict[str, Any]], unique: str | None) -> list[dict[str, Any]]:
    if unique is None:
        return columns
    if unique != "none" and unique not in {column["name"] for column in columns}:
        raise Unprocessable(f"--unique {unique} is no column; columns are {', '.join(column['name'] for column in columns)}")
    return [{**column, "unique": True, "values": None} if column["name"] == unique else {**column, "unique": False} for column in columns]


def _show_columns(request: Request, found: Inference) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("column", "type", "required", "unique", "values", "description"):
        table.add_column(heading, no_wrap=heading not in {"description", "values"}, overflow="ellipsis")
    for column in found.columns:
        flags = ("yes" if column[flag] else "" for flag in ("required", "unique"))
        table.add_row(column["name"], column["type"], *flags, ", ".join(column["values"] or ()), column["description"])
    console = Console(stderr=True, highlight=False, markup=False)
    console.print(
        f"{found.rows:,} rows fit a collection {request.collection} with these columns. Edit their descriptions: agents read them."
    )
    console.print(table)
    for name, note in found.notes.items():
        console.print(f"{name} is {note}.", soft_wrap=True)
    if found.notes:
        console.print('Values that stand for none are named with --na, as in --na "n/a,-".', soft_wrap=True)
    if found.proposed and request.unique is None:
        console.print(
            f"No column is unique. All values of {found.proposed} differ; --unique {found.proposed} keeps one record for each.",
            soft_wrap=True,
        )


def _report(request: Request, result: ImportResult) -> None:
    if result.problem_count:
        _tell_problems(request, result)
        raise typer.Exit(1)
    done = f"{result.added:,} added, {result.merged:,} merged into records that were there"
    done += f", {result.merged_within:,} merged into earlier rows" if result.merged_within else ""
    done += f"; {result.skipped:,} empty rows skipped" if result.skipped else ""
    made = ", in a new collection" if request.create else ""
    if request.dry_run:
        typer.echo(f"Dry run, nothing was written: {result.rows:,} rows would go into {request.collection}{made}: {done}.")
    else:
        typer.echo(f"{result.rows:,} rows imported into {request.collection}{made}: {done}.")


def _tell_problems(request: Request, result: ImportResult) -> None:
    count = f"{result.problem_count:,} problem{'s' if result.problem_count > 1 else ''}"
    typer.echo(f"muniment: {request.file} was not imported; {count}, nothing was written", err=True)
    shown = result.problems[:_SHOWN]
    lines = ["file" if problem.line is None else f"line {problem.line}" for problem in shown]
    columns = [problem.column or "" for problem in shown]
    widths = (max(map(len, lines)), max(map(len, columns)))
    for line, column, problem in zip(lines, columns, shown, strict=True):
        typer.echo(f"  {line:<{widths[0]}}  {column:<{widths[1]}}  {problem.message}", err=True)
    if result.problem_count > len(shown):
        typer.echo(f"  … and {result.problem_count - len(shown):,} more", err=True)
