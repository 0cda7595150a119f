"""The files of a vault by the paths that the feed names them with, and what tells one state of a file from another."""

import hashlib
import stat
from collections.abc import Iterable
from pathlib import Path

from vault import Record, Vault, VaultError, paths
from vault.retire import ForgetResult
from vault.scan import RecordKey, scan_records
from vault.upsert import UpsertResult


def digests(root: Path, keys: Iterable[RecordKey]) -> dict[str, bytes | None]:
    """The SHA-256 of each file by display path, None for one that is gone; a file that cannot be read now is left out."""
    found: dict[str, bytes | None] = {}
    for key in keys:
        try:
            found[paths.display_path(key)] = _digest(root, key)
        except OSError:  # whether it changed is seen when it can be read again
            continue
    return found


def all_digests(root: Path, known: Iterable[str]) -> dict[str, bytes | None]:
    """The digests of all files there are, and None for those of the known display paths that are gone."""
    keys = scan_records(root)
    there = {paths.display_path(key) for key in keys}
    return dict.fromkeys((path for path in known if path not in there), None) | digests(root, keys)


def written(vault: Vault, answer: object) -> list[RecordKey]:
    """The files that a mutation with this answer has written."""
    match answer:
        case UpsertResult(record=record, superseded=True):
            return [record.key, *_superseded(vault, record)]
        case UpsertResult(record=record) | ForgetResult(record=record):
            return [record.key]
        case Record():
            return [answer.key]
    return []


def _superseded(vault: Vault, record: Record) -> list[RecordKey]:
    try:
        older = vault.get(record.project, record.frontmatter.get("supersedes"), count_hit=False)
    except VaultError:  # somebody changed it since; whoever watches the files tells of it
        return []
    return [older.key] if older else []


def _digest(root: Path, key: RecordKey) -> bytes | None:
    try:
        path = paths.guard(root, key)
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except (FileNotFoundError, NotADirectoryError, VaultError):
        return None
