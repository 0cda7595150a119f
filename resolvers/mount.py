"""A vault served by this process: its refusals become ours, its changes reach the feed."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from models.caller import Caller, system
from resolvers import vault_files
from resolvers.vault_refusals import refusal
from store import vault_trail
from store.database import Database
from vault import Record, Vault, VaultError
from vault.kinds import LOCAL_KINDS
from vault.scan import FileState, RecordKey, scan_records

Answer = TypeVar("Answer")

# Less than a request may take, so that whoever waits for the vault is told so, and told that nothing was written.
_LOCK_TIMEOUT = 10.0


class Mount:
    """One vault, bound to one organisation. Its calls wait for files, so they run in threads.

    The vault looks at no file unasked: somebody must call `catch_up` and then `notice` for what changes.
    """

    def __init__(self, root: Path, db: Database, org_id: str) -> None:
        """Raises VaultError for a root or a config.json that is none."""
        self.org_id = org_id
        self.vault = Vault(root, watched=True, lock_timeout=_LOCK_TIMEOUT)
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
        """The call's answer; what it wrote is in the feed as the caller's. Raises our own errors only."""
        # A file cannot be rolled back: once begun, the write is recorded even if nobody waits for the answer any more.
        task = asyncio.create_task(self._write(caller, call))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        return await asyncio.shield(task)

    async def _write(self, caller: Caller, call: Callable[[Vault], Answer]) -> Answer:
        def called(vault: Vault) -> tuple[Answer, vault_trail.Digests]:
            answer = call(vault)
            return answer, vault_files.digests(vault.root, vault_files.written(vault, answer))

        # The vault lets one writer in at a time; those who wait here hold no connection.
        async with self._writing, vault_trail.turn(self._db, self.org_id) as writer:
            answer, digests = await self.read(called)
            await vault_trail.record(writer, caller, digests)
        return answer

    def find(self, vault: Vault, record_id: str | None, kind: str | None, slug: str | None) -> Record | None:
        """The single match of all projects, durable kinds only; None for no match or several."""
        found = [
            record
            for project in vault.projects()
            if (record := vault.get(project, record_id, kind=kind, slug=slug, count_hit=False)) and record.kind not in LOCAL_KINDS
        ]
        return found[0] if len(found) == 1 else None

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
