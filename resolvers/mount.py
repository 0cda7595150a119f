"""A vault served by this process: its refusals become ours, its changes reach the feed."""

import asyncio
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from models.caller import Caller, system
from resolvers import vault_files
from resolvers.vault_refusals import refusal
from store import usage, vault_trail
from store.database import Database
from vault import Vault, VaultError
from vault.errors import LockTimeout
from vault.scan import FileState, RecordKey, scan_records

Answer = TypeVar("Answer")

# Less than a request may take, so that whoever waits for the vault is told so, and told that nothing was written.
_LOCK_TIMEOUT = 10.0


class Attempt:
    """One write on its way. All of it happens on the event loop, so that a deadline passes either before or after its begin."""

    def __init__(self, request: usage.Usage | None) -> None:
        self.begun = self.abandoned = False
        self._request = request
        self._loop = asyncio.get_running_loop()

    def begin(self) -> None:
        """Called by the thread that writes. Raises VaultError for an attempt that was given up."""
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
        if not self.begun:
            raise LockTimeout("the write was given up before it began; nothing was written")

    async def _begin(self) -> None:
        if not self.abandoned and not self.begun:
            self.begun = True
            if self._request is not None:
                self._request.commit()

    def end(self) -> None:
        """Let the request's deadline count again."""
        if self.begun and self._request is not None:
            self._request.committed(written=True)


_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def _begin() -> None:
    if (attempt := _attempt.get()) is not None:
        attempt.begin()


class Mount:
    """One vault, bound to one organisation. Its calls wait for files, so they run in threads.

    The vault looks at no file unasked: somebody must call `catch_up` and then `notice` for what changes.
    """

    def __init__(self, root: Path, db: Database, org_id: str) -> None:
        """Raises VaultError for a root or a config.json that is none."""
        self.org_id = org_id
        self.vault = Vault(root, watched=True, lock_timeout=_LOCK_TIMEOUT, before_write=_begin)
        self._db = db
        self._writing = asyncio.Lock()
        self._writes: set[asyncio.Task[Any]] = set()

    # ------------------------------------------------------------------ calls

    async def read(self, call: Callable[[Vault], Answer]) -> Answer:
        """The call's answer. Raises our own errors only."""
        try:
            return await asyncio.to_thread(call, self.vault)
        except VaultError as error:
            raise refusal(error, self.vault.root) from error

    async def write(self, caller: Caller, call: Callable[[Vault], Answer]) -> Answer:
        """The call's answer; what it wrote is in the feed as the caller's. Raises our own errors only.

        A deadline that passes before the first file is written ends the write; from then on it waits for it.
        """
        attempt = Attempt(usage.current.get())
        token = _attempt.set(attempt)
        try:
            task = asyncio.create_task(self._write(caller, call))
        finally:
            _attempt.reset(token)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        try:
            # A file cannot be rolled back: once begun, the write is recorded even if nobody waits for the answer any more.
            answer = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not attempt.begun:
                attempt.abandoned = True  # the thread, which nobody can cancel, ends where it would begin to write
                task.cancel()
            raise
        finally:
            attempt.end()
        return answer

    async def _write(self, caller: Caller, call: Callable[[Vault], Answer]) -> Answer:
        def called(vault: Vault) -> tuple[Answer, vault_trail.Digests]:
            answer = call(vault)
            return answer, vault_files.digests(vault.root, vault_files.written(vault, answer))

        # The vault lets one writer in at a time; those who wait here hold no connection.
        async with self._writing, vault_trail.turn(self._db, self.org_id) as writer:
            answer, digests = await self.read(called)
            await vault_trail.record(writer, caller, digests)
        return answer

    # ------------------------------------------------------------------ changes made elsewhere

    async def catch_up(self) -> dict[RecordKey, FileState]:
        """Look at every file; the states that were seen, so that what changes after them can be told apart."""
        # In this order, what changes between the two is noticed twice rather than never.
        known = await asyncio.to_thread(scan_records, self.vault.root)
        await asyncio.to_thread(self.vault.notice_all)
        return known

    async def notice(self, keys: Iterable[RecordKey]) -> None:
        """Look at files that may have changed, so that this process answers with what they hold now."""

        def look() -> None:
            for key in keys:
                self.vault.notice(key.path(self.vault.root))

        await asyncio.to_thread(look)

    async def record(self, keys: Iterable[RecordKey]) -> int:
        """Tell the feed of changes that no caller of ours made; how many it did not know yet."""
        async with vault_trail.turn(self._db, self.org_id) as writer:
            digests = await asyncio.to_thread(vault_files.digests, self.vault.root, list(keys))
            return await vault_trail.record(writer, system(self.org_id, "vault"), digests)

    async def reconcile(self) -> int:
        """Tell the feed of every change that it does not know yet, also those made while no server ran; how many there were."""
        async with vault_trail.turn(self._db, self.org_id) as writer:
            known = await vault_trail.live_paths(writer, self.org_id)
            digests = await asyncio.to_thread(vault_files.all_digests, self.vault.root, known)
            return await vault_trail.record(writer, system(self.org_id, "vault"), digests)

    async def close(self) -> None:
        """Finish the writes that have begun, commit what waits in the vault's git and let go of its files."""
        await asyncio.gather(*self._writes, return_exceptions=True)
        await asyncio.to_thread(self.vault.flush)
        await asyncio.to_thread(self.vault.close)
