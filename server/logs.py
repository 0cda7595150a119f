"""Structured logs: one line per request, never content or tokens."""

import logging
import sys
from typing import Any

import structlog

from server.settings import Settings

log: structlog.stdlib.BoundLogger = structlog.get_logger("muniment")


def configure(settings: Settings) -> None:
    """Send every log line, the libraries' too, to stderr in the form that the settings ask for."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([structlog.processors.format_exc_info] if as_json else []),
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    # Their lines repeat ours, or speak of every message of a protocol.
    for noisy in ("uvicorn.access", "watchfiles.main", "mcp.server.lowlevel.server", "alembic.runtime.migration"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def internal_error(error: BaseException, error_id: str, operation: str | None = None) -> None:
    """Log what a client was told only the id of."""
    log.error("internal error", error_id=error_id, operation=operation, exc_info=error)
