"""Durable project memory as Markdown files: `Vault(root)` is the store, `memo` its command, `memo mcp` its door for agents."""

from vault.api import Vault
from vault.errors import VaultError
from vault.record import Record

__all__ = ["Record", "Vault", "VaultError"]
