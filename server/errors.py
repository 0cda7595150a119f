"""What a client is told of an exception, the same at every door."""

from collections.abc import Callable
from uuid import uuid4

from models.errors import MunimentError, Unavailable
from store.database import DatabaseUnavailable
from store.usage import current


class Masked(MunimentError):
    """Something that is not the client's business: it is told an id that the log has too."""

    code = "INTERNAL"
    status = 500


class BadRequest(MunimentError):
    """A header that is malformed, or that names a host that is not this server."""

    code = "UNPROCESSABLE"
    status = 400


def shown(error: BaseException) -> MunimentError | None:
    """The refusal that an exception means to a client; None for what must be masked."""
    if isinstance(error, MunimentError):
        return error
    if isinstance(error, TimeoutError):
        if (usage := current.get()) is not None and usage.has_written:
            return Unavailable("the operation took too long and was ended; what it had written before that stays written")
        return Unavailable("the operation took too long and was cancelled; ask for less at once")
    if isinstance(error, DatabaseUnavailable):
        return Unavailable("the database does not answer; try again")
    return None


def refusal(error: BaseException, log: Callable[[BaseException, str, str | None], None], operation: str | None = None) -> MunimentError:
    """The refusal to show for any exception; a masked one is logged under its id."""
    if (known := shown(error)) is not None:
        return known
    error_id = uuid4().hex
    log(error, error_id, operation)
    return Masked(f"internal error {error_id}; the server's log has it under this id", id=error_id)
