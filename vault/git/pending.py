"""Messages of commits that are asked for and not made yet; they wait on disk for a flush of any process."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from vault.files import read_plain, write_atomic
from vault.git.command import mask_passwords

PENDING_FILE = ".memo.git-pending"
_MAX_PENDING = 64 * 1024 * 1024  # bytes
_LONGEST = 300  # characters of one message
_MOST_LINES = 200  # messages listed in one commit


class Pending:
    """The messages that wait in the vault at `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / PENDING_FILE

    def add(self, message: str) -> None:
        """Add a message. Raises OSError."""
        line = json.dumps(" ".join(mask_passwords(message).split())[:_LONGEST]) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(line)

    def messages(self) -> list[str]:
        """Return the messages, oldest first."""
        try:
            lines = read_plain(self._path, _MAX_PENDING).decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        messages = []
        for line in lines:
            with contextlib.suppress(ValueError):  # a line that a kill cut short
                messages.append(str(json.loads(line)))
        return messages

    def size(self) -> int:
        """Return how many bytes the messages take."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def drop(self, size: int) -> None:
        """Drop the first `size` bytes: what was asked for since then still waits."""
        try:
            rest = read_plain(self._path, _MAX_PENDING)[size:]
        except FileNotFoundError:
            return
        if rest:
            write_atomic(self._root, PENDING_FILE, rest)
        else:
            self._path.unlink(missing_ok=True)


def commit_message(messages: list[str]) -> str:
    """Return the one message, or a heading and the list of all."""
    once = list(dict.fromkeys(messages))
    if not once:
        return "sync"
    if len(once) == 1:
        return once[0]
    rest = [f"… and {len(once) - _MOST_LINES} more"] if len(once) > _MOST_LINES else []
    return "\n".join([f"sync: {len(once)} changes", "", *once[:_MOST_LINES], *rest])
