"""What the tests of the embedded PostgreSQL share: questions to a server, other processes that use it, and waiting."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import psutil

from server.postgres import EmbeddedPostgres
from server.postgres.processes import postmaster, server_processes

ROOT = Path(__file__).parents[3]
FAST = {"fsync": "off"}
USER = """
import sys
from pathlib import Path
from server.postgres import EmbeddedPostgres
pg = EmbeddedPostgres(Path(sys.argv[1]), settings={"fsync": sys.argv[2]})
pg.start()
print("started", flush=True)
sys.stdin.read()
pg.stop()
"""


def query(pg: EmbeddedPostgres, *statements: str, database: str = "postgres") -> Any:
    """The single value of the last statement."""

    async def ask() -> Any:
        connection = await asyncpg.connect(pg.dsn(database))
        try:
            return [await connection.fetchval(statement) for statement in statements][-1]
        finally:
            await connection.close()

    return asyncio.run(ask())


def server_of(base: Path) -> psutil.Process | None:
    return postmaster(server_processes(base / "postgres"))


def living_server(base: Path) -> psutil.Process:
    server = server_of(base)
    assert server is not None
    return server


def keeper_of(base: Path) -> psutil.Process:
    parent = living_server(base).parent()
    assert parent is not None
    return parent


def user_process(base: Path, *, fsync: str = "off") -> subprocess.Popen[str]:
    """A process that starts or joins the server and stays until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", USER, str(base), fsync],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def started(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "started\n"


def end(process: subprocess.Popen[str]) -> int:
    """Let the process leave in good order; its exit code."""
    process.communicate()
    return process.returncode


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
