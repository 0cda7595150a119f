import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from server.postgres import keeper
from server.postgres.account import Account, environment
from server.postgres.cluster import data_argument
from server.postgres.errors import PostgresError
from server.postgres.layout import Layout, open_private

SHOWN = 4_000  # bytes of the log in an error
REAP_SECONDS = 10.0

# By base folder. Keepers outlive the objects that started them; kept here, they are reaped and nobody warns of a running child.
_keepers: dict[Path, list[subprocess.Popen[bytes]]] = {}


@dataclass(frozen=True)
class Launched:
    """A server on its way up."""

    process: subprocess.Popen[bytes]
    log: Path
    begin: int

    def ended(self) -> bool:
        """Whether it has given up."""
        return self.process.poll() is not None

    def messages(self) -> str:
        """The end of what it has said since its start."""
        said = self.log.read_bytes()[self.begin :]
        return said[-SHOWN:].decode(errors="replace").strip()


def launch(layout: Layout, binaries: Path, account: Account | None, settings: Mapping[str, str]) -> Launched:
    """Start the server under a keeper, which runs on when this process ends. Raises PostgresError."""
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    job = {
        "command": [str(binaries / "postgres"), "-D", data_argument(layout.data, account), *options],
        "cwd": str(layout.data),
        "user": account.uid if account else None,
        "group": account.gid if account else None,
        "users_lock": str(layout.users_lock),
    }
    log = open_private(layout.log, os.O_RDWR | os.O_APPEND)
    try:
        keeper.cut(log)
        begin = os.fstat(log).st_size
        process = _run_keeper(job, log)
    finally:
        os.close(log)
    _keepers.setdefault(layout.base, []).append(process)
    return Launched(process, layout.log, begin)


def reap(layout: Layout) -> None:
    """Wait for the keepers that this process started here, once their server has been stopped."""
    for process in _keepers.pop(layout.base, []):
        with suppress(subprocess.TimeoutExpired):
            process.wait(REAP_SECONDS)


def _run_keeper(job: Mapping[str, object], log: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", keeper.__file__, json.dumps(job)]
    try:
        return subprocess.Popen(  # noqa: S603 -- this Python and a file of ours
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=environment(), start_new_session=True, umask=0o077
        )
    except OSError as error:
        raise PostgresError(f"The process that runs PostgreSQL could not be started: {error}.") from error
