"""The vault's config.json."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vault.errors import ConfigInvalid
from vault.files import read_plain
from vault.scan import is_project_id

CONFIG_FILE = "config.json"
MAX_CONFIG = 1024 * 1024  # bytes, of every settings file
_MOST_DAYS = 36_500.0


@dataclass(frozen=True, slots=True)
class GitConfig:
    """`vaultGit`: off unless enabled; batched unless atomic."""

    enabled: bool = False
    remote_url: str | None = None
    atomic: bool = False
    auto_commit: bool = True
    branch: str | None = None  # None: whatever the repository is on
    # Whether the vault's own file names the remote, so that the person must have allowed it.
    remote_of_vault: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class VaultConfig:
    """All settings of a vault; days may be fractions."""

    scratch_days: float = 7.0
    review_days: float = 14.0
    git: GitConfig = field(default_factory=GitConfig)
    project_aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ignore_paths: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))  # by project


def load(root: Path) -> VaultConfig:
    """The settings of the vault at `root`, defaults without a file. Raises ConfigInvalid listing all problems."""
    try:
        text = read_plain(root / CONFIG_FILE, MAX_CONFIG, follow=True).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return VaultConfig()
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{CONFIG_FILE} is not UTF-8") from error
    except OSError as error:
        raise ConfigInvalid(f"{CONFIG_FILE} cannot be read: {error.strerror}") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigInvalid(f"{CONFIG_FILE} is not JSON{where}") from error
    reader = _Reader()
    config = _read(reader, data)
    if reader.problems:
        raise ConfigInvalid(reader.problems)
    return config


def _read(reader: "_Reader", data: object) -> VaultConfig:
    """Unknown settings are left alone: the file may be shared with other tools."""
    if not isinstance(data, dict):
        reader.problems.append(f"{CONFIG_FILE}: must be an object")
        return VaultConfig()
    ttl, git = reader.section(data, "ttl"), reader.section(data, "vaultGit")
    return VaultConfig(
        scratch_days=reader.days(ttl, "ttl", "scratchDays", 7.0),
        review_days=reader.days(ttl, "ttl", "reviewDays", 14.0),
        git=GitConfig(
            enabled=reader.flag(git, "enabled", default=False),
            remote_url=reader.text(git, "remoteUrl"),
            remote_of_vault=True,
            atomic=reader.flag(git, "atomic", default=False),
            auto_commit=reader.flag(git, "autoCommit", default=True),
            branch=reader.text(git, "branch"),
        ),
        project_aliases=MappingProxyType(reader.aliases(data)),
        ignore_paths=MappingProxyType(reader.ignore_paths(data)),
    )


class _Reader:
    """Reads one setting at a time and collects what is wrong with all of them."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def section(self, data: dict[str, Any], name: str) -> dict[str, Any]:
        value = data.get(name)
        if value is None or isinstance(value, dict):
            return value or {}
        self.problems.append(f"{name}: must be an object")
        return {}

    def days(self, section: dict[str, Any], name: str, key: str, default: float) -> float:
        value = section.get(key)
        if value is None:
            return default
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and 0 < value <= _MOST_DAYS:
            return float(value)
        self.problems.append(f"{name}.{key}: must be a number of days above 0 and at most {_MOST_DAYS:.0f}")
        return default

    def flag(self, section: dict[str, Any], key: str, *, default: bool) -> bool:
        value = section.get(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self.problems.append(f"vaultGit.{key}: must be true or false")
        return default

    def text(self, section: dict[str, Any], key: str) -> str | None:
        value = section.get(key)
        if value is None or value == "":
            return None
        # A leading dash would be an option to git.
        if isinstance(value, str) and value.isprintable() and not value.startswith("-"):
            return value
        self.problems.append(f"vaultGit.{key}: must be a text of one line that does not start with a dash")
        return None

    def aliases(self, data: dict[str, Any]) -> dict[str, str]:
        found = {}
        for number, (derived, used) in enumerate(self.section(data, "projectAliases").items(), start=1):
            if isinstance(used, str) and is_project_id(used):
                found[derived] = used
            else:
                self.problems.append(f"projectAliases, entry {number}: must name a project id (letters, digits, dots, dashes, underscores)")
        return found

    def ignore_paths(self, data: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        found = {}
        for number, (project, settings) in enumerate(self.section(data, "projects").items(), start=1):
            if not isinstance(settings, dict):
                self.problems.append(f"projects, entry {number}: must be an object")
                continue
            paths = settings.get("ignorePaths") or []
            if isinstance(paths, list) and all(isinstance(path, str) for path in paths):
                found[project] = tuple(paths)
            else:
                self.problems.append(f"projects, entry {number}: ignorePaths must be a list of texts")
        return found
