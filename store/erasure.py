"""Removing a whole organisation, with everything that was ever recorded of it."""

from store.backup import LEFT_OUT, TABLES
from store.database import Database


async def erase(db: Database, org_id: str) -> None:
    """Delete every row of the organisation; nothing of it can be brought back."""
    async with db.write() as writer:
        for table in (*LEFT_OUT, *reversed(TABLES)):
            await writer.execute(f"DELETE FROM {table} WHERE org_id = $1", org_id)
