"""The command `memo`. Each verb is loaded when it is called, so that `memo --help` and completion answer at once."""

from vault.cli.app import main

__all__ = ["main"]
