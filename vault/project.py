"""Which vault and which project a command is about."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from vault.config import MAX_CONFIG, VaultConfig
from vault.errors import ConfigInvalid, GitFailed, PathRefused
from vault.files import read_plain
from vault.git.remotes import remote_urls
from vault.scan import LONGEST_PROJECT_ID, is_project_id

MARKER = ".spec-memo.json"
_DIGEST = 8
_LOCAL_NAME = 100


def vault_root(option: str | Path | None, environ: Mapping[str, str]) -> Path:
    """The vault's folder, absolute: the option, else SPEC_MEMO_ROOT, else ~/.spec-memo."""
    chosen = option or environ.get("SPEC_MEMO_ROOT") or "~/.spec-memo"
    try:
        return Path(os.path.realpath(Path(chosen).expanduser()))
    except (ValueError, RuntimeError) as error:
        raise PathRefused("the vault root is no usable path") from error


def project_id(cwd: Path, root: Path, config: VaultConfig) -> str:
    """The id of the project that `cwd` belongs to. Raises ConfigInvalid for a broken .spec-memo.json, GitFailed for unknown remotes."""
    here = Path(os.path.realpath(cwd))
    inside = _inside_vault(here, Path(os.path.realpath(root)))
    if inside is not None:
        return inside
    marked = _marked(here)
    if marked is not None:
        return marked
    repo = repository(here)
    derived = (_from_remotes(repo) if repo else None) or _local(repo or here)
    return config.project_aliases.get(derived, derived)


def check_project_id(value: str) -> str:
    """The id itself. Raises PathRefused unless it is one plain path segment of at most 200 characters."""
    if not is_project_id(value):
        raise PathRefused(
            f"the project id must be 1 to {LONGEST_PROJECT_ID} letters, digits, dots, dashes or underscores and not start with a dot"
        )
    return value


def repository(cwd: Path) -> Path | None:
    """The root of the git work tree that holds `cwd`, or None. Found by its .git entry, so that git need not be there."""
    here = Path(os.path.realpath(cwd))
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)


def _inside_vault(here: Path, root: Path) -> str | None:
    projects = root / "projects"
    if not here.is_relative_to(projects) or here == projects:
        return None
    return check_project_id(here.relative_to(projects).parts[0])


def _marked(here: Path) -> str | None:
    """What the nearest marker up the tree says."""
    marker = next((folder / MARKER for folder in (here, *here.parents) if (folder / MARKER).is_file()), None)
    if marker is None:
        return None
    try:
        data = json.loads(read_plain(marker, MAX_CONFIG, follow=True).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigInvalid(f"{marker}: cannot be read as JSON") from error
    value = data.get("projectId") if isinstance(data, dict) else None
    if not isinstance(value, str) or not is_project_id(value):
        raise ConfigInvalid(f"{marker}: projectId must be a project id (letters, digits, dots, dashes, underscores)")
    return value


def _from_remotes(repo: Path) -> str | None:
    try:
        remotes = remote_urls(repo)
    except GitFailed as error:  # a guess would file records where the project's others are not
        raise GitFailed(f"{error.message}, so the project is unknown; name it with --project-id or in {MARKER}") from None
    for name in ("origin", "upstream", *remotes):
        if slug := remote_slug(remotes.get(name, "")):
            return slug
    return None


def remote_slug(url: str) -> str:
    """`git@github.com:acme/widget.git` → `github.com-acme-widget`; empty if nothing usable is in it."""
    text = re.sub(r"^[a-z][a-z0-9+.-]*://", "", url.strip().lower())
    host, slash, path = text.partition("/")
    text = host.rpartition("@")[2] + slash + path  # whatever stands before the host is credentials
    text = text.rstrip("/").removesuffix(".git")
    text = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", text))
    return text.strip("-.")[:LONGEST_PROJECT_ID]


def _local(folder: Path) -> str:
    digest = hashlib.sha256(str(folder).lower().encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST]
    name = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", folder.name.lower())).strip("-")[:_LOCAL_NAME]
    return f"local-{name or 'root'}-{digest}"
