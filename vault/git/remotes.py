"""The remotes of a repository, as its own configuration file names them."""

from __future__ import annotations

from pathlib import Path

from vault.errors import GitFailed
from vault.files import read_plain
from vault.git import config_file

_MAX_LINK = 4096  # bytes


def remote_urls(repo: Path) -> dict[str, str]:
    """Return the first address of each remote by name, in order. Raises GitFailed where they cannot be told.

    Git itself is not asked: it may be missing, and it refuses the repository of another user.
    """
    try:
        entries = config_file.read(_common_folder(repo) / "config")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise GitFailed(f"the git configuration of {repo} cannot be read ({_reason(error)})") from error
    urls: dict[str, str] = {}
    for entry in entries:
        if (entry.section, entry.key) == ("remote", "url"):
            urls.setdefault(entry.subsection, entry.value)
    if not urls and any(entry.section in ("include", "includeif") for entry in entries):
        raise GitFailed(f"the git configuration of {repo} names no remote and includes files that are not read")
    return urls


def _common_folder(repo: Path) -> Path:
    """The folder that holds the configuration: `.git`, or where it leads from a linked work tree or a submodule."""
    folder = repo / ".git"
    if folder.is_dir():
        return folder
    line = _line(folder)
    if not line.startswith("gitdir:"):
        raise ValueError(".git is neither a folder nor a link to one")
    folder = repo / line.removeprefix("gitdir:").strip()
    try:
        return folder / _line(folder / "commondir")
    except FileNotFoundError:
        return folder


def _line(path: Path) -> str:
    return read_plain(path, _MAX_LINK, follow=True).decode("utf-8", "surrogateescape").strip()


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
