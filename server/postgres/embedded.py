import fcntl
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from server.postgres.account import account_for, run
from server.postgres.binaries import find_binaries, runnable_binaries
from server.postgres.cluster import admit, check_owner, check_version, make_cluster
from server.postgres.configuration import server_settings
from server.postgres.errors import PostgresError
from server.postgres.launch import Launched, launch, reap
from server.postgres.layout import Layout, prepare_base
from server.postgres.locks import lock, locked, try_lock
from server.postgres.processes import clear_remains, postmaster, server_processes, shut_down
from server.postgres.sockets import make_link, remove_link, socket_folder

TIMEOUT = 300.0  # seconds; recovery after a crash can take long
PAUSE = 0.02
NAME_BYTES = 63  # PostgreSQL cuts longer names, silently

CREATE_DATABASE = """
SELECT pg_advisory_lock(7310448);
SELECT format('CREATE DATABASE %I TEMPLATE template0', :'name')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \\gexec
"""


class EmbeddedPostgres:
    """One PostgreSQL server per base folder, started by whoever needs it first and stopped by whoever leaves last.

    The server listens on a Unix socket only. A process that is killed counts as having left.
    `settings` are PostgreSQL's own, over durable defaults; they hold for the server that this object
    starts, not for one that it finds running. {"fsync": "off"} makes a fast cluster for tests.
    """

    def __init__(self, base: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self._layout = Layout(Path(base).expanduser().resolve())
        self._settings = server_settings(settings or {})
        self._user: int | None = None  # the descriptor that holds the shared lock

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server, or attach to the running one; again, it restarts a server that has died.

        Blocks until the server answers. Raises PostgresError, and then has left nothing running.
        """
        prepare_base(self._layout.base)
        with locked(self._layout.start_lock, TIMEOUT):
            if self._user is None:
                self._user = lock(self._layout.users_lock, fcntl.LOCK_SH, TIMEOUT)
            try:
                make_link(self._layout.data)
                if not self._ready():
                    self._start_server()
            except BaseException:
                self._leave()
                raise

    def stop(self) -> None:
        """Leave the server; the last user stops it and returns when it has ended. Does nothing when not started."""
        if self._user is not None:
            with locked(self._layout.start_lock, TIMEOUT):
                self._leave()

    def dsn(self, database: str = "muniment") -> str:
        """The libpq URL of a database; valid between start and stop."""
        # With the port, because a PGPORT in the client's environment would count otherwise.
        host = quote(str(socket_folder(self._layout.data)))
        return f"postgresql://postgres@/{quote(database, safe='')}?host={host}&port=5432"

    def ensure_database(self, name: str) -> None:
        """Create the database unless it exists; several processes may do so at once. Raises PostgresError."""
        if not name or "\0" in name or len(name.encode()) > NAME_BYTES:
            raise PostgresError(f"{name!r} cannot be the name of a database: it takes 1 to {NAME_BYTES} bytes and no NUL.")
        options = ["--no-psqlrc", "--no-password", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1", f"--set=name={name}"]
        done = run([find_binaries() / "psql", *self._connection("postgres"), *options], text=CREATE_DATABASE)
        if done.returncode != 0:
            raise PostgresError(f"The database {name!r} could not be made: {done.stderr.strip()}")

    def _connection(self, database: str) -> list[str]:
        return ["-h", str(socket_folder(self._layout.data)), "-p", "5432", "-U", "postgres", "-d", database]

    def _ready(self) -> bool:
        # Asked of the server itself: a pid file outlives its server.
        return run([find_binaries() / "pg_isready", "--quiet", *self._connection("postgres")]).returncode == 0

    def _start_server(self) -> None:
        if self._await_other():
            return
        layout = self._layout
        account = account_for(layout.data if layout.data.exists() else layout.base)
        binaries, major = runnable_binaries(find_binaries(), account)
        if not layout.data.exists():
            admit(layout.base, account)
            make_cluster(layout, binaries, account, sync=self._settings["fsync"] != "off")
        check_version(layout, major)
        check_owner(layout, account)
        clear_remains(layout.data)
        self._await_ready(launch(layout, binaries, account, self._settings))

    def _await_other(self) -> bool:
        """Whether a server that was starting or stopping when we came answers now; False once there is none."""
        deadline = time.monotonic() + TIMEOUT
        while server := postmaster(server_processes(self._layout.data)):
            if self._ready():
                return True
            if time.monotonic() > deadline:
                raise PostgresError(
                    f"PostgreSQL (process {server.pid}) runs but does not answer. End it with `kill -QUIT {server.pid}` and start again."
                )
            time.sleep(PAUSE)
        return False

    def _await_ready(self, server: Launched) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not self._ready():
            if server.ended():
                raise PostgresError(f"PostgreSQL did not start. The end of its log, {self._layout.log}:\n{server.messages()}")
            if time.monotonic() > deadline:
                raise PostgresError(f"PostgreSQL has not become ready within {TIMEOUT:.0f} s. See its log, {self._layout.log}.")
            time.sleep(PAUSE)

    def _leave(self) -> None:
        """Give up our lock. Alone then, stop the server; a keeper that was quicker holds the lock until it has done so."""
        if self._user is not None:
            os.close(self._user)
            self._user = None
        while (alone := try_lock(self._layout.users_lock, fcntl.LOCK_EX)) is None:
            if (others := try_lock(self._layout.users_lock, fcntl.LOCK_SH)) is not None:
                os.close(others)
                return
            time.sleep(PAUSE)
        try:
            shut_down(self._layout.data)
            remove_link(self._layout.data)
        finally:
            os.close(alone)
            reap(self._layout)
