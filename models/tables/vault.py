from datetime import datetime

from sqlmodel import Field, SQLModel

from models.tables.columns import digest, moment


class VaultFile(SQLModel, table=True):
    """A file of a mounted Markdown vault as the trail last saw it. `digest` is the SHA-256 of its bytes, NULL once it is gone.

    A row outlives its file, so that the versions of a path go on.
    """

    __tablename__ = "vault_files"

    org_id: str = Field(primary_key=True)
    display_path: str = Field(primary_key=True)
    digest: bytes | None = digest(nullable=True)
    version: int
    updated_at: datetime = moment()
    updated_by_kind: str
    updated_by_id: str
    updated_by_name: str
