"""One lock per vault, between processes, threads and tasks."""

from pathlib import Path
from typing import Self


class VaultLock:
    """Exclusive, re-entrant for its owner (the asyncio task, else the thread) only; `with` or `async with`.

    All instances of one root share one lock. Raises LockTimeout after `timeout` seconds, saying who holds it.
    """

    def __init__(self, root: Path, timeout: float = 30.0) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        raise NotImplementedError

    async def __aexit__(self, *exc: object) -> None:
        raise NotImplementedError
