"""How a command tells what went wrong."""

import contextlib
import sys
from collections.abc import Iterator

from models.errors import MunimentError
from server.listening import CannotListen
from server.migrate import MigrationError
from server.postgres import PostgresError
from server.runtime import OldSchema
from server.settings import SettingsError
from store.database import DatabaseUnavailable

# Faults of what the command was given or found; their messages are written for whoever runs it.
_TOLD = (CannotListen, DatabaseUnavailable, MigrationError, OldSchema, PostgresError, SettingsError)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Print a refusal to stderr and exit with 1; anything else is a fault of ours and shows its traceback."""
    try:
        yield
    except MunimentError as error:
        _fail(error.message)
    except _TOLD as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; what is left unsaid need not be said.
        _say_no_more()
        sys.exit(141)
    except OSError as error:
        # A full disk, a file that may not be read: what the machine refuses is nothing that a traceback would explain.
        _say_no_more()
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))


def _say_no_more() -> None:
    """Let what stdout still holds go, so that the interpreter does not try, and complain, once more at its exit."""
    sys.stdout = open("/dev/null", "w", encoding="utf-8")  # noqa: SIM115, PTH123  # it lives as long as the process


def _fail(message: str) -> None:
    print(f"muniment: {message}", file=sys.stderr)  # noqa: T201  # this is the command line
    sys.exit(1)
