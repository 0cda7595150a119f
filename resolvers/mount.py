"""A vault served by this process: its refusals become ours, its changes reach the feed."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from models.caller import Caller, system
from models.errors import Conflict, MunimentError, NotFound, Unprocessable
from store import vault_trail
from store.database import Database
from store.vault_trail import VaultChange
from vault import Record, Vault, VaultError
from vault.errors import AmbiguousId, InvalidArguments, LockTimeout, RecordNotFound, SlugTaken, UnreadableRecord

Answer = TypeVar("Answer")
_seen: ContextVar[list[VaultChange]] = ContextVar("vault_changes")
_NO_SIBLING = frozenset({"scratch", "state", "review"})


class Busy(MunimentError):
    """Somebody else holds the vault."""

    code = "UNAVAILABLE"
    status = 503


class Mount:
    """One vault, bound to one organisation. Its calls wait for files, so they run in threads."""

    def __init__(self, root: Path, db: Database, org_id: str) -> None:
        self.org_id = org_id
        self._db = db
        self.vault = Vault(root, on_change=self._hear, watched=True)

    @staticmethod
    def _hear(project: str, kind: str, path: str, operation: str, record_id: str) -> None:
        # The vault calls this in the thread of the call that saw the change, which has the context of that call.
        _seen.get().append(VaultChange(project, kind, path, operation, record_id))

    async def read(self, call: Callable[[Vault], Answer]) -> Answer:
        """The call's answer; what it found changed by others on the way goes to the feed. Raises our own errors only."""
        return await self._run(None, call)

    async def write(self, caller: Caller, call: Callable[[Vault], Answer]) -> Answer:
        """The call's answer; what it changed goes to the feed as the caller's. Raises our own errors only."""
        return await self._run(caller, call)

    async def _run(self, caller: Caller | None, call: Callable[[Vault], Answer]) -> Answer:
        changes: list[VaultChange] = []
        mark = _seen.set(changes)
        try:
            return await asyncio.to_thread(call, self.vault)
        except VaultError as error:
            raise refusal(error) from error
        finally:
            _seen.reset(mark)
            if changes:
                await vault_trail.record(self._db, caller or system(self.org_id, "vault"), self.vault.root, changes)

    def find(self, vault: Vault, record_id: str | None, kind: str | None, slug: str | None) -> Record | None:
        """The single match of all projects, durable kinds only; None for no match or several."""
        found = [
            record
            for project in vault.projects()
            if (record := vault.get(project, record_id, kind=kind, slug=slug, count_hit=False)) and record.kind not in _NO_SIBLING
        ]
        return found[0] if len(found) == 1 else None

    def close(self) -> None:
        """Commit what waits in the vault's git and let go of its files."""
        self.vault.flush()
        self.vault.close()


def refusal(error: VaultError) -> MunimentError:
    """What a refusal of the vault is called at our doors."""
    match error:
        case RecordNotFound():
            return NotFound(error.message)
        case AmbiguousId() | SlugTaken() | UnreadableRecord():
            return Conflict(error.message)
        case InvalidArguments():
            return Unprocessable(error.message)
        case LockTimeout():
            return Busy(error.message)
    raise error
