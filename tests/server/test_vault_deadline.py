"""A deadline on a write of the vault: what is told to be cancelled is not applied, and what is applied is told."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from resolvers.mount import Mount
from store.database import Database
from store.usage import Usage, current
from tests.world import World
from vault import Vault
from vault.lock import VaultLock


@pytest.fixture
async def mount(tmp_path: Path, db: Database, world: World) -> AsyncIterator[Mount]:
    mounted = Mount(tmp_path / "vault", db, world.org)
    yield mounted
    mounted.vault.close()


def upsert(slug: str, body: str = "text", linger: float = 0.0) -> Callable[[Vault], Any]:
    def call(vault: Vault) -> Any:
        answer = vault.upsert("p", "spec", body, slug=slug)
        time.sleep(linger)
        return answer

    return call


async def written_by(mount: Mount, world: World, seconds: float, call: Callable[[Vault], Any]) -> Any:
    usage = Usage(world.org, world.operator.id, 1_000_000)
    current.set(usage)
    async with asyncio.timeout(seconds) as deadline:
        usage.end_by(deadline)
        return await mount.write(world.operator, call)


async def changes(db: Database) -> list[str]:
    async with db.read() as reader:
        return [row.display_path for row in await reader.rows("SELECT display_path FROM file_changes ORDER BY 1")]


async def test_a_write_that_is_told_to_be_cancelled_is_not_applied(mount: Mount, db: Database, world: World) -> None:
    with VaultLock(mount.vault.root):  # whoever waits for the lock, and whoever waits for that one, has written nothing yet
        late = [asyncio.create_task(written_by(mount, world, 0.2, upsert(slug))) for slug in ("late", "beside")]
        for outcome in await asyncio.gather(*late, return_exceptions=True):
            assert isinstance(outcome, TimeoutError)
    assert (await written_by(mount, world, 30, upsert("after"))).record.slug == "after"
    await asyncio.get_running_loop().shutdown_default_executor()  # every thread has had its turn
    assert sorted(path.name for path in mount.vault.root.glob("projects/p/specs/*.md")) == ["after.md"]
    assert await changes(db) == ["vault/p/specs/after.md"]


async def test_a_write_that_has_begun_is_answered(mount: Mount, db: Database, world: World) -> None:
    result = await written_by(mount, world, 0.3, upsert("slow", linger=0.8))
    assert result.created is True
    assert await changes(db) == ["vault/p/specs/slow.md"]
