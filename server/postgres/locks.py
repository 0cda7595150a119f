"""File locks that end with the process that holds them, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.postgres.errors import PostgresError
from server.postgres.layout import open_private

PAUSE = 0.02  # seconds between two attempts


def try_lock(path: Path, mode: int) -> int | None:
    """The descriptor that holds the lock (close it to let go), or None when others hold it."""
    descriptor = open_private(path)
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise PostgresError(f"{path} cannot be locked: {error}. Set MUNIMENT_HOME to a folder on a local disk.") from error
    return descriptor


def lock(path: Path, mode: int, timeout: float) -> int:
    """The descriptor that holds the lock. Raises PostgresError after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while (descriptor := try_lock(path, mode)) is None:
        if time.monotonic() > deadline:
            raise PostgresError(
                f"Another process has been starting or stopping the database for {timeout:.0f} s (it holds {path}). "
                f"See who: `fuser -v {path}`; end that process and try again."
            )
        time.sleep(PAUSE)
    return descriptor


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[None]:
    """Hold `path` alone for the block."""
    descriptor = lock(path, fcntl.LOCK_EX, timeout)
    try:
        yield
    finally:
        os.close(descriptor)
