"""The vault's config.json."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GitConfig:
    """`vaultGit`: off unless enabled; batched unless atomic."""

    enabled: bool = False
    remote_url: str | None = None
    atomic: bool = False
    auto_commit: bool = True
    branch: str | None = None  # None: whatever the repository is on


@dataclass(frozen=True, slots=True)
class VaultConfig:
    """All settings of a vault; days may be fractions."""

    scratch_days: float = 7.0
    review_days: float = 14.0
    git: GitConfig = field(default_factory=GitConfig)
    project_aliases: Mapping[str, str] = field(default_factory=dict)
    ignore_paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by project


def load(root: Path) -> VaultConfig:
    """The settings of the vault at `root`, defaults without a file. Raises ConfigInvalid listing all problems."""
    raise NotImplementedError
