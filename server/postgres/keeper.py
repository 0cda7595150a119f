"""Runs the server as its child for as long as somebody uses it; a program of its own, with the standard library alone.

Its one argument is a JSON object: command, cwd, user, group, users_lock. Its output is the server's log.
A process that is killed cannot stop the server itself: its lock goes, and this one stops the server then.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

LOG_LIMIT = 1_000_000  # bytes
LOG_KEPT = 64_000
CHECK_LOG = 60.0  # seconds
FAST_SHUTDOWN = 60.0


def main() -> int:
    """The server's exit code, once it has ended."""
    # The server outlives signals meant for the group or the session: it ends when its users have.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    job = json.loads(sys.argv[1])
    root = job["user"] is not None
    server = subprocess.Popen(  # noqa: S603 -- the command is the launcher's
        job["command"], cwd=job["cwd"], user=job["user"], group=job["group"], extra_groups=[] if root else None, umask=0o077
    )
    threading.Thread(target=stop_after_last_user, args=(server, job["users_lock"]), daemon=True).start()
    threading.Thread(target=keep_log_small, daemon=True).start()
    return server.wait()


def stop_after_last_user(server: subprocess.Popen[bytes], users_lock: str) -> None:
    """Wait until no process holds the shared lock, then stop the server, holding it so that nobody comes in between."""
    fcntl.flock(os.open(users_lock, os.O_RDWR), fcntl.LOCK_EX)
    server.send_signal(signal.SIGINT)
    time.sleep(FAST_SHUTDOWN)
    server.send_signal(signal.SIGQUIT)


def keep_log_small() -> None:
    """Cut the log, in place, to its end whenever it has grown too large."""
    while True:
        time.sleep(CHECK_LOG)
        cut(sys.stdout.fileno())


def cut(log: int) -> None:
    """Keep the end of the file: PostgreSQL appends, so that it goes on behind what is left."""
    size = os.fstat(log).st_size
    if size > LOG_LIMIT:
        end = os.pread(log, LOG_KEPT, size - LOG_KEPT)
        os.ftruncate(log, 0)
        os.write(log, end[end.find(b"\n") + 1 :])


if __name__ == "__main__":
    sys.exit(main())
