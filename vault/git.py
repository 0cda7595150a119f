"""The vault's own git history: a convenience that never fails a write."""

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from vault.config import GitConfig
from vault.errors import GitFailed
from vault.files import read_plain, write_atomic
from vault.frontmatter import MAX_FILE
from vault.gitcommand import TIMEOUT, mask_passwords, run_git
from vault.scan import SUBDIRS
from vault.secrets import kinds_in

PENDING_FILE = ".memo.git-pending"
GIT_LOCK_FILE = ".memo.git.lock"
_FALLBACK_USER = {"user.name": "memo", "user.email": "memo@localhost"}
_MAX_PENDING = 64 * 1024 * 1024  # bytes
_MOST_LINES = 200  # messages listed in one commit

# Records, configuration and tombstones: nothing else of the folder is ever staged, whatever lies in it.
_STAGED = (
    *(f":(glob)projects/*/{subdir}/*.md" for subdir in SUBDIRS),
    *(":(glob)config.json", ":(glob).gitignore", ":(glob)tombstones*", ":(glob)tombstones/**", ":(glob)projects/*/tombstones*"),
    *(":(exclude,glob)**/.*.md", ":(exclude,glob)**/*.conflict.*", ":(exclude,glob)**/*.sync-conflict-*"),
)
_EXCLUDED = ("memo.sqlite*", ".memo.*", ".catalog.sqlite*", ".tmp-*", "telemetry*", "*.lock", "*.tmp")
_EXCLUDE_MARK = "# memo: rebuilt or private to this machine"


@dataclass(frozen=True, slots=True)
class GitReport:
    """What git did: the new commit's id, whether it was pushed, messages still waiting, and what went wrong."""

    enabled: bool = True
    commit: str | None = None
    pushed: bool = False
    pending: int = 0
    error: str | None = None


class VaultGit:
    """Commits records and configuration of the vault at `root`; nothing here raises for a failing git."""

    def __init__(self, root: Path, config: GitConfig, timeout: float = TIMEOUT) -> None:
        self._root = root
        self._config = config
        self._timeout = timeout  # seconds, of one git command

    def request_commit(self, message: str) -> GitReport:
        """Atomic: commits now. Batched: remembers the message on disk until a flush, of any process."""
        if not self._config.enabled:
            return GitReport(enabled=False)
        try:
            self._remember(message)
        except OSError as error:
            return GitReport(error=f"the commit could not be noted: {error.strerror or type(error).__name__}")
        if self._config.atomic and self._config.auto_commit:
            return self._work(push=False)
        return GitReport(pending=len(self._pending()))

    def flush(self, *, push: bool = True, automatic: bool = False) -> GitReport:
        """Commits what is waiting and pushes if a remote is set. `automatic`: not asked for by the user (autoCommit)."""
        if not self._config.enabled:
            return GitReport(enabled=False)
        if automatic and not self._config.auto_commit:
            return GitReport(pending=len(self._pending()))
        return self._work(push=push)

    def _work(self, *, push: bool) -> GitReport:
        report = GitReport()
        try:
            with FileLock(self._root / GIT_LOCK_FILE, timeout=self._timeout, fallback_to_soft=False):
                self._prepare()
                commit, warning = self._commit()
                report = replace(report, commit=commit, error=warning)
                if push and self._config.remote_url and self._has_commits():
                    report = replace(report, pushed=self._push(self._config.remote_url))
        except GitFailed as error:
            report = replace(report, error="; ".join(filter(None, (report.error, error.message))))
        except Timeout:
            report = replace(report, error="another process is committing; it was not waited for any longer")
        except OSError as error:
            report = replace(report, error=f"git could not be used: {error.strerror or type(error).__name__}")
        return replace(report, pending=len(self._pending()))

    def _git(self, *args: str, stdin: str = "") -> str:
        """Always this vault's own repository, never one that the vault happens to lie in."""
        place = (f"--git-dir={self._root / '.git'}", f"--work-tree={self._root}")
        return run_git([*place, *args], self._root, stdin=stdin, timeout=self._timeout)

    def _prepare(self) -> None:
        if not (self._root / ".git").exists():
            branch = self._config.branch or "main"
            run_git(["init", "--quiet", f"--initial-branch={branch}", "--", str(self._root)], self._root, timeout=self._timeout)
        # The exclude file of a linked worktree is the main repository's.
        folder = self._root / self._git("rev-parse", "--git-common-dir").strip()
        exclude = folder / "info" / "exclude"
        text = exclude.read_text("utf-8") if exclude.exists() else ""
        missing = [line for line in (_EXCLUDE_MARK, *_EXCLUDED) if line not in text.splitlines()]
        if missing:
            exclude.parent.mkdir(exist_ok=True)
            exclude.write_text("\n".join([text.rstrip("\n"), *missing, ""]), "utf-8")

    def _commit(self) -> tuple[str | None, str | None]:
        """The id of the new commit, None if nothing had changed, and what was held back; nothing waits afterwards."""
        # Before the look at the files: what is noted after this waits for the next commit.
        # And the size before the messages: one that is noted between the two is told twice then, not lost.
        size, messages = self._pending_size(), self._pending()
        edited, staged = self._edited(), self._staged()
        held_back = self._with_secrets(edited | staged)
        edited, staged = edited - held_back.keys(), staged - held_back.keys()
        commit = None
        if edited:
            self._git("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_literal(edited))
        if edited | staged:
            names = _literal(edited | staged)
            # Only these paths: what the user staged by hand stays staged.
            only = ("--only", "--pathspec-from-file=-", "--pathspec-file-nul")
            self._git(*self._identity(), "commit", "--quiet", "--no-verify", "-m", _message(messages), *only, stdin=names)
            commit = self._git("rev-parse", "HEAD").strip()
        self._forget(size)
        if held_back:
            listed = ", ".join(f"{path} ({kinds})" for path, kinds in sorted(held_back.items()))
            return commit, f"not committed, as they hold what looks like a secret: {listed}"
        return commit, None

    def _edited(self) -> set[str]:
        listed = self._git("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard", "--", *_STAGED)
        return {*listed.split("\0")} - {""}

    def _staged(self) -> set[str]:
        """What a commit that did not happen left staged."""
        # Of a rename, --name-only would tell the new name alone.
        listed = self._git("diff", "--cached", "--name-only", "--no-renames", "-z", *self._base(), "--", *_STAGED)
        return {*listed.split("\0")} - {""}

    def _with_secrets(self, paths: set[str]) -> dict[str, str]:
        """Files that hold secrets, typed in by hand or left in config.json, with the kinds: history cannot forget them."""
        found = {}
        for path in paths:
            with contextlib.suppress(OSError):  # a deleted file holds nothing
                text = read_plain(self._root / path, MAX_FILE).decode("utf-8", "replace")
                if kinds := sorted(set(kinds_in(text))):
                    found[path] = ", ".join(kinds)
        return found

    def _base(self) -> tuple[str, ...]:
        return ("HEAD",) if self._has_commits() else ()

    def _has_commits(self) -> bool:
        try:
            self._git("rev-parse", "--quiet", "--verify", "HEAD")
        except GitFailed:
            return False
        return True

    def _identity(self) -> list[str]:
        """Settings for whatever the user has not set, so that a commit never fails for it."""
        settings = []
        for key, value in _FALLBACK_USER.items():
            try:
                self._git("config", "--get", key)
            except GitFailed:
                settings += ["-c", f"{key}={value}"]
        return settings

    def _push(self, url: str) -> bool:
        target = self._config.branch or self._git("symbolic-ref", "--short", "HEAD").strip()
        self._git("push", "--quiet", "--no-verify", "--", url, f"HEAD:refs/heads/{target}")
        return True

    def _remember(self, message: str) -> None:
        line = json.dumps(" ".join(mask_passwords(message).split())[:300]) + "\n"
        descriptor = os.open(self._root / PENDING_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(line)

    def _pending(self) -> list[str]:
        try:
            lines = read_plain(self._root / PENDING_FILE, _MAX_PENDING).decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        messages = []
        for line in lines:
            with contextlib.suppress(ValueError):  # a line that a kill cut short
                messages.append(str(json.loads(line)))
        return messages

    def _pending_size(self) -> int:
        try:
            return (self._root / PENDING_FILE).stat().st_size
        except OSError:
            return 0

    def _forget(self, size: int) -> None:
        """Drops the first `size` bytes: what was asked for since then still waits."""
        path = self._root / PENDING_FILE
        try:
            rest = read_plain(path, _MAX_PENDING)[size:]
        except FileNotFoundError:
            return
        if rest:
            write_atomic(self._root, PENDING_FILE, rest)
        else:
            path.unlink(missing_ok=True)


def _literal(paths: set[str]) -> str:
    # --pathspec-from-file reads patterns, where these are names.
    return "\0".join(f":(literal){path}" for path in sorted(paths))


def _message(messages: list[str]) -> str:
    """The one message, or a heading and the list of all."""
    once = list(dict.fromkeys(messages))
    if not once:
        return "sync"
    if len(once) == 1:
        return once[0]
    rest = [f"… and {len(once) - _MOST_LINES} more"] if len(once) > _MOST_LINES else []
    return "\n".join([f"sync: {len(once)} changes", "", *once[:_MOST_LINES], *rest])
