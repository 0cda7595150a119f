"""`muniment serve` as people start it: a process of its own on a free port of the loopback interface."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_WITHIN = 60.0
_ADDRESS = re.compile(r"Muniment serves at http://([\d.]+:\d+)/graphql")


class Served:
    """A server that runs, at `address`."""

    def __init__(self, folder: Path, dsn: str, *options: str, **settings: object) -> None:
        """`settings` become MUNIMENT_* variables; what the server says is in `folder`."""
        folder.mkdir()
        self._said = folder / "said.txt"
        given = {f"MUNIMENT_{name.upper()}": str(value) for name, value in settings.items()}
        environment = os.environ | {"MUNIMENT_DATABASE_URL": dsn, "MUNIMENT_HOME": str(folder / "home")} | given
        command = [str(Path(sys.executable).parent / "muniment"), "serve", "--no-demo", "--port", "0", *options]
        with self._said.open("w") as said:
            self.process = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
        self.address = self._wait()

    @property
    def said(self) -> str:
        """Everything that it has printed and logged."""
        return self._said.read_text()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as Ctrl-C would; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def _wait(self) -> str:
        deadline = time.monotonic() + START_WITHIN
        while (found := _ADDRESS.search(self.said)) is None:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)
        return found[1]


@contextmanager
def served(folder: Path, dsn: str, *options: str, **settings: object) -> Iterator[Served]:
    """A server that is there until the block ends."""
    server = Served(folder, dsn, *options, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
