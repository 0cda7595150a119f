"""A PostgreSQL server of our own in a folder, shared by every process that names the same folder."""

from server.postgres.embedded import EmbeddedPostgres
from server.postgres.errors import PostgresError

__all__ = ["EmbeddedPostgres", "PostgresError"]
