class PostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the text says why and what to do about it."""
