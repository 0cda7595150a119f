"""A whole organisation as a folder: one JSON Lines file a table, and a manifest that says what belongs there."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from models.clock import now
from models.datetimes import stored
from models.errors import Conflict, Unprocessable
from store import backup, organisations
from store.backup import LEFT_OUT, TABLES, Part
from store.database import Database, Reader

FORMAT = 1
MANIFEST = "manifest.json"
_WHAT = "a whole organisation of Muniment"

Progress = Callable[[str, int], None]
"""Told the table, and how many of its rows were just done."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """What one file holds: its rows, their columns, and the SHA-256 of the file."""

    rows: int
    columns: list[str]
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder holds. `left_out` names what was kept back, and why."""

    format: int
    what: str
    organisation: dict[str, str]
    exported_at: str
    left_out: dict[str, str]
    tables: dict[str, TableFile]

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(table.rows for table in self.tables.values())


async def write(db: Database, org_id: str, folder: Path, progress: Progress = lambda _table, _rows: None) -> Manifest:
    """Write the organisation, as of one moment, into a new or empty folder. The manifest comes last, so that a part is no export.

    Raises NotFound for an unknown organisation, Conflict for a folder with something in it.
    """
    organisation = await organisations.get(db, org_id)
    _make(folder)
    async with db.snapshot() as reader:
        tables = {table: await _written(reader, org_id, table, folder, progress) for table in TABLES}
    named = {"id": org_id, "name": organisation.name}
    manifest = Manifest(FORMAT, _WHAT, named, stored(now()), dict(LEFT_OUT), tables)
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return manifest


def _make(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} is there already and not an empty folder; name a new one")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


async def _written(reader: Reader, org_id: str, table: str, folder: Path, progress: Progress) -> TableFile:
    rows, digest = 0, hashlib.sha256()
    with _file(folder, table).open("wb") as file:
        async for line in backup.dump(reader, org_id, table):
            file.write(line)
            digest.update(line)
            rows += 1
            progress(table, 1)
    return TableFile(rows, await backup.columns_of(reader, table), digest.hexdigest())


def _file(folder: Path, table: str) -> Path:
    return folder / f"{table}.jsonl"


async def bring_in(db: Database, folder: Path, progress: Progress = lambda _table, _rows: None) -> Manifest:
    """Bring an exported organisation into a database that does not have it, whole or not at all.

    Raises Unprocessable with everything that is wrong with the folder, Conflict where the organisation is there already.
    """
    manifest = read_manifest(folder)
    parts = {table: Part(file.columns, _Lines(_file(folder, table))) for table, file in manifest.tables.items()}
    await backup.restore(db, manifest.organisation["id"], parts, progress=lambda rows: progress("", rows))
    return manifest


class _Lines(Iterable[bytes]):
    """The lines of a file, each time anew."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        with self._file.open("rb") as lines:
            yield from lines


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder whose files are as it says. Raises Unprocessable with everything that is not."""
    file = folder / MANIFEST
    if not file.is_file():
        raise Unprocessable(f"{folder} holds no {MANIFEST}: it is no export, or one that was not finished")
    try:
        read = json.loads(file.read_bytes())
        manifest = _manifest(read)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unprocessable(f"{file} is not the manifest of an export") from error
    problems = list(_problems(manifest, folder))
    if problems:
        raise Unprocessable("\n".join([f"{folder} is not whole", *(f"- {problem}" for problem in problems)]))
    return manifest


def _manifest(read: dict[str, Any]) -> Manifest:
    if read["format"] != FORMAT:
        raise Unprocessable(f"the export has format {read['format']}; this version reads format {FORMAT}")
    tables = {table: TableFile(**facts) for table, facts in read["tables"].items()}
    organisation = {"id": str(read["organisation"]["id"]), "name": str(read["organisation"]["name"])}
    return Manifest(FORMAT, read["what"], organisation, read["exported_at"], read["left_out"], {name: tables[name] for name in TABLES})


def _problems(manifest: Manifest, folder: Path) -> Iterator[str]:
    for table, facts in manifest.tables.items():
        file = _file(folder, table)
        if not file.is_file():
            yield f"{file.name} is missing"
            continue
        rows, digest = 0, hashlib.sha256()
        for line in _Lines(file):
            rows += 1
            digest.update(line)
        if rows != facts.rows:
            yield f"{file.name} has {rows:,} rows; the manifest says {facts.rows:,}"
        elif digest.hexdigest() != facts.sha256:
            yield f"{file.name} was changed since it was written"
