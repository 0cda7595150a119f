"""What `muniment export` writes of one collection."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import typer

from models.caller import system
from models.errors import Unprocessable
from server import runtime
from server.cli.choosing import organisation
from server.settings import Settings
from store import access, transfer
from store.database import Database
from store.transfer import Format


class Lines(NamedTuple):
    """How the records are written; without a format, as the file's name ends."""

    kind: Format | None
    facts: bool
    for_spreadsheet: bool


def export_collection(settings: Settings, collection: str, lines: Lines, *, org: str | None, output: Path | None) -> None:
    """Write the collection's records to the file, or to stdout; a file is there whole or not at all."""
    # A device or a pipe is written to as it stands: renaming a file over it would do away with it.
    in_place = output is not None and output.exists() and not output.is_file()
    target = output.resolve() if output is not None and not in_place else output
    chosen = lines.kind or (transfer.format_of(output.name) if output else None) or Format.JSONL

    async def work(db: Database) -> None:
        caller = system(await organisation(db, org))
        async with db.read() as reader:
            found = await access.for_read(reader, caller, collection)
            pieces = transfer.export_lines(reader, found, chosen, facts=lines.facts, for_spreadsheet=lines.for_spreadsheet)
            if target is None:
                await _to_stdout(pieces)
            else:
                await _to_file(pieces, target, in_place=in_place)

    runtime.run(settings, work)
    if output is not None:
        typer.echo(f"{collection} written to {output}", err=True)


async def _to_stdout(pieces: AsyncIterator[bytes]) -> None:
    async for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


async def _to_file(pieces: AsyncIterator[bytes], output: Path, *, in_place: bool) -> None:
    part = output if in_place else output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        await _written(pieces, part)
        part.replace(output)
    except OSError as error:
        raise Unprocessable(f"cannot write {output}: {error.strerror}") from error
    finally:
        if not in_place:
            with suppress(OSError):
                part.unlink(missing_ok=True)


async def _written(pieces: AsyncIterator[bytes], output: Path) -> None:
    with output.open("wb") as file:  # a command has nothing else to do meanwhile
        async for piece in pieces:
            file.write(piece)
