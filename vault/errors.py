"""What the vault refuses, as one tree.

VaultError
├── InvalidArguments       INVALID_ARGUMENTS   anything wrong with what was sent; lists every problem
│   ├── SecretFound        SECRET_FOUND        a text looks like a credential; names kinds, never the value
│   ├── PathRefused        PATH_REFUSED        a name or path that would leave its folder, or is excluded
│   ├── QueryInvalid       INVALID_QUERY       a search query that cannot be read
│   └── ConfigInvalid      CONFIG_INVALID      config.json or a project marker is wrong
├── RecordNotFound         RECORD_NOT_FOUND    no such record
├── AmbiguousId            AMBIGUOUS_ID        several records carry the id; names their paths
├── SlugTaken              SLUG_TAKEN          the file belongs to a record of another kind
├── UnreadableRecord       UNREADABLE_RECORD   a file is there that does not parse; it is left as it is
├── LockTimeout            LOCK_TIMEOUT        another process, thread or task holds the vault
├── IndexFailed            INDEX_FAILED        the search index cannot be opened or written
├── GitFailed              GIT_FAILED          git reported a failure; a write never fails for it
└── UpsertFailed           UPSERT_FAILED       the file could not be written

No message ever holds a value that could be a secret: texts name the field, not what stands in it.
"""

from collections.abc import Iterable
from typing import ClassVar


class VaultError(Exception):
    """Base of every refusal of the vault; `code` is stable, the message is for people."""

    code: ClassVar[str] = "VAULT_ERROR"

    @property
    def message(self) -> str:
        """The text that a user reads."""
        return str(self)


class InvalidArguments(VaultError):
    """The arguments are wrong; `problems` lists each of them."""

    code = "INVALID_ARGUMENTS"

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(self.problems))


class SecretFound(InvalidArguments):
    """A text looks like a credential; `kinds` says of which kinds, never the text itself."""

    code = "SECRET_FOUND"

    def __init__(self, context: str, kinds: Iterable[str]) -> None:
        self.context = context
        self.kinds = tuple(sorted(set(kinds)))
        super().__init__(f"{context} holds what looks like a secret ({', '.join(self.kinds)}); nothing was written")


class PathRefused(InvalidArguments):
    """A slug, id, project id or path is excluded or would leave the folder that it belongs to."""

    code = "PATH_REFUSED"


class QueryInvalid(InvalidArguments):
    """The search query cannot be read; nothing was searched."""

    code = "INVALID_QUERY"


class ConfigInvalid(InvalidArguments):
    """config.json or .spec-memo.json is wrong; each problem is listed."""

    code = "CONFIG_INVALID"


class RecordNotFound(VaultError):
    """No record answers to the id or slug."""

    code = "RECORD_NOT_FOUND"


class AmbiguousId(VaultError):
    """Several records of one project carry the id; the message names their paths."""

    code = "AMBIGUOUS_ID"


class SlugTaken(VaultError):
    """The file of that slug belongs to a record of another kind."""

    code = "SLUG_TAKEN"


class UnreadableRecord(VaultError):
    """The file exists but is no record that can be read; it was left untouched."""

    code = "UNREADABLE_RECORD"


class LockTimeout(VaultError):
    """The vault stayed locked; the message says by whom."""

    code = "LOCK_TIMEOUT"


class IndexFailed(VaultError):
    """The search index can neither be used nor rebuilt."""

    code = "INDEX_FAILED"


class GitFailed(VaultError):
    """A git command failed, is missing or took too long."""

    code = "GIT_FAILED"


class UpsertFailed(VaultError):
    """The file system refused the write; the old file, if any, is whole."""

    code = "UPSERT_FAILED"
