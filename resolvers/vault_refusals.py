"""What a refusal of the vault is called at our doors."""

from pathlib import Path

from models.errors import Conflict, MunimentError, NotFound, Problem, Unprocessable
from vault import VaultError
from vault.errors import AmbiguousId, InvalidArguments, LockTimeout, RecordNotFound, SlugTaken, UnreadableRecord

_ARGUMENTS = frozenset(
    {"project", "kind", "body", "slug", "id", "frontmatter", "event", "details", "query", "kinds", "limit", "name", "status"}
)


class VaultUnavailable(MunimentError):
    """Somebody else holds the vault, or its files cannot be read or written now."""

    code = "UNAVAILABLE"
    status = 503


def refusal(error: VaultError, root: Path) -> MunimentError:
    """Our error for one of the vault. The vault's texts hold no secrets; the folder that it stands in is taken out too."""
    message = error.message.replace(f"{root}/", "")
    match error:
        case RecordNotFound():
            return NotFound(message)
        case AmbiguousId() | SlugTaken() | UnreadableRecord():
            return Conflict(message)
        case InvalidArguments():
            return Unprocessable.listing("vault request rejected", [_problem(text) for text in error.problems])
        case LockTimeout():
            return VaultUnavailable(f"{message}; try again")
    return VaultUnavailable(message)


def _problem(text: str) -> Problem:
    """The vault's texts begin with the argument's name, where they are about one."""
    name, _, rest = text.partition(" ")
    return Problem(name, rest) if name in _ARGUMENTS and rest else Problem(None, text)
