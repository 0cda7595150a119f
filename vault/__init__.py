"""Durable project memory as Markdown files: `Vault(root)` is the store, `memo` its command, `memo mcp` its door for agents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault.api import Vault
    from vault.errors import VaultError
    from vault.record import Record

__all__ = ["Record", "Vault", "VaultError"]


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: `memo --help` and shell completion need none of them."""
    if name == "Vault":
        from vault.api import Vault

        return Vault
    if name == "VaultError":
        from vault.errors import VaultError

        return VaultError
    if name == "Record":
        from vault.record import Record

        return Record
    raise AttributeError(f"module 'vault' has no attribute {name!r}")
