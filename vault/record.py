"""A record as callers see it, and how one is read from its file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault import files, frontmatter, paths, salience
from vault.errors import InvalidArguments, UnreadableRecord
from vault.frontmatter import Document
from vault.scan import RecordKey
from vault.schema import read_leniently

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_TITLE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `frontmatter` has its defaults and normalised values; `body` has no blank lines around it."""

    key: RecordKey
    kind: str
    id: str
    status: str
    frontmatter: dict[str, Any]
    body: str
    expired: bool = False

    @property
    def project(self) -> str:
        """The project whose folder the file is in."""
        return self.key.project

    @property
    def slug(self) -> str:
        """The file's name without `.md`."""
        return self.key.slug

    @property
    def display_path(self) -> str:
        """`vault/<project>/<subdir>/<slug>.md`."""
        return paths.display_path(self.key)

    @property
    def title(self) -> str:
        """The title; without one the body's first heading or line, then the slug."""
        return title_of(self.frontmatter, self.body, self.slug)

    @property
    def created(self) -> str:
        """When it was made, RFC 3339 in UTC."""
        return str(self.frontmatter["created"])

    @property
    def updated(self) -> str:
        """When it was last changed, RFC 3339 in UTC."""
        return str(self.frontmatter["updated"])

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of the frontmatter as texts, empty if a person wrote something else there."""
        value = self.frontmatter.get(key)
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    @property
    def stale(self) -> bool:
        """Whether its readers reported it as stale often enough."""
        return salience.is_flagged(self.frontmatter)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values; `stale` is there only when true."""
        answer: dict[str, Any] = {
            "id": self.id,
            "project": self.project,
            "kind": self.kind,
            "slug": self.slug,
            "status": self.status,
            "title": self.title,
            "path": self.display_path,
            "created": self.created,
            "updated": self.updated,
            "expired": self.expired,
            "frontmatter": self.frontmatter,
            "body": self.body,
        }
        if self.stale:
            answer["stale"] = True
        return answer


@dataclass(frozen=True, slots=True)
class Stored:
    """A record together with the text of its file, ready to be edited."""

    record: Record
    document: Document


def title_of(data: dict[str, Any], body: str, slug: str) -> str:
    """Return the title, the body's first heading, its first line, or the slug."""
    title = data.get("title")
    if isinstance(title, str) and title.strip():
        return " ".join(title.split())
    heading = _HEADING.search(body)
    text = heading.group(1).rstrip().rstrip("#") if heading else next((line for line in body.splitlines() if line.strip()), slug)
    text = " ".join(text.split())
    return text if len(text) <= _TITLE_LENGTH else f"{text[: _TITLE_LENGTH - 1]}…"


def read(data: bytes, key: RecordKey) -> Stored:
    """Return the record in a file's bytes. Raises UnreadableRecord naming the file and all that is missing."""
    where = paths.local_path(key)
    document = frontmatter.parse(frontmatter.decode(data, where), where)
    try:
        clean = read_leniently(document.data)
    except InvalidArguments as error:
        raise UnreadableRecord(f"{where}: {'; '.join(error.problems)}") from None
    body = frontmatter.readable_body(document)
    return Stored(Record(key, clean["kind"], clean["id"], clean["status"], clean, body), document)


def load(root: Path, key: RecordKey) -> Stored | None:
    """Return the record in the file of that name, None without one. Raises UnreadableRecord and PathRefused."""
    path = paths.guard(root, key)
    try:
        data = files.read_plain(path, frontmatter.MAX_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableRecord(f"{paths.local_path(key)}: {error.strerror}") from None
    return read(data, key)
