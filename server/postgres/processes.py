"""The living processes of a cluster, found by where they stand. The pid file only tells what was once true."""

import signal
import time
from pathlib import Path

import psutil

from server.postgres.errors import PostgresError

PAUSE = 0.02
ORPHANS_GRACE = 5.0  # seconds; backends notice by themselves that their server is gone
FAST_SHUTDOWN = 60.0  # seconds until the shutdown no longer waits for its checkpoint; the log then restores it


def server_processes(data: Path) -> list[psutil.Process]:
    """Every living PostgreSQL process whose working folder is `data`."""
    return [process for process in psutil.process_iter() if _stands_in(process, data)]


def postmaster(processes: list[psutil.Process]) -> psutil.Process | None:
    """The server among them, if it lives. Its children call themselves `postgres: …`, though not in their first moment."""
    numbers = {process.pid for process in processes}
    for process in processes:
        try:
            command, parent = process.cmdline(), process.ppid()
        except psutil.Error:
            continue
        if command and not command[0].startswith("postgres: ") and parent not in numbers:
            return process
    return None


def clear_remains(data: Path) -> None:
    """Remove what a killed server left: first its last processes, which may still write, then its pid and lock files."""
    deadline = time.monotonic() + ORPHANS_GRACE
    while orphans := server_processes(data):
        if time.monotonic() > deadline:
            for process in orphans:
                _signal(process, signal.SIGKILL)
        time.sleep(PAUSE)
    for name in ("postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"):
        (data / name).unlink(missing_ok=True)


def shut_down(data: Path) -> None:
    """Stop the server of `data`, if it lives, and return when it has gone. Raises PostgresError when it does not go."""
    server = postmaster(server_processes(data))
    if server is None:
        return
    for request, seconds in ((signal.SIGINT, FAST_SHUTDOWN), (signal.SIGQUIT, ORPHANS_GRACE), (signal.SIGKILL, ORPHANS_GRACE)):
        _signal(server, request)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not _stands_in(server, data):
                return
            time.sleep(PAUSE)
    raise PostgresError(f"PostgreSQL (process {server.pid}) does not end. See what it waits for: `ps -o pid,stat,wchan {server.pid}`.")


def _stands_in(process: psutil.Process, data: Path) -> bool:
    try:
        if not process.name().startswith("postgres") or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return Path(process.cwd()) == data
    except (psutil.Error, OSError):
        return False  # gone meanwhile, or of another user and so not a server that we started


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
