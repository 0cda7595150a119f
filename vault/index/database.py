"""The SQLite file of the index and what is done with it."""

from collections.abc import Callable, Iterable
from pathlib import Path

from vault.index.entry import Hit, IndexEntry, SearchFilters
from vault.scan import RecordKey

Loader = Callable[[RecordKey], IndexEntry | None]


class Index:
    """The index of the vault at `root` (memo.sqlite). Safe to share between threads; needs no vault lock.

    `load` reads one record file and returns what to index, None if it cannot be parsed; it must not raise for a bad
    file. `fingerprint`: whatever changes what `load` returns besides the file (the ttl settings); another one than
    last time re-reads everything.
    """

    def __init__(self, root: Path, load: Loader, fingerprint: str = "") -> None:
        raise NotImplementedError

    def upsert(self, entry: IndexEntry) -> None:
        """Index one record as it now is on disk. Raises IndexFailed."""
        raise NotImplementedError

    def remove(self, key: RecordKey) -> None:
        """Forget one record. Raises IndexFailed."""
        raise NotImplementedError

    def refresh(self, project: str | None = None) -> int:
        """Pick up every edit made outside, of one project or all; returns how many files had changed."""
        raise NotImplementedError

    def rebuild(self, entries: Iterable[IndexEntry] | None = None) -> int:
        """Throw the index away and fill it from `entries`, or from the files; returns how many records it holds."""
        raise NotImplementedError

    def search(self, query: str, filters: SearchFilters, limit: int = 20, *, refresh: bool = True) -> list[Hit]:
        """The best hits, best first. Picks up hand edits first unless told not to.

        Raises QueryInvalid for a query that cannot be read, IndexFailed if there is no index to be had.
        """
        raise NotImplementedError
