"""Files that are whole at every instant: the old text or the new one."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from vault.errors import PathRefused, UpsertFailed

TEMPORARY = ".tmp-"  # a leading dot: such a file is never taken for a record


def random_hex(size: int) -> str:
    """Return `size` random bytes as hexadecimal digits."""
    return os.urandom(size).hex()  # as secrets.token_hex does, whose module is slow to import


def make_root(root: Path) -> None:
    """Make a vault's folder if it is missing, for its owner alone: memories are no one else's to read. Raises OSError."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_folder(root: Path, *parts: str) -> Path:
    """Return the folder below the root, made if missing. Raises PathRefused for a symbolic link, UpsertFailed for a file in the way."""
    path = root
    try:
        make_root(root)
        for part in parts:
            path = path / part
            if path.is_symlink():
                raise PathRefused(f"{path.relative_to(root)} is a symbolic link; nothing is written through it")
            path.mkdir(exist_ok=True)
    except OSError as error:
        raise UpsertFailed(f"the folder {path} cannot be made: {error.strerror}") from None
    return path


def read_plain(path: Path, most: int, *, follow: bool = False) -> bytes:
    """Return the bytes of a plain file. Raises OSError for anything else, so that no pipe or device makes a reader wait.

    `most`: bytes; a larger file is refused before it is read. `follow`: whether a symbolic link may lead to it.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        # The file may have grown since its size was taken: one byte more tells.
        data = file.read(most + 1) if state.st_size <= most else b""
        if state.st_size > most or len(data) > most:
            raise OSError(errno.EFBIG, f"it is larger than {most // 1024 // 1024} MiB", str(path))
        return data


def write_atomic(folder: Path, name: str, data: bytes, *, durable: bool = True) -> None:
    """Put `data` into folder/name: a temporary file in the same folder, fsync, rename, fsync of the folder.

    `durable=False` leaves out both fsyncs, for what can be made again. The folder is opened without following a link,
    and everything happens relative to it. Raises UpsertFailed; the old file is whole then.
    """
    temporary = f"{TEMPORARY}{random_hex(8)}"
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise UpsertFailed(f"the folder {folder} cannot be opened: {error.strerror}") from None
    try:
        _write(handle, temporary, data, durable)
        os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
        if durable:
            os.fsync(handle)
    except OSError as error:
        raise UpsertFailed(f"{folder / name} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=handle)
        os.close(handle)


def _write(folder: int, name: str, data: bytes, durable: bool) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        if durable:
            os.fsync(file)
    finally:
        os.close(file)


def remove(folder: Path, name: str) -> None:
    """Unlink folder/name for good. Raises UpsertFailed."""
    try:
        (folder / name).unlink()
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise UpsertFailed(f"{folder / name} cannot be removed: {error.strerror}") from None


def append_line(folder: Path, name: str, line: str) -> None:
    """Add one line to folder/name and make it last. Raises UpsertFailed."""
    try:
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
        try:
            # One write: lines of two processes never mix.
            os.write(file, f"{line}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise UpsertFailed(f"{folder / name} cannot be written: {error.strerror}") from None


def sweep(folder: Path) -> int:
    """Remove temporary files that a killed writer left; call it under the vault's lock. Returns how many there were."""
    count = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY):
                with contextlib.suppress(OSError):
                    (folder / entry.name).unlink()
                    count += 1
    return count
