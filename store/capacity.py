"""The cap on the live artifacts of one owner: its notes, and an agent's memory and scripts; records do not count."""

from models.errors import LimitExceeded
from models.limits import ARTIFACTS_PER_OWNER
from store.database import Writer

# So far below the cap a statement that only counts what is committed may go ahead: fewer writers than this run at once.
MARGIN = 200
FAST_LIMIT = ARTIFACTS_PER_OWNER - MARGIN


def count(owner: str) -> str:
    """How many the owner has, counted no further than the cap; needs the organisation as $1."""
    return f"""(SELECT count(*) FROM (SELECT 1 FROM artifacts n WHERE n.org_id = $1 AND n.owner_id = {owner}
        AND n.kind <> 'OBJECT' AND n.deleted_at IS NULL LIMIT {ARTIFACTS_PER_OWNER}) counted)"""


_COUNT = f"SELECT {count('$2')}"


async def claim(writer: Writer, org_id: str, owner_id: str) -> None:
    """Make room for one more artifact of the owner in this transaction. Raises LimitExceeded at the cap."""
    # A lock of its own, in a statement before the count, so that two writers cannot both take the last place.
    await writer.execute("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))", org_id, owner_id)
    if await writer.value(_COUNT, org_id, owner_id) >= ARTIFACTS_PER_OWNER:
        raise LimitExceeded(f"this owner has {ARTIFACTS_PER_OWNER:,} artifacts, which is the limit; delete some before adding another")
