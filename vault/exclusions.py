"""Which paths of a repository are never captured in a record."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self


class Exclusions:
    """Built-in patterns, then the repository's .spec-memo-ignore, then the vault's configuration; the last match wins."""

    @classmethod
    def load(cls, repo: Path | None, config_patterns: Sequence[str]) -> Self:
        """The exclusions of a repository. Raises ConfigInvalid, listing each pattern that is no gitignore pattern."""
        raise NotImplementedError

    def ignored(self, path: str) -> bool:
        """True if the path or pattern is excluded, or lies outside the repository."""
        raise NotImplementedError

    def sanitise(self, paths: Sequence[str], field: str) -> list[str]:
        """The paths that are not ignored, relative, in order, once. Raises PathRefused naming `field` if none is left."""
        raise NotImplementedError
