"""Which vault and which project a command is about."""

from collections.abc import Mapping
from pathlib import Path

from vault.config import VaultConfig


def vault_root(option: str | Path | None, environ: Mapping[str, str]) -> Path:
    """The vault's folder, absolute: the option, else SPEC_MEMO_ROOT, else ~/.spec-memo."""
    raise NotImplementedError


def project_id(cwd: Path, root: Path, config: VaultConfig) -> str:
    """The id of the project that `cwd` belongs to. Raises ConfigInvalid for a broken .spec-memo.json."""
    raise NotImplementedError


def check_project_id(value: str) -> str:
    """The id itself. Raises PathRefused unless it is one plain path segment of at most 200 characters."""
    raise NotImplementedError


def repository(cwd: Path) -> Path | None:
    """The root of the git work tree that holds `cwd`, or None."""
    raise NotImplementedError
