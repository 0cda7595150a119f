"""Where the embedded PostgreSQL keeps its things inside the base folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from server.postgres.errors import PostgresError


@dataclass(frozen=True)
class Layout:
    """The paths of one embedded PostgreSQL; `base` is absolute and free of symbolic links."""

    base: Path

    @property
    def data(self) -> Path:
        """The database cluster."""
        return self.base / "postgres"

    @property
    def start_lock(self) -> Path:
        """Held by whoever starts or leaves the server."""
        return self.base / "postgres.start.lock"

    @property
    def users_lock(self) -> Path:
        """Held, shared, by every process that uses the server."""
        return self.base / "postgres.users.lock"

    @property
    def log(self) -> Path:
        """What PostgreSQL says; kept under a megabyte."""
        return self.base / "postgres.log"


def prepare_base(base: Path) -> None:
    """Make the base folder for its owner alone. Raises PostgresError when it cannot be made or written."""
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A folder with other content may be shared on purpose (or be /tmp): its mode is not ours to change.
        if next(base.iterdir(), None) is None:
            base.chmod(0o700)
    except OSError as error:
        raise PostgresError(_unusable(base, error)) from error
    if not os.access(base, os.R_OK | os.W_OK | os.X_OK):
        raise PostgresError(_unusable(base, "permission denied"))


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """A file descriptor of `path`, made if missing, for its owner alone. Raises PostgresError."""
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _open_existing(path, flags)
    except OSError as error:
        raise PostgresError(_unusable(path.parent, error)) from error
    if os.geteuid() == 0:  # in a folder of another user, that user must be able to open it later too
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def _open_existing(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags)
    except OSError as error:
        raise PostgresError(_unusable(path, error)) from error


def _unusable(path: Path, reason: object) -> str:
    return (
        f"The folder of the database cannot be used: {path}: {reason}. "
        f"Run the command as the user who owns it, or set MUNIMENT_HOME to a folder on a local disk that you may write."
    )
