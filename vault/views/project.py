"""The five pages of one project, kept up to date piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from vault import files
from vault.record import Record
from vault.scan import RecordKey
from vault.views import decisions, inventory, traps
from vault.views.pieces import Shelves, cell

_PAGES: dict[str, tuple[str, Callable[[Shelves], str]]] = {
    "TRAPS": ("Traps", traps.page),
    "DECISIONS": ("Decisions", decisions.page),
    "INDEX": ("Index", inventory.index_page),
    "PROMPTS": ("Prompts", inventory.prompts_page),
    "SESSIONS": ("Sessions", inventory.sessions_page),
}
_PAGE_OF_KIND = {"trap": "TRAPS", "decision": "DECISIONS", "prompt": "PROMPTS", "session": "SESSIONS"}

VIEW_NAMES = tuple(_PAGES)

Stamp = tuple[int, int, int]


class ProjectViews:
    """Renders and writes the pages of one project. Not thread-safe: its owner holds the vault's lock to write."""

    def __init__(self, root: Path, project: str) -> None:
        self._root = root
        self._project = project
        self._shelves = Shelves()
        self._behind: set[str] = set(VIEW_NAMES)
        self._stamps: dict[str, Stamp | None] = {}

    def update(self, key: RecordKey, before: Record | None, after: Record | None) -> None:
        """Take one record's change in."""
        pieces = [] if after is None else [*traps.pieces(after), *decisions.pieces(after), *inventory.pieces(after)]
        self._shelves.place(key, pieces)
        for record in (before, after):
            if record is not None:
                self._behind.add(_PAGE_OF_KIND.get(record.kind, "INDEX"))
                self._behind.add("INDEX")

    def fill(self, records: Iterable[Record]) -> None:
        """Take all records in at the start."""
        for record in records:
            self.update(record.key, None, record)

    def page(self, name: str, now: str) -> str:
        """Return one page as text."""
        title, render = _PAGES[name]
        head = f"# {title}: {cell(self._project)}\n\n<!-- Generated from the records; edits here are lost. -->\n\nLast compiled: {now}\n\n"
        return head + render(self._shelves)

    def write(self, now: str) -> list[str]:
        """Write every page that is behind its records, missing or not as it was written; return their names."""
        folder = files.make_folder(self._root, "projects", self._project)
        written = []
        for name in VIEW_NAMES:
            if name in self._behind or self._stamps.get(name) != _stamp(folder / f"{name}.md"):
                files.write_atomic(folder, f"{name}.md", self.page(name, now).encode("utf-8", "replace"), durable=False)
                self._stamps[name] = _stamp(folder / f"{name}.md")
                written.append(name)
        self._behind.clear()
        return written


def _stamp(path: Path) -> Stamp | None:
    try:
        stat = path.lstat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
