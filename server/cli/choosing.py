"""Which organisation a command is about."""

from models.errors import Unprocessable
from store import organisations
from store.database import Database


async def organisation(db: Database, org_id: str | None) -> str:
    """The id of the organisation that is named, or of the only one. Raises NotFound for an unknown one, Unprocessable without a choice."""
    if org_id is not None:
        await organisations.get(db, org_id)
        return org_id
    found = await organisations.listed(db)
    if not found:
        raise Unprocessable("there is no organisation yet; make one with `muniment org create NAME`")
    if len(found) > 1:
        named = "\n".join(f"  {row.id}  {row.name}" for row in found)
        raise Unprocessable(f"there are several organisations; say which with --org ID\n{named}")
    only: str = found[0].id
    return only
