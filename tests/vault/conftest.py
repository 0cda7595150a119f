import itertools
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault import Vault

FIXTURE = Path(__file__).parent / "fixture"
WIDGET = "github.com-acme-widget"


class SteppingClock:
    """Starts at a fixed moment and moves on only when told to."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 6, 4, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def step(self, **amount: float) -> None:
        self.moment += timedelta(**amount)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def events() -> list[tuple[str, ...]]:
    return []


@pytest.fixture
def vault(tmp_path: Path, clock: SteppingClock, events: list[tuple[str, ...]]) -> Iterator[Vault]:
    numbers = itertools.count(1)
    opened = Vault(
        tmp_path / "vault",
        clock=clock,
        random_hex=lambda size: f"{next(numbers):0{2 * size}x}",
        on_change=lambda *event: events.append(event),
    )
    yield opened
    opened.close()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A copy of the vault that was written by hand."""
    copy = shutil.copytree(FIXTURE, tmp_path / "written")
    # A name that is no record's. It is made here, since tools stumble over a tracked file of that name.
    (copy / "projects" / WIDGET / "specs" / "überblick-notes.md").write_text("no record\n", "utf-8")
    return copy


def snapshot(root: Path) -> dict[str, bytes]:
    """Every record file and view, by path: equal snapshots mean that nothing was written."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.md")) if path.is_file()}
