import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.postgres import EmbeddedPostgres
from server.postgres.processes import server_processes
from tests.server.postgres.helpers import FAST, eventually

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="what root may do can be shown only by root")


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    """A base folder that does not exist yet, and no server in it when the test has ended."""
    folder = tmp_path / "home"
    yield folder
    eventually(lambda: not server_processes(folder / "postgres"))


@pytest.fixture
def pg(base: Path) -> Iterator[EmbeddedPostgres]:
    """A started server of this test alone."""
    with EmbeddedPostgres(base, settings=FAST) as server:
        yield server
