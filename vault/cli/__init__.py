"""The command `memo`. Each verb imports what it needs, so that `memo --help` and completion answer at once."""

from vault.cli.app import main

__all__ = ["main"]
