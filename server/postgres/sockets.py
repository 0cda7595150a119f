"""The socket lies in the data folder; where that path does not fit an address, a short link leads there."""

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from server.postgres.errors import PostgresError

SOCKET = ".s.PGSQL.5432"
LIMIT = 103 if sys.platform == "darwin" else 107  # bytes of a socket's address
SEPARATORS = frozenset(",:")  # they separate hosts in a libpq address


def socket_folder(data: Path) -> Path:
    """The folder to name as the host: `data` itself, or the short link to it. Raises PostgresError."""
    if _fits(data):
        return data
    link = _link_folder() / hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    if not _fits(link):
        raise PostgresError(
            f"No path short enough for a socket ({LIMIT} bytes) was found: neither {data} nor {link}. "
            f"Set XDG_RUNTIME_DIR or MUNIMENT_HOME to a folder with a shorter path."
        )
    return link


def make_link(data: Path) -> None:
    """Make the short link, where one is needed. Raises PostgresError when its folder is not ours alone."""
    link = socket_folder(data)
    if link == data:
        return
    _check_private(link.parent)
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(data)
    fresh.replace(link)


def remove_link(data: Path) -> None:
    """Remove the short link, if there is one."""
    link = socket_folder(data)
    if link != data:
        link.unlink(missing_ok=True)


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= LIMIT and SEPARATORS.isdisjoint(str(folder))


def _link_folder() -> Path:
    user = os.geteuid()
    candidates = (os.environ.get("XDG_RUNTIME_DIR", ""), "/run" if user == 0 else f"/run/user/{user}", tempfile.gettempdir())
    for parent in candidates:
        folder = Path(parent, f"muniment-{user}")
        if folder.is_absolute() and os.access(parent, os.W_OK | os.X_OK) and _fits(folder / ("x" * 16)):
            return folder
    return Path("/tmp", f"muniment-{user}")  # noqa: S108 -- its owner and mode are checked before it is used


def _check_private(folder: Path) -> None:
    # Somebody else's folder of this name could lead our clients to a server that is not ours.
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
    except OSError as error:
        raise PostgresError(
            f"The socket folder {folder} cannot be made: {error}. Set XDG_RUNTIME_DIR to a folder that you may write."
        ) from error
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o077:
        raise PostgresError(
            f"The socket folder {folder} must be a folder of yours that nobody else may enter. "
            f"Remove it, or set XDG_RUNTIME_DIR to a folder of yours."
        )
