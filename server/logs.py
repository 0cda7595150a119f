"""Structured logs: one line per request, never content or tokens."""

import json
import logging
import sys
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any, TextIO

import asyncpg
import orjson
import structlog

from server.settings import Settings

# The class of SQLSTATEs whose messages quote values.
_DATA_EXCEPTION = "22"

log: structlog.stdlib.BoundLogger = structlog.get_logger("muniment")
_logger = logging.getLogger("muniment")
_as_json = False
_DELETE = "\x7f"
_LINE = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at that moment, since it may be replaced while the process runs."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, _stream: TextIO) -> None:
        """Nothing is kept."""


def configure(settings: Settings) -> None:
    """Send every log line, the libraries' too, to stderr in the form that the settings ask for."""
    global _as_json  # noqa: PLW0603  # logging is the process's, and so is its form
    _as_json = as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer(serializer=_json)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_write_traceback)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([structlog.processors.format_exc_info] if as_json else [_printable]),
            renderer,
        ],
    )
    handler = _Stderr()
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    # Their lines repeat ours, or speak of every message of a protocol.
    for noisy in (
        "uvicorn.access",
        "watchfiles.main",
        "mcp.server.lowlevel.server",
        "alembic.runtime.migration",
        "alembic.runtime.plugins",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _json(entry: Any, **options: Any) -> str:
    # JSON escapes all control characters but this one.
    return json.dumps(entry, **options).replace(_DELETE, "\\u007f")


def _printable(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape what would speak to a terminal, or begin a line of its own, in whatever a request could bring into the log."""
    return {key: value if key in {"exc_info", "level"} or not isinstance(value, str) else _escaped(value) for key, value in entry.items()}


def _escaped(text: str, but: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in but else letter.encode("unicode_escape").decode("ascii") for letter in text)


def _write_traceback(stream: TextIO, exc_info: Any) -> None:
    """Write a traceback without the values of variables, among which are contents and tokens."""
    stream.write("\n" + _escaped("".join(traceback.format_exception(*exc_info)), but="\n\t").rstrip("\n"))


def of_request(event: str, facts: dict[str, Any]) -> None:
    """Log at level info what `log.info(event, **facts)` would, in JSON by a shorter way: there is such a line for every request."""
    if not _as_json:
        log.info(event, **facts)
    elif _logger.isEnabledFor(logging.INFO):
        line = orjson.dumps(facts | {"event": event, "level": "info", "timestamp": datetime.now(UTC)}, option=_LINE).decode()
        if line.isascii() and _DELETE not in line:
            sys.stderr.write(line)
            sys.stderr.flush()
        else:
            log.info(event, **facts)  # which escapes it, as terminals and logs of any encoding need


def internal_error(error: BaseException, error_id: str, operation: str | None = None) -> None:
    """Log what a client was told only the id of."""
    _forget_values(error)
    log.error("internal error", error_id=error_id, operation=operation, exc_info=error)


def _forget_values(error: BaseException) -> None:
    """Take out what PostgreSQL quotes of the row, or of the value, that a statement failed on."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, asyncpg.PostgresError):
            cause.detail = None
            if (cause.sqlstate or "").startswith(_DATA_EXCEPTION):
                cause.args = (f"data exception {cause.sqlstate}",)
        cause = cause.__cause__ or cause.__context__
