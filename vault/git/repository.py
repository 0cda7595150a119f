"""A vault's repository under a configuration of ours: nothing that lies in the vault decides what git runs.

Git reads `config` from the common folder of a repository. `GIT_COMMON_DIR` is therefore a folder of ours, outside of the
vault, that holds our configuration and links to the vault's objects and refs. Filters, hooks, fsmonitor, credential
helpers, aliases and addresses in the vault's own `.git/config` are not read at all; commands that commit are plumbing, which
runs no hook and looks into no submodule. The person's own configuration is read for a push and for a name alone.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vault.errors import GitFailed
from vault.files import read_plain, write_atomic
from vault.git import config_file
from vault.git.command import own_environment, person_environment, run_git

_EXCLUDED = ("memo.sqlite*", ".memo.*", ".catalog.sqlite*", ".tmp-*", "telemetry*", "*.lock", "*.tmp")
_EXCLUDE_MARK = "# memo: rebuilt or private to this machine"
_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_LINKED = ("objects", "refs", "logs", "packed-refs", "reftable", "shallow")
# What changes how a repository is stored, and the values that mean no program.
_FORMATS = {"objectformat": ("sha1", "sha256"), "refstorage": ("files", "reftable")}
_MAX_EXCLUDE = 1024 * 1024  # bytes


class Repository:
    """The repository of one vault, ready for commands."""

    def __init__(self, root: Path, common: Path, timeout: float) -> None:
        self.root, self.scratch = root, common
        self._timeout = timeout
        self._place = {"GIT_DIR": str(root / ".git"), "GIT_COMMON_DIR": str(common), "GIT_WORK_TREE": str(root)}

    def run(self, *args: str, stdin: str = "", index: Path | None = None) -> str:
        """Return what git printed, under our configuration alone. Raises GitFailed."""
        place = self._place if index is None else {**self._place, "GIT_INDEX_FILE": str(index)}
        return run_git(args, self.root, own_environment(self.scratch) | place, stdin=stdin, timeout=self._timeout)

    def push(self, url: str, branch: str) -> None:
        """Push the current commit, with the credentials and programs that the person has set. Raises GitFailed."""
        target = branch or self.run("symbolic-ref", "--short", "HEAD").strip()
        args = ("push", "--quiet", "--no-verify", "--", url, f"HEAD:refs/heads/{target}")
        run_git(args, self.root, person_environment() | self._place, timeout=self._timeout)

    def head(self) -> str | None:
        """Return the id of the current commit, None before the first one."""
        try:
            return self.run("rev-parse", "--quiet", "--verify", "HEAD").strip()
        except GitFailed:
            return None


@contextlib.contextmanager
def opened(root: Path, branch: str | None, timeout: float) -> Iterator[Repository]:
    """Yield the vault's repository, made if it is missing. Raises GitFailed for one that is not its own or in the middle of a merge."""
    git = root / ".git"
    with tempfile.TemporaryDirectory(prefix="memo-git-", ignore_cleanup_errors=True) as scratch:
        common = Path(scratch) / "common"
        common.mkdir()
        if not os.path.lexists(git):
            args = ("init", "--quiet", "--template=", f"--initial-branch={branch or 'main'}", "--", str(root))
            run_git(args, root, own_environment(common), timeout=timeout)
        _check(git)
        exclude = _exclude(git)
        (common / "config").write_text(_config(git), "utf-8")
        (common / "info").mkdir()
        (common / "info" / "exclude").write_text(exclude, "utf-8", "surrogateescape")
        (git / "logs").mkdir(exist_ok=True)
        for name in _LINKED:
            if (git / name).exists():
                (common / name).symlink_to(git / name)
        repository = Repository(root, common, timeout)
        repository.run("rev-parse", "--git-dir")  # says what is wrong with a broken one
        yield repository


def _check(git: Path) -> None:
    if git.is_symlink() or not git.is_dir():
        raise GitFailed("the vault's .git is no folder of its own; a history in another place is not written")
    for folder in (git, git / "objects", *_below(git / "refs"), *_below(git / "logs")):
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            if link := next((entry.name for entry in entries if entry.is_symlink() and entry.name != "hooks"), None):
                raise GitFailed(f"{(folder / link).relative_to(git.parent)} is a symbolic link; nothing is written through it")
    if unfinished := next((name for name in _UNFINISHED if (git / name).exists()), None):
        raise GitFailed(f"the vault's repository is in the middle of a merge or rebase ({unfinished}); finish it first")


def _below(folder: Path) -> list[Path]:
    return [Path(place) for place, _, _ in os.walk(folder)]  # links to folders are not followed


def _config(git: Path) -> str:
    formats = {entry.key: entry.value.lower() for entry in settings(git) if entry.section == "extensions"}
    chosen = {key: formats[key] for key, values in _FORMATS.items() if formats.get(key) in values}
    lines = [
        "[core]",
        f"\trepositoryformatversion = {int(bool(chosen))}",
        "\tbare = false",
        "\tfilemode = false",
        "\tlogallrefupdates = true",
    ]
    return "\n".join([*lines, "[extensions]", *(f"\t{key} = {value}" for key, value in chosen.items()), ""])


def settings(git: Path) -> list[config_file.Entry]:
    """Return what the vault's own configuration says; empty for one that cannot be read."""
    try:
        return config_file.read(git / "config")
    except (OSError, ValueError):
        return []


def _exclude(git: Path) -> str:
    """Return the vault's own exclude patterns, with those of files that are rebuilt; people who use git by hand want them too."""
    folder = git / "info"
    try:
        text = read_plain(folder / "exclude", _MAX_EXCLUDE).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise GitFailed(f".git/info/exclude cannot be read: {error.strerror}") from error
    missing = [line for line in (_EXCLUDE_MARK, *_EXCLUDED) if line not in text.splitlines()]
    if missing:
        text = "\n".join([*([text.rstrip("\n")] if text else []), *missing, ""])
        folder.mkdir(exist_ok=True)
        write_atomic(folder, "exclude", text.encode("utf-8", "surrogateescape"))
    return text
