import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault.errors import LockTimeout, PathRefused
from vault.lock import VaultLock

HOLD = """
import sys, pathlib
from vault.lock import VaultLock
with VaultLock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

COUNT = """
import sys, pathlib
from vault.lock import VaultLock
root = pathlib.Path(sys.argv[1])
for _ in range(25):
    with VaultLock(root):
        number = int((root / "n").read_text())
        (root / "n").write_text(str(number + 1))
"""


def start(code: str, root: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def holder(tmp_path: Path) -> "Iterator[subprocess.Popen[str]]":
    process = start(HOLD, tmp_path)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_it_is_reentrant_for_its_thread(tmp_path: Path) -> None:
    lock = VaultLock(tmp_path)
    with lock, lock, VaultLock(tmp_path):
        pass
    with lock:
        pass


def test_another_thread_waits_and_is_told_who_holds_it(tmp_path: Path) -> None:
    messages: list[str] = []

    def attempt() -> None:
        with pytest.raises(LockTimeout) as caught, VaultLock(tmp_path, timeout=0.05):
            pass
        messages.append(str(caught.value))

    with VaultLock(tmp_path):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert messages == ["the vault is in use: this process (thread MainThread) holds its lock; gave up after 0.05 seconds"]


def test_another_process_is_named_and_its_death_frees_the_lock(tmp_path: Path, holder: "subprocess.Popen[str]") -> None:
    with pytest.raises(LockTimeout) as caught, VaultLock(tmp_path, timeout=0.05):
        pass
    assert f"process {holder.pid} on " in str(caught.value)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with VaultLock(tmp_path, timeout=0):
        pass


@pytest.mark.usefixtures("holder")
async def test_waiting_for_a_process_leaves_the_loop_running(tmp_path: Path) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    with pytest.raises(LockTimeout):
        async with VaultLock(tmp_path, timeout=0.1):
            pass
    ticking.cancel()
    assert ticks > 10


async def test_tasks_of_one_loop_exclude_each_other(tmp_path: Path) -> None:
    inside: list[str] = []

    async def work(name: str) -> None:
        async with VaultLock(tmp_path):
            inside.append(name)
            await asyncio.sleep(0.01)
            with VaultLock(tmp_path):  # the store's own, within a task's
                inside.append(name)

    await asyncio.gather(work("a"), work("b"), work("c"))
    assert sorted(inside[::2]) == ["a", "b", "c"]
    assert inside[::2] == inside[1::2]


async def test_a_blocking_wait_that_would_stop_the_holders_loop_is_refused_at_once(tmp_path: Path) -> None:
    async def blocking() -> None:
        with VaultLock(tmp_path):
            pass

    async with VaultLock(tmp_path):
        with pytest.raises(LockTimeout, match="could not go on while this waits"):
            await asyncio.create_task(blocking())


async def test_a_cancelled_waiter_leaves_nothing_behind(tmp_path: Path, holder: "subprocess.Popen[str]") -> None:
    async def wait() -> None:
        async with VaultLock(tmp_path):
            pass

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0.05)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    holder.communicate("")
    with VaultLock(tmp_path, timeout=0):
        pass


async def test_a_worker_thread_is_not_the_owner_that_its_task_is(tmp_path: Path) -> None:
    def attempt() -> None:
        with VaultLock(tmp_path, timeout=0.05):
            pass

    async with VaultLock(tmp_path):
        with pytest.raises(LockTimeout):
            await asyncio.to_thread(attempt)
    await asyncio.to_thread(attempt)


def test_no_count_is_lost_between_processes(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("0")
    processes = [start(COUNT, tmp_path) for _ in range(4)]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    assert (tmp_path / "n").read_text() == "100"


def _try_in_child(root: str) -> str:
    try:
        with VaultLock(Path(root), timeout=0.05):
            return "taken"
    except LockTimeout:
        return "refused"


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_does_not_inherit_the_lock_nor_free_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    with VaultLock(tmp_path):
        with context.Pool(1) as pool:
            assert pool.apply(_try_in_child, (str(tmp_path),)) == "refused"
        outcome = subprocess.run(
            [sys.executable, "-c", HOLD.replace("sys.argv[1])", "sys.argv[1]), 0.05"), str(tmp_path)],
            input="",
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 1
        assert "LockTimeout" in outcome.stderr


def test_a_release_by_somebody_else_is_an_error(tmp_path: Path) -> None:
    failures: list[str] = []
    lock = VaultLock(tmp_path)

    def release() -> None:
        try:
            lock.__exit__()
        except RuntimeError as error:
            failures.append(str(error))

    with lock:
        thread = threading.Thread(target=release)
        thread.start()
        thread.join()
    assert failures == ["the vault lock can be released only by the thread or task that took it"]


def test_a_root_that_is_a_file_stays_untouched(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.write_text("mine")
    with pytest.raises(PathRefused, match="is a file"), VaultLock(root):
        pass
    assert root.read_text() == "mine"
