"""What a start does to a database before anything uses it."""

from server import runtime
from server.settings import Settings
from store import organisations
from store.database import Database


def test_a_database_restored_into_another_cluster_is_made_ready_at_any_start(dsn: str) -> None:
    settings = Settings(database_url=dsn)

    async def leave(db: Database) -> None:
        org = (await organisations.create(db, "Acme")).id
        async with db.write() as writer:
            await writer.execute(
                """INSERT INTO file_changes (org_id, xid, file_id, display_path, event_path, kind, operation, version,
                    actor_kind, actor_id, actor_name, at)
                VALUES ($1, '1000000000000'::xid8, 'f', 'p', 'p', 'NOTE', 'CREATE', 1, 'SYSTEM', 's', 's', now())""",
                org,
            )

    async def settled(db: Database) -> bool:
        async with db.read() as reader:
            found: bool = await reader.value("SELECT max(xid) < pg_snapshot_xmax(pg_current_snapshot()) FROM file_changes")
            return found

    runtime.run(settings, leave)
    assert runtime.run(settings, settled) is True
