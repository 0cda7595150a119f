"""One lock per vault, between processes, threads and tasks.

Two stages: a gate in memory decides between the threads and tasks of this process, then a kernel lock on a file decides
between processes. The kernel frees its lock when the holder dies, so none is ever stale.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from filelock import FileLock, Timeout

from vault.errors import LockTimeout, PathRefused, UpsertFailed
from vault.files import make_root, read_plain
from vault.scan import LOCK_FILE

if TYPE_CHECKING:
    import asyncio

HOLDER_FILE = ".memo.lock.holder"

_POLL = 0.02  # seconds between two attempts on the file
_MAX_NOTE = 64 * 1024  # bytes
_registry: dict[str, "_Gate"] = {}
_registry_guard = threading.Lock()


class VaultLock:
    """Exclusive, re-entrant for its owner (the asyncio task, else the thread) only; `with` or `async with`.

    All instances of one root share one lock. Raises LockTimeout after `timeout` seconds, saying who holds it.
    """

    def __init__(self, root: Path, timeout: float = 30.0) -> None:
        self._root = Path(os.path.realpath(root))
        self._timeout = timeout

    def __enter__(self) -> Self:
        gate, owner = self._gate(), _owner()
        deadline = time.monotonic() + self._timeout
        stuck = gate.would_deadlock()
        if not gate.enter(owner, deadline, wait=not stuck):
            raise self._stuck(gate) if stuck else self._timed_out(gate)
        if gate.depth == 1:
            self._take_file(gate, deadline)
        return self

    def __exit__(self, *exc: object) -> None:
        self._gate().leave(_owner())

    async def __aenter__(self) -> Self:
        import asyncio

        gate, owner = self._gate(), _owner()
        deadline = time.monotonic() + self._timeout
        while not gate.enter(owner, deadline, wait=False):
            if time.monotonic() >= deadline:
                raise self._timed_out(gate)
            await asyncio.sleep(_POLL)
        taken = gate.depth > 1
        try:
            while not taken and not (taken := gate.try_file()) and time.monotonic() < deadline:  # noqa: ASYNC110 - see below
                await asyncio.sleep(_POLL)  # another process cannot set an event of ours
        except BaseException:  # a cancelled task must not keep the gate
            gate.leave(owner)
            raise
        self._insist(gate, owner, taken=taken)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._gate().leave(_owner())

    def _gate(self) -> "_Gate":
        with _registry_guard:
            gate = _registry.get(str(self._root))
            if gate is None:
                gate = _registry[str(self._root)] = _Gate(self._root)
        return gate

    def _take_file(self, gate: "_Gate", deadline: float) -> None:
        try:
            taken = gate.try_file()
            while not taken and time.monotonic() < deadline:
                time.sleep(_POLL)
                taken = gate.try_file()
        except BaseException:
            gate.leave(_owner())
            raise
        self._insist(gate, _owner(), taken=taken)

    def _insist(self, gate: "_Gate", owner: Hashable, *, taken: bool) -> None:
        if not taken:
            error = self._timed_out(gate)
            gate.leave(owner)
            raise error

    def _stuck(self, gate: "_Gate") -> LockTimeout:
        return LockTimeout(f"the vault is in use: {gate.holder()} holds its lock and could not go on while this waits; use `async with`")

    def _timed_out(self, gate: "_Gate") -> LockTimeout:
        return LockTimeout(f"the vault is in use: {gate.holder()} holds its lock; gave up after {self._timeout:g} seconds")


class _Gate:
    """The state of one vault's lock in this process."""

    def __init__(self, root: Path) -> None:
        self.depth = 0
        self._owner: Hashable = None
        self._name = ""
        self._thread = 0
        self._condition = threading.Condition()
        self._root = root
        # thread_local would hide from other threads that the file is locked; a soft lock would outlive a killed holder.
        self._file = FileLock(root / LOCK_FILE, thread_local=False, fallback_to_soft=False)

    def enter(self, owner: Hashable, deadline: float, *, wait: bool) -> bool:
        """Whether the caller has the gate now; again and deeper if it had it."""
        with self._condition:
            while self._owner is not None and self._owner != owner:
                left = deadline - time.monotonic()
                if not wait or left <= 0 or not self._condition.wait(left):
                    return False
            if self.depth == 0:
                self._owner, self._name, self._thread = owner, _name(), threading.get_ident()
            self.depth += 1
            return True

    def leave(self, owner: Hashable) -> None:
        """One level up; the outermost frees the file first, then the gate."""
        with self._condition:
            if self._owner != owner:
                raise RuntimeError("the vault lock can be released only by the thread or task that took it")
            if self.depth == 1:
                self._free_file()
                self._owner = None
            self.depth -= 1
            self._condition.notify()

    def would_deadlock(self) -> bool:
        """True if waiting here would block the very event loop on which the holder has to go on."""
        return _task() is not None and self._owner is not None and self._thread == threading.get_ident()

    def try_file(self) -> bool:
        """One attempt at the lock between processes."""
        try:
            make_root(self._root)
            self._file.acquire(blocking=False)
        except Timeout:
            return False
        except (FileExistsError, NotADirectoryError) as error:
            raise PathRefused("the vault root is a file, not a folder; it was left untouched") from error
        except OSError as error:
            raise UpsertFailed(f"the vault cannot be written: {error.strerror or type(error).__name__}") from error
        self._note_holder()
        return True

    def holder(self) -> str:
        """Who has the lock, for people."""
        if self._owner is not None and self._file.is_locked:
            return f"this process ({self._name})"
        try:
            noted = json.loads(read_plain(self._root / HOLDER_FILE, _MAX_NOTE))
            return f"process {noted['pid']} on {noted['host']} ({noted['command']}, since {noted['since']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _note_holder(self) -> None:
        """Only a courtesy to those who wait: a note that cannot be written is no reason to fail."""
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        command = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
        note = {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": since}
        try:
            # Neither through a link nor into a pipe, which would wait for a reader.
            handle = os.open(self._root / HOLDER_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(note, file)
        except OSError:
            return

    def _free_file(self) -> None:
        if self._file.is_locked:
            with contextlib.suppress(OSError):  # the next holder writes its own
                (self._root / HOLDER_FILE).unlink(missing_ok=True)
            self._file.release()


def _task() -> "asyncio.Task[object] | None":
    loops = sys.modules.get("asyncio")  # slow to import, and not there without somebody who runs a loop
    if loops is None:
        return None
    try:
        task: asyncio.Task[object] | None = loops.current_task()
    except (RuntimeError, AttributeError):  # no event loop runs in this thread; another thread is just importing it
        return None
    return task


def _owner() -> Hashable:
    """The task or thread object itself, so that its identity cannot be used again while it holds the lock."""
    return _task() or threading.current_thread()


def _name() -> str:
    task = _task()
    return f"task {task.get_name()}" if task else f"thread {threading.current_thread().name}"


def _after_fork() -> None:
    """A forked child holds nothing. The old gates are kept: closing them would free the parent's lock."""
    global _registry_guard  # noqa: PLW0603 - the parent's guard may be held by a thread that the child lacks
    _registry_guard = threading.Lock()
    _inherited.append(dict(_registry))
    _registry.clear()


_inherited: list[dict[str, _Gate]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
