"""Which vault, project and repository a call is about, from what the caller gave and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vault.api import Vault
from vault.errors import InvalidArguments
from vault.project import check_project_id, project_id, repository, vault_root


@dataclass(frozen=True, slots=True)
class Place:
    """`guessed`: the project was found from the folder, so a look into sibling projects is in order."""

    project: str
    repo: Path | None
    guessed: bool


def open_vault(root: Path | str | None, environ: Mapping[str, str]) -> Vault:
    """Return the vault of the option, of SPEC_MEMO_ROOT or at home. Raises ConfigInvalid; touches nothing."""
    return Vault(vault_root(root, environ))


def locate(vault: Vault, cwd: Path, project: str | None) -> Place:
    """Return the place. Raises InvalidArguments for a folder that does not exist, PathRefused for a bad project id."""
    folder = cwd.expanduser()
    if not folder.is_dir():
        raise InvalidArguments("cwd must be an existing folder")
    chosen = project_id(folder, vault.root, vault.config) if project is None else check_project_id(project)
    # Inside the vault there is no product whose paths could be meant.
    repo = None if folder.resolve().is_relative_to(vault.root) else repository(folder)
    return Place(chosen, repo, project is None)
