"""The settings that the server is started with."""

from collections.abc import Mapping

from server.postgres.errors import PostgresError

# The socket alone, for its owner alone: trust needs no password because nobody else can reach it.
FIXED = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_directories": ".",
    "unix_socket_permissions": "0700",
}
DEFAULTS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors of statements reach their client; the log is for what happens to the server.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
    "logging_collector": "off",
}


def server_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The defaults with `settings` over them. Raises PostgresError, naming each one that cannot be set."""
    if refused := sorted(FIXED.keys() & settings.keys()):
        raise PostgresError(f"These settings of the embedded PostgreSQL are fixed and cannot be set: {', '.join(refused)}.")
    return {**DEFAULTS, **settings, **FIXED}
