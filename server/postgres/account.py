"""PostgreSQL refuses to run as root: the account that it runs as instead."""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from server.postgres.errors import PostgresError

SERVICE = "muniment"
STAND_INS = ("postgres", "_postgres")  # accounts of the same trade, where none can be made (macOS has _postgres)


@dataclass(frozen=True)
class Account:
    """A system account by its numbers."""

    uid: int
    gid: int


def account_for(owned: Path) -> Account | None:
    """Whom the server runs as: None (ourselves), or for root the owner of `owned`, or the service account.

    Raises PostgresError when root finds no account and can make none.
    """
    if os.geteuid() != 0:
        return None
    owner = owned.stat().st_uid
    return _by_number(owner) if owner != 0 else _service_account()


def run(
    command: Sequence[str | Path],
    *,
    account: Account | None = None,
    cwd: Path | str = "/",
    text: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as `account`, its output captured as text. Raises OSError when it cannot be started."""
    return subprocess.run(  # noqa: S603 -- fixed programs with arguments of ours, no shell
        [str(part) for part in command],
        cwd=cwd,
        env=environment(),
        input=text or "",
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        umask=0o077,
        # `user` alone would keep the groups of root.
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def environment() -> dict[str, str]:
    """What PostgreSQL's programs may see: no PG* variable, and no locale that this machine may lack."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _service_account() -> Account:
    found = _lookup(SERVICE) or _create() or next(filter(None, map(_lookup, STAND_INS)), None)
    if found is None:
        raise PostgresError(
            f"PostgreSQL does not run as root, and the system account {SERVICE!r} that it would run as could not be made. "
            f"Make it (`useradd --system {SERVICE}`), or run the command as a user other than root."
        )
    return found


def _by_number(uid: int) -> Account:
    try:
        return Account(uid, pwd.getpwuid(uid).pw_gid)
    except KeyError:
        raise PostgresError(
            f"The database belongs to user {uid}, who has no account on this machine. Make one, or give the folder to another."
        ) from None


def _lookup(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(entry.pw_uid, entry.pw_gid)


def _create() -> Account | None:
    program = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None:
        return None
    for _ in range(20):
        # Another process may be making it, or hold the lock of /etc/passwd for something else: look and try again.
        made = run(
            [program, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false", SERVICE]
        )
        if account := _lookup(SERVICE):
            return account
        if "lock" not in made.stderr:
            return None
        time.sleep(0.1)
    return None
