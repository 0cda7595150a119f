"""How a command tells what went wrong."""

import contextlib
import sys
from collections.abc import Iterator

from models.errors import MunimentError
from server.postgres import PostgresError
from server.runtime import OldSchema
from server.settings import SettingsError
from store.database import DatabaseUnavailable


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Print a refusal to stderr and exit with 1; anything else is a fault of ours and shows its traceback."""
    try:
        yield
    except MunimentError as error:
        _fail(error.message)
    except (SettingsError, OldSchema, PostgresError, DatabaseUnavailable) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; what is left unsaid need not be said, nor complained of at exit.
        sys.stdout = open("/dev/null", "w", encoding="utf-8")  # noqa: SIM115, PTH123  # it lives as long as the process
        sys.exit(141)


def _fail(message: str) -> None:
    print(f"muniment: {message}", file=sys.stderr)  # noqa: T201  # this is the command line
    sys.exit(1)
