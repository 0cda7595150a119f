"""Adding the rows of a file to a table: all of them, or none."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from models.caller import Caller
from models.errors import LimitExceeded
from store import access, collections, record_batch
from store.database import Database, Row, Writer
from store.transfer.parsing import ParsedRow

PIECE = 500
KEPT_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class LineProblem:
    """One thing that is wrong with a file; no line where it is about the file as a whole."""

    line: int | None
    column: str | None
    message: str


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table that an import makes for its rows."""

    purpose: str
    columns: Sequence[dict[str, Any]]
    guild_id: str | None = None


@dataclass(slots=True)
class ImportResult:
    """What an import did, or with `written` false would do; with problems it did nothing.

    `rows` counts the file's without the `skipped` ones, which are empty. `merged` went into records that were there, `merged_within`
    into records of earlier rows. `problem_count` counts every problem, of which the first thousand are kept.
    """

    rows: int = 0
    added: int = 0
    merged: int = 0
    merged_within: int = 0
    skipped: int = 0
    written: bool = False
    problem_count: int = 0
    problems: list[LineProblem] = field(default_factory=list)

    def note(self, line: int | None, column: str | None, message: str) -> None:
        """Count a problem."""
        self.problem_count += 1
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(LineProblem(line, column, message))


class _TakenBack(Exception):
    """Ends the transaction without writing."""


async def import_into(
    db: Database,
    caller: Caller,
    collection: str,
    parsed: Iterator[ParsedRow],
    *,
    dry_run: bool = False,
    create: NewTable | None = None,
    progress: Callable[[int], None] = lambda _rows: None,
) -> ImportResult:
    """Add every row of a file in one transaction, a table made for them included; with a problem or in a dry run nothing is written.

    `progress` is told how many rows are done. Raises NotFound and Forbidden as access.for_write; for a new table as collections.create.
    """
    result = ImportResult()
    try:
        async with db.write() as writer:
            if create is not None:
                await _create(writer, caller, collection, create)
            await _all(writer, caller, collection, parsed, result, progress)
            _settle(result, dry_run=dry_run)
    except _TakenBack:
        # Problems of reading come before those of the store within a piece; people go through a file by its lines.
        result.problems.sort(key=lambda problem: (problem.line is None, problem.line or 0))
        return result
    return result


async def _create(writer: Writer, caller: Caller, name: str, new: NewTable) -> None:
    await collections.create_in(writer, caller, name=name, purpose=new.purpose, columns=new.columns, guild_id=new.guild_id)


def _settle(result: ImportResult, *, dry_run: bool) -> None:
    if result.problem_count or dry_run:
        raise _TakenBack
    result.written = True


async def _all(
    writer: Writer, caller: Caller, collection: str, parsed: Iterator[ParsedRow], result: ImportResult, progress: Callable[[int], None]
) -> None:
    table = await access.locked_for_write(writer, caller, collection)
    # The file is read in a thread, so that a server goes on answering.
    added: set[str] = set()
    while read := await asyncio.to_thread(list, islice(parsed, PIECE)):
        piece = [row for row in read if not row.empty]
        result.skipped += len(read) - len(piece)
        result.rows += len(piece)
        for row in piece:
            for problem in row.problems:
                result.note(row.line, problem.column, problem.message)
        try:
            await _add(writer, caller, table, [row for row in piece if not row.problems], result, added)
        # The table is full, so that every later row would only say the same again.
        except LimitExceeded as error:
            result.note(None, None, error.message)
            return
        progress(result.rows)
        table = await access.for_write(writer, caller, collection)


async def _add(writer: Writer, caller: Caller, table: Row, rows: list[ParsedRow], result: ImportResult, added: set[str]) -> None:
    done = await record_batch.add_many_in(writer, caller, table, [row.body for row in rows], with_records=False)
    for problem in done.problems:
        result.note(rows[problem.index].line, problem.column, problem.message)
    if done.problems:
        # Nothing will be kept, but what later rows come to depends on the sound ones.
        bad = {problem.index for problem in done.problems}
        sound = [row.body for index, row in enumerate(rows) if index not in bad]
        done = await record_batch.add_many_in(writer, caller, table, sound, with_records=False)
    for file_id, is_patch in done.steps:
        if not is_patch:
            added.add(file_id)
        elif file_id in added:
            result.merged_within += 1
        else:
            result.merged += 1
    result.added += done.added
