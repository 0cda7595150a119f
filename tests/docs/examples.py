"""Running what the pages print: their shell blocks in one bash a page, and the comparison with the answers printed below them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.reference import ROOT

PATIENCE = 60.0
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/sign-in")
_END = "-- end of block --"


@dataclass(frozen=True)
class Block:
    """A fenced block, and the one after it if that shows its answer."""

    language: str
    text: str
    answer: str | None


def blocks(page: str, language: str) -> list[Block]:
    """The blocks of one language; an answer is a block of JSON, or of no language, that stands next."""
    found = [(match["language"], match["text"]) for match in _BLOCK.finditer((ROOT / page).read_text())]
    following: list[tuple[str, str | None]] = [*found[1:], ("", None)]
    return [
        Block(kind, text, after if after_kind in {"json", ""} else None)
        for (kind, text), (after_kind, after) in zip(found, following, strict=False)
        if kind == language
    ]


def matches(printed: str, given: str) -> bool:
    """Whether an answer is as printed: JSON by its values, other text but for white space; `…` stands for anything."""
    try:
        return _same(json.loads(printed), json.loads(given))
    except ValueError:
        return _alike("".join(printed.split()), "".join(given.split()))


def _same(printed: Any, given: Any) -> bool:
    if isinstance(printed, dict):
        return isinstance(given, dict) and printed.keys() == given.keys() and all(_same(printed[key], given[key]) for key in printed)
    if isinstance(printed, list):
        return isinstance(given, list) and len(printed) == len(given) and all(map(_same, printed, given))
    if isinstance(printed, str):
        return isinstance(given, str) and _alike(printed, given)
    return type(printed) is type(given) and printed == given


def _alike(printed: str, given: str) -> bool:
    return re.fullmatch(".*?".join(re.escape(part) for part in printed.split("…")), given, re.DOTALL) is not None


class Shell:
    """One bash whose variables live from block to block."""

    def __init__(self, folder: Path, address: str) -> None:
        self._address = address
        self._process = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, text: str) -> str:
        """What a block prints, run against the server of the tests."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        here = text.replace("localhost:8000", self._address)
        self._process.stdin.write(f"{here}\necho; echo '{_END}'\n")
        self._process.stdin.flush()
        lines = iter(self._process.stdout.readline, f"{_END}\n")
        return "".join(lines).strip()

    def until(self, text: str, printed: str) -> str:
        """The same, run again until it prints this; the last thing it printed after a minute."""
        deadline = time.monotonic() + PATIENCE
        while not matches(printed, given := self.run(text)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return given

    def close(self) -> None:
        """End it, and what it left in the background."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate(timeout=PATIENCE)


@contextmanager
def shell(folder: Path, address: str) -> Iterator[Shell]:
    """A shell that ends with the block."""
    opened = Shell(folder, address)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def demo_server(folder: Path) -> Iterator[str]:
    """The address of a server that was started in a folder as `scripts/serve` starts one: with its own database and the demo.

    The folder has what a clone has for the pages: the environment and the examples.
    """
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "examples").symlink_to(ROOT / "examples")
    said = folder / "said.txt"
    with said.open("w") as output:
        process = subprocess.Popen(
            [str(command()), "serve", "--port", "0"], cwd=folder, env=environment(), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while (found := _ADDRESS.search(said.read_text())) is None:
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        process.wait(PATIENCE)


def command() -> Path:
    """The command `muniment` of these tests' own environment."""
    return Path(sys.executable).parent / "muniment"


def environment() -> dict[str, str]:
    """The environment of a newcomer: none of our variables are set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
