"""The vault's own git history: a convenience that never fails a write."""

from dataclasses import dataclass
from pathlib import Path

from vault.config import GitConfig


@dataclass(frozen=True, slots=True)
class GitReport:
    """What git did: the new commit's id, whether it was pushed, messages still waiting, and what went wrong."""

    enabled: bool = True
    commit: str | None = None
    pushed: bool = False
    pending: int = 0
    error: str | None = None


class VaultGit:
    """Commits records and configuration of the vault at `root`; nothing here raises for a failing git."""

    def __init__(self, root: Path, config: GitConfig) -> None:
        raise NotImplementedError

    def request_commit(self, message: str) -> GitReport:
        """Atomic: commits now. Batched: remembers the message on disk until a flush, of any process."""
        raise NotImplementedError

    def flush(self, *, push: bool = True, automatic: bool = False) -> GitReport:
        """Commits what is waiting and pushes if a remote is set. `automatic`: not asked for by the user (autoCommit)."""
        raise NotImplementedError
