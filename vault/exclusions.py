"""Which paths of a repository are never captured in a record."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Self

from pathspec import PathSpec
from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

from vault.config import MAX_CONFIG
from vault.errors import ConfigInvalid, PathRefused
from vault.files import read_plain

IGNORE_FILE = ".spec-memo-ignore"

BUILT_IN = (
    *(".git/", "node_modules/", "dist/", "build/", ".venv/", ".env", ".env.*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.zip", "*.tar", "*.gz", "*.tgz", "*.bz2", "*.xz", "*.zst", "*.7z", "*.rar", "*.jar", "*.whl"),
    *("*.exe", "*.dll", "*.so", "*.dylib", "*.bin", "*.o", "*.a", "*.class", "*.pyc", "*.wasm"),
    *("*.db", "*.sqlite", "*.sqlite3", "*.mdb", "*.db-wal", "*.sqlite-wal", "*.sqlite-shm"),
)


class Exclusions:
    """Built-in patterns, then the repository's .spec-memo-ignore, then the vault's configuration; the last match wins."""

    def __init__(self, repo: Path | None, spec: "PathSpec[GitIgnoreBasicPattern]") -> None:
        self._repo = None if repo is None else Path(os.path.realpath(repo))
        self._spec = spec

    @classmethod
    def load(cls, repo: Path | None, config_patterns: Sequence[str]) -> Self:
        """The exclusions of a repository. Raises ConfigInvalid, listing each pattern that is no gitignore pattern."""
        problems: list[str] = []
        patterns = [GitIgnoreBasicPattern(line) for line in BUILT_IN]
        patterns += _compile(_ignore_file(repo), IGNORE_FILE, problems)
        patterns += _compile(config_patterns, "ignorePaths", problems)
        if problems:
            raise ConfigInvalid(problems)
        return cls(repo, PathSpec(patterns, backend="simple"))

    def sanitise(self, paths: Sequence[str], field: str) -> list[str]:
        """The paths that are not ignored, relative, in order, once. Raises PathRefused naming `field` if none is left."""
        relatives = [self.relative(path) for path in paths]
        kept = dict.fromkeys(path for path in relatives if path is not None and not self._excluded(path))
        if paths and not kept:
            raise PathRefused(f"{field}: every path is excluded from capture or lies outside the repository")
        return list(kept)

    def relative(self, path: str) -> str | None:
        """The path as seen from the repository, with forward slashes; None if it is empty or leaves the repository."""
        text = path.strip().replace("\\", "/")
        if not text or "\0" in text or text.startswith("~") or text[1:2] == ":":
            return None
        if text.startswith("/"):
            inside = self._inside(text)
            if inside is None:
                return None
            text = inside
        folder = "/" if text.endswith("/") else ""
        parts: list[str] = []
        for part in PurePosixPath(text).parts:
            if part != "..":
                parts.append(part)
            elif parts:
                parts.pop()
            else:
                return None
        return "/".join(parts) + folder if parts else None

    def _inside(self, absolute: str) -> str | None:
        if self._repo is None:
            return None
        normal = Path(os.path.normpath(absolute))
        # The parent is resolved, so that a repository reached over a symbolic link is still the same.
        for candidate in (normal, Path(os.path.realpath(normal))):
            if candidate.is_relative_to(self._repo):
                return candidate.relative_to(self._repo).as_posix() + ("/" if absolute.endswith("/") else "")
        return None

    def _excluded(self, relative: str) -> bool:
        """`dist/` excludes the folder itself too, which may be given without its slash."""
        as_file = self._spec.check_file(relative)
        if relative.endswith("/"):
            return as_file.include is True
        as_folder = self._spec.check_file(relative + "/")
        last = max((as_file, as_folder), key=lambda result: -1 if result.index is None else result.index)
        return last.include is True


def _ignore_file(repo: Path | None) -> list[str]:
    if repo is None:
        return []
    try:
        return read_plain(repo / IGNORE_FILE, MAX_CONFIG, follow=True).decode("utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{IGNORE_FILE} cannot be read: {type(error).__name__}") from error


def _compile(lines: Iterable[str], source: str, problems: list[str]) -> list[GitIgnoreBasicPattern]:
    patterns = []
    for number, line in enumerate(lines, start=1):
        try:
            patterns.append(GitIgnoreBasicPattern(line))
        except ValueError:
            problems.append(f"{source}, pattern {number}: not a gitignore pattern")
    return patterns
