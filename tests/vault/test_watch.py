import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from vault.errors import PathRefused
from vault.scan import RecordKey, scan_records
from vault.watch import VaultChange, watch


def write(root: Path, slug: str, text: str = "x", project: str = "p", subdir: str = "traps") -> Path:
    path = RecordKey(project, subdir, slug).path(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{slug}.tmp")  # renamed, so that no look falls between the file and its text
    temporary.write_text(text)
    temporary.replace(path)
    return path


@contextlib.asynccontextmanager
async def watching(root: Path, **options: object) -> AsyncIterator[AsyncIterator[list[VaultChange]]]:
    generator = watch(root, **options)  # type: ignore[arg-type]
    try:
        yield generator
    finally:
        await generator.aclose()  # type: ignore[attr-defined]


async def collect(changes: AsyncIterator[list[VaultChange]], count: int) -> list[tuple[str, str, str, str]]:
    found: list[VaultChange] = []
    async with asyncio.timeout(20):
        while len(found) < count:
            found += await anext(changes)
    return [(*change[:3], change.kind.value) for change in found]


async def begun(changes: AsyncIterator[list[VaultChange]]) -> None:
    """Waits until the watcher looks: a first change, made before it starts, has been told."""
    assert await collect(changes, 1) == [("p", "traps", "first", "created")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "old")
    return tmp_path


async def test_what_changed_since_the_snapshot_is_told_first(root: Path) -> None:
    write(root, "gone")
    known = scan_records(root)
    write(root, "old", "edited")
    write(root, "new", subdir="plans")
    RecordKey("p", "traps", "gone").path(root).unlink()
    async with watching(root, known=known) as changes:
        assert await collect(changes, 3) == [
            ("p", "plans", "new", "created"),
            ("p", "traps", "gone", "deleted"),
            ("p", "traps", "old", "updated"),
        ]


async def test_live_changes_are_told_once_and_in_whole(root: Path) -> None:
    known = scan_records(root)
    write(root, "first")
    async with watching(root, known=known) as changes:
        await begun(changes)
        write(root, "old", "edited")
        assert await collect(changes, 1) == [("p", "traps", "old", "updated")]
        for number in range(50):
            write(root, "busy", f"text {number}")
        ((*_, kind),) = await collect(changes, 1)
        assert kind == "created"
        RecordKey("p", "traps", "old").path(root).unlink()
        told = await collect(changes, 1)
        assert told[-1] == ("p", "traps", "old", "deleted")


async def test_files_that_are_no_records_are_not_told(root: Path) -> None:
    known = scan_records(root)
    write(root, "first")
    async with watching(root, known=known) as changes:
        await begun(changes)
        for name in ("x.conflict.md", "x.sync-conflict-1.md", ".x.md", "x.md.tmp", "x.md~", "a b.md"):
            (root / "projects" / "p" / "traps" / name).write_text("x")
        (root / "projects" / "p" / "TRAPS.md").write_text("view")
        (root / "projects" / "p" / "notes").mkdir()
        (root / "projects" / "p" / "notes" / "x.md").write_text("x")
        write(root, "last")
        assert await collect(changes, 1) == [("p", "traps", "last", "created")]


async def test_whole_projects_come_and_go(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    known = scan_records(root)
    write(root, "first")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for slug in ("a", "b"):
        write(elsewhere, slug, project="q")
    async with watching(root, known=known) as changes:
        await begun(changes)
        shutil.move(elsewhere / "projects" / "q", root / "projects" / "q")
        assert await collect(changes, 2) == [("q", "traps", "a", "created"), ("q", "traps", "b", "created")]
        write(root, "c", project="q", subdir="logs")  # in a folder that did not exist when the watch began
        assert await collect(changes, 1) == [("q", "logs", "c", "created")]
        shutil.rmtree(root / "projects" / "q")
        assert sorted(await collect(changes, 3)) == [
            ("q", "logs", "c", "deleted"),
            ("q", "traps", "a", "deleted"),
            ("q", "traps", "b", "deleted"),
        ]


async def test_no_write_among_many_is_lost(root: Path) -> None:
    async def writer(name: str) -> None:
        for number in range(40):
            await asyncio.to_thread(write, root, f"{name}-{number}", "x", name)
            await asyncio.sleep(0)

    async with watching(root, known=scan_records(root)) as changes:
        writers = [asyncio.create_task(writer(name)) for name in ("one", "two", "three")]
        created = [change[:3] for change in await collect(changes, 120) if change[3] == "created"]
        await asyncio.gather(*writers)
    assert sorted(created) == sorted((name, "traps", f"{name}-{number}") for name in ("one", "two", "three") for number in range(40))


async def test_a_missed_event_is_found_by_the_next_look_at_everything(root: Path) -> None:
    # The file is changed where no event comes from: behind a hard link outside of the watched folder.
    path = RecordKey("p", "traps", "old").path(root)
    os.link(path, root / "outside.md")
    async with watching(root, known=scan_records(root), rescan=0.2) as changes:
        following = asyncio.ensure_future(collect(changes, 1))
        await asyncio.sleep(0.1)
        (root / "outside.md").write_text("edited elsewhere")
        assert await following == [("p", "traps", "old", "updated")]


async def test_it_ends_when_told_and_leaves_no_task_behind(root: Path) -> None:
    stop = asyncio.Event()
    async with watching(root, stop=stop) as changes:
        following = asyncio.ensure_future(anext(changes, None))
        await asyncio.sleep(0.1)
        stop.set()
        assert await asyncio.wait_for(following, 10) is None
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_cancelled_reader_leaves_no_task_behind(root: Path) -> None:
    async def follow() -> None:
        async with watching(root) as changes:
            async for _ in changes:
                pass

    following = asyncio.create_task(follow())
    await asyncio.sleep(0.1)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_vault_that_is_not_there_yet_is_watched_and_a_file_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    async with watching(root, known={}) as changes:
        following = asyncio.ensure_future(collect(changes, 1))
        while not (root / "projects").exists():  # noqa: ASYNC110 - a folder sets no event
            await asyncio.sleep(0.01)
        write(root, "x")
        assert await following == [("p", "traps", "x", "created")]
    (tmp_path / "file").write_text("mine")
    async with watching(tmp_path / "file") as changes:
        with pytest.raises(PathRefused, match="is a file"):
            await anext(changes)
    assert (tmp_path / "file").read_text() == "mine"
