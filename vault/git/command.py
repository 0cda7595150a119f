"""Runs git without prompts, hooks, pagers or editors, and never longer than its time-out."""

import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vault.errors import GitFailed

if TYPE_CHECKING:
    import subprocess

TIMEOUT = 30.0  # seconds
_GRACE = 2.0  # seconds in which a terminated git removes its lock files

# Against settings that would run a program, wait for a person, or change what is stored.
_SAFE = (
    *("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "core.quotePath=false", "-c", "core.pager=cat", "-c", "core.autocrlf=false"),
    *("-c", "credential.interactive=false", "-c", "push.gpgSign=false", "-c", "core.editor=true"),
    *("-c", "push.recurseSubmodules=no", "-c", "submodule.recurse=false"),
)
# Variables that would point git at another repository, as in a hook that calls us.
_FOREIGN = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_ATTR_SOURCE"),
)
# LC_ALL: `_reason` looks for git's English words.
_QUIET = {
    "LC_ALL": "C",
    **dict.fromkeys(("GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR"), "true"),
    **dict.fromkeys(("GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"), "0"),
    "GCM_INTERACTIVE": "never",
    "GIT_MERGE_AUTOEDIT": "no",
}
_PASSWORD = re.compile(r"(://)[^\s/@]{1,300}@")


def run_git(args: Sequence[str], cwd: Path, environment: Mapping[str, str], *, stdin: str = "", timeout: float = TIMEOUT) -> str:
    """What git printed. Raises GitFailed with git's own reason, passwords in addresses masked; git's children end too."""
    import subprocess

    command = ["git", *_SAFE, *args]
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, never a shell
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # no terminal to ask on, and one group to end
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror or type(error).__name__}") from error
    with process:
        try:
            # File names need not be UTF-8.
            out, err = process.communicate(stdin.encode("utf-8", "surrogateescape"), timeout)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise GitFailed(f"git {_verb(args)} took longer than {timeout:g} seconds and was stopped") from error
        except BaseException:
            _end(process)
            raise
    if process.returncode != 0:
        raise GitFailed(f"git {_verb(args)} failed: {_reason(err or out)}")
    return out.decode("utf-8", "surrogateescape")


def mask_passwords(text: str) -> str:
    """The text with the user part of every address replaced."""
    return _PASSWORD.sub(r"\1***@", text)


def own_environment(home: Path) -> dict[str, str]:
    """The environment of commands that read no configuration but the repository's: an empty `home` stands for the person's."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))
    }
    ours = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return kept | ours | _QUIET


def person_environment() -> dict[str, str]:
    """The environment of commands that read the person's own configuration."""
    environment = {key: value for key, value in os.environ.items() if key not in _FOREIGN} | _QUIET
    environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    return environment


def _verb(args: Sequence[str]) -> str:
    return next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "")


def _reason(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    useful = [line for line in lines if line and not line.startswith("hint:")]
    said = [line for line in useful if line.startswith(("fatal:", "error:", "! ["))]  # what follows them is advice
    return mask_passwords("; ".join((said or useful)[-3:]))[:500] or "no reason given"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the whole group: first so that git can clean up its lock files, then for good."""
    import subprocess

    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sig)
        except ProcessLookupError:
            return
        try:
            process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            continue
        return
