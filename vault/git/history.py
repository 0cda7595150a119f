"""The vault's own git history: a convenience that never fails a write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from vault.config import GitConfig
from vault.errors import GitFailed, UpsertFailed
from vault.files import read_plain
from vault.frontmatter import MAX_FILE
from vault.git.command import TIMEOUT, mask_passwords, person_environment, run_git
from vault.git.pending import Pending, commit_message
from vault.git.repository import Repository, opened, settings
from vault.scan import SUBDIRS, RecordKey, scan_records
from vault.secrets import kinds_in

GIT_LOCK_FILE = ".memo.git.lock"
_FALLBACK_USER = {"name": "memo", "email": "memo@localhost"}
_ALLOWED = "memo.remote"  # the setting of a person's own git configuration that lists remotes which vaults may name

# Records, configuration and tombstones: nothing else of the folder is ever staged, whatever lies in it.
_STAGED = (
    *(f":(glob)projects/*/{subdir}/*.md" for subdir in SUBDIRS),
    *(":(glob)config.json", ":(glob).gitignore", ":(glob)tombstones*", ":(glob)tombstones/**", ":(glob)projects/*/tombstones*"),
    *(":(exclude,glob)**/.*.md", ":(exclude,glob)**/*.conflict.*", ":(exclude,glob)**/*.sync-conflict-*"),
)


@dataclass(frozen=True, slots=True)
class GitReport:
    """What git did: the new commit's id, whether it was pushed, messages still waiting, and what went wrong."""

    enabled: bool = True
    commit: str | None = None
    pushed: bool = False
    pending: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """Files that are not in the history as they are: `waiting` for a commit, or `ignored` by patterns of the vault's own."""

    waiting: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    error: str | None = None


class VaultGit:
    """Commits records and configuration of the vault at `root`; nothing here raises for a failing git."""

    def __init__(self, root: Path, config: GitConfig, timeout: float = TIMEOUT) -> None:
        self._root = root
        self._config = config
        self._timeout = timeout  # seconds, of one git command
        self._pending = Pending(root)

    def request_commit(self, message: str) -> GitReport:
        """Atomic: commits now. Batched: remembers the message on disk until a flush, of any process."""
        if not self._config.enabled:
            return GitReport(enabled=False)
        try:
            self._pending.add(message)
        except OSError as error:
            return GitReport(error=f"the commit could not be noted: {error.strerror or type(error).__name__}")
        if self._config.atomic and self._config.auto_commit:
            return self._work(push=False)
        return GitReport(pending=len(self._pending.messages()))

    def flush(self, *, push: bool = True, automatic: bool = False) -> GitReport:
        """Commits what is waiting and pushes if a remote is set. `automatic`: not asked for by the user (autoCommit)."""
        if not self._config.enabled or not self._root.is_dir():
            return GitReport(enabled=self._config.enabled)
        if automatic and not self._config.auto_commit:
            return GitReport(pending=len(self._pending.messages()))
        return self._work(push=push)

    def missing(self) -> Missing:
        """Return which files are not in the history; commits nothing."""
        if not (self._root / ".git").exists():
            return Missing(waiting=tuple(_path(key) for key in sorted(scan_records(self._root))))
        try:
            with opened(self._root, self._config.branch, self._timeout) as repository:
                waiting = _edited(repository) | _staged(repository)
                return Missing(tuple(sorted(waiting)), tuple(sorted(_ignored(repository))))
        except (GitFailed, UpsertFailed) as error:
            return Missing(error=error.message)
        except OSError as error:
            return Missing(error=f"git could not be used: {error.strerror or type(error).__name__}")

    def _work(self, *, push: bool) -> GitReport:
        report = GitReport()
        try:
            lock = FileLock(self._root / GIT_LOCK_FILE, timeout=self._timeout, fallback_to_soft=False)
            with lock, opened(self._root, self._config.branch, self._timeout) as repository:
                commit, warning = self._commit(repository)
                report = replace(report, commit=commit, error=warning)
                if push and self._config.remote_url and repository.head():
                    self._check_remote(self._config.remote_url)
                    repository.push(self._config.remote_url, self._config.branch or "")
                    report = replace(report, pushed=True)
        except (GitFailed, UpsertFailed) as error:
            report = replace(report, error="; ".join(filter(None, (report.error, error.message))))
        except Timeout:
            report = replace(report, error="another process is committing; it was not waited for any longer")
        except OSError as error:
            report = replace(report, error=f"git could not be used: {error.strerror or type(error).__name__}")
        return replace(report, pending=len(self._pending.messages()))

    def _commit(self, repository: Repository) -> tuple[str | None, str | None]:
        """The id of the new commit, None if nothing had changed, and what was held back; nothing waits afterwards."""
        # Before the look at the files: what is noted after this waits for the next commit.
        # And the size before the messages: one that is noted between the two is told twice then, not lost.
        size, messages = self._pending.size(), self._pending.messages()
        changed = _edited(repository) | _staged(repository)
        held_back = self._with_secrets(changed)
        commit = self._write_commit(repository, changed - held_back.keys(), commit_message(messages))
        self._pending.drop(size)
        if held_back:
            listed = ", ".join(f"{path} ({kinds})" for path, kinds in sorted(held_back.items()))
            return commit, f"not committed, as they hold what looks like a secret: {listed}"
        return commit, None

    def _write_commit(self, repository: Repository, changed: set[str], message: str) -> str | None:
        """Commit these files as they are now. The index is one of ours, so that what the user staged by hand stays staged."""
        if not changed:
            return None
        names, index, parent = "\0".join(sorted(changed)) + "\0", repository.scratch / "index", repository.head()
        if parent:
            repository.run("read-tree", parent, index=index)
        add = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        repository.run(*add, stdin=names, index=index)
        tree = repository.run("write-tree", index=index).strip()
        commit = None
        if not parent or tree != repository.run("rev-parse", f"{parent}^{{tree}}").strip():
            parents = ("-p", parent) if parent else ()
            commit = repository.run(*self._identity(), "commit-tree", *parents, tree, stdin=f"{message}\n").strip()
            repository.run("update-ref", "-m", "memo", "HEAD", commit, parent or "")
        repository.run(*add, stdin=names)
        return commit

    def _with_secrets(self, paths: Iterable[str]) -> dict[str, str]:
        """Files that hold secrets, typed in by hand or left in config.json, with the kinds: history cannot forget them."""
        found = {}
        for path in paths:
            with contextlib.suppress(OSError):  # a deleted file holds nothing
                text = read_plain(self._root / path, MAX_FILE).decode("utf-8", "replace")
                if kinds := sorted(set(kinds_in(text))):
                    found[path] = ", ".join(kinds)
        return found

    def _identity(self) -> list[str]:
        """The vault's own name of the user, else the person's, else ours, so that a commit never fails for it."""
        own = {entry.key: entry.value for entry in settings(self._root / ".git") if (entry.section, entry.subsection) == ("user", "")}
        user = {**_FALLBACK_USER, **_of_person(r"^user\.(name|email)$"), **own}
        return [argument for key in _FALLBACK_USER for argument in ("-c", f"user.{key}={user[key]}")]

    def _check_remote(self, url: str) -> None:
        """Whoever made the vault may name a remote in it; only the person may say that it is theirs."""
        if self._config.remote_of_vault and url not in _of_person(rf"^{_ALLOWED.replace('.', '[.]')}$", all_values=True):
            shown = mask_passwords(url)
            raise GitFailed(
                f"not pushed: only the vault names the remote {shown}; if it is yours: git config --global --add {_ALLOWED} {shown}"
            )


def _of_person(pattern: str, *, all_values: bool = False) -> dict[str, str]:
    """Settings of the person's own git configuration by the last part of their name, or with `all_values` by value."""
    try:
        output = run_git(("config", "--null", "--get-regexp", pattern), Path("/"), person_environment())  # outside of any repository
    except GitFailed:  # nothing is set
        return {}
    entries = [entry.partition("\n") for entry in output.split("\0") if entry]
    return {value if all_values else name.rpartition(".")[2]: value for name, _, value in entries}


def _edited(repository: Repository) -> set[str]:
    listed = repository.run("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard", "--", *_STAGED)
    return _files(repository, listed)


def _ignored(repository: Repository) -> set[str]:
    return _files(repository, repository.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *_STAGED))


def _staged(repository: Repository) -> set[str]:
    """What a commit that did not happen left staged."""
    parent = repository.head()
    if parent is None:
        return _files(repository, repository.run("ls-files", "-z", "--cached", "--", *_STAGED))
    listed = repository.run("diff-index", "--cached", "--name-only", "--no-renames", "-z", parent, "--", *_STAGED)
    return _files(repository, listed)


def _files(repository: Repository, listed: str) -> set[str]:
    """The names that are no folders: a folder that git takes for a submodule would be looked into."""
    return {name for name in listed.split("\0") if name and not os.path.isdir(repository.root / name)}  # noqa: PTH112  names need not be UTF-8


def _path(key: RecordKey) -> str:
    return f"projects/{key.project}/{key.subdir}/{key.slug}.md"
