"""Names of records and where their files are. Nothing here may lead outside the project's folder."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

from vault.errors import InvalidArguments, PathRefused
from vault.kinds import KINDS, SUBDIRS, one_of
from vault.scan import CONFLICT_MARKS, RecordKey, is_project_id, is_record_name

MAX_SLUG = 160  # characters, all ASCII: with `.md` and a suffix well below what file systems allow
MAX_NAME = 200

_OUTSIDE = re.compile(r"[^a-z0-9._-]")
# Punctuation separates words, and so do the two quotes that Unicode counts as symbols; these signs mean something.
_TELLING = frozenset("#%&@*")
_QUIET = frozenset("`\u00b4")
_RUNS = re.compile(r"-{2,}")
# Slash, backslash, and what looks like one or is turned into one by some normalisation.
_SEPARATORS = frozenset("/\\\u2044\u2215\u29f8\u29f5\u29f9\ufe68\uff0f\uff3c\u2571\u2572\u27cb\u27cd\u1735\u3033\U0001d23a")
_DOTS = frozenset("\u2024\u2025\u2026\ufe52\uff0e")


def check_kind(kind: object) -> str:
    """Return the kind in its normal form. Raises InvalidArguments."""
    text = kind.strip().lower() if isinstance(kind, str) else ""
    if text not in KINDS:
        raise InvalidArguments(f"kind must be {one_of(KINDS)}")
    return text


def name_problem(value: object) -> str | None:
    """Return what makes a slug or id unfit as one path segment, None if it is fit."""
    if not isinstance(value, str) or not value.strip():
        return "must be a text that is not empty"
    if len(value) > MAX_NAME:
        return f"must have at most {MAX_NAME} characters"
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in value):
        return "must not hold control characters"
    if _SEPARATORS & set(value) or _SEPARATORS & set(unicodedata.normalize("NFKC", value)):
        return "must be one path segment: no slash or backslash, nor a character that looks like one"
    return _dots_problem(unicodedata.normalize("NFKC", value).strip())


def _dots_problem(text: str) -> str | None:
    if _DOTS & set(text) or ".." in text or text.startswith("."):
        return "must not start with a dot or hold two in a row"
    # The dot of `.md` may complete a mark.
    if any(mark in f"{text.lower()}." for mark in CONFLICT_MARKS):
        return "must not look like a conflict copy"
    return None


def check_name(value: object, field: str) -> str:
    """Return a slug or id as it was given. Raises PathRefused unless it is one harmless path segment."""
    problem = name_problem(value)
    if problem is not None:
        raise PathRefused(f"{field} {problem}")
    return str(value)


def slugify(text: str) -> str:
    """Return the text as a slug: lower case, `[a-z0-9._-]`, no dash at an edge; empty if nothing is left."""
    lowered = unicodedata.normalize("NFC", text).lower().strip()
    return _RUNS.sub("-", _OUTSIDE.sub("-", lowered)).strip("-")


def slug_of_name(value: str, field: str) -> str:
    """Return the slug of an explicit slug or id. Raises PathRefused if none can be made of it."""
    slug = slugify(check_name(value, field))
    if not slug or len(slug) > MAX_SLUG or not is_record_name(f"{slug}.md"):
        raise PathRefused(f"{field} must have letters (a-z) or digits that can name a file, at most {MAX_SLUG} characters")
    return with_digest(slug, value) if _loses(value) else slug


def derive_slug(text: str) -> tuple[str, bool]:
    """Return a slug made of free text, and whether letters, digits or symbols of the text are missing in it.

    A slug that had to be cut ends in a digest of the whole text, so that two long texts never share one.
    """
    safe = re.sub(r"\.{2,}", ".", slugify(text)).strip("-.")
    safe = safe.replace(".conflict.", "-conflict-").replace(".sync-conflict-", "-sync-conflict-")
    if safe.endswith(".conflict"):
        safe = safe.removesuffix(".conflict") + "-conflict"
    if len(safe) > MAX_SLUG:
        return with_digest(safe, text), False
    return safe, _loses(text)


def _loses(text: str) -> bool:
    """Return whether a slug lacks what tells the text from others: `C#` and `C++` both come to `c`."""
    dropped = _OUTSIDE.findall(unicodedata.normalize("NFC", text).lower())
    return any((unicodedata.category(char)[0] in "LNMS" and char not in _QUIET) or char in _TELLING for char in dropped)


def with_digest(slug: str, text: str) -> str:
    """Return the slug, ended by a digest of the text that it was made of."""
    return f"{slug[: MAX_SLUG - 9].strip('-.')}-{digest(text)}"


def digest(text: str) -> str:
    """Return eight hexadecimal digits that stand for the text."""
    return hashlib.sha256(unicodedata.normalize("NFC", text).strip().encode("utf-8", "surrogatepass")).hexdigest()[:8]


def project_problem(value: object) -> str | None:
    """Return what makes a text unfit as a project id, None if it is fit."""
    if not isinstance(value, str) or not is_project_id(value):
        return f"must be letters (a-z, A-Z), digits, dots, dashes and underscores, not start with a dot, at most {MAX_NAME} characters"
    return None


def project_folder(root: Path, project: str) -> Path:
    """Return the folder of a project."""
    return root / "projects" / project


def guard(root: Path, key: RecordKey) -> Path:
    """Return the path of a record's file. Raises PathRefused if a symbolic link stands on the way below the vault's root."""
    path = root
    for part in ("projects", key.project, key.subdir, f"{key.slug}.md"):
        path = path / part
        if path.is_symlink():
            raise PathRefused(f"{path.relative_to(root)} is a symbolic link; the vault writes and reads only plain folders and files")
    return path


def is_place(key: RecordKey) -> bool:
    """Return whether a record could be at this place: a project, a folder of a kind, a record's name."""
    return is_project_id(key.project) and key.subdir in SUBDIRS.values() and is_record_name(f"{key.slug}.md")


def display_path(key: RecordKey) -> str:
    """Return the path that names a record in feeds: `vault/<project>/<subdir>/<slug>.md`."""
    return f"vault/{key.project}/{key.subdir}/{key.slug}.md"


def local_path(key: RecordKey) -> str:
    """Return the path of a record's file below the vault's root, for messages."""
    return f"projects/{key.project}/{key.subdir}/{key.slug}.md"


def key_of(project: str, kind: str, slug: str) -> RecordKey:
    """Return where a record of this kind and slug is."""
    return RecordKey(project, SUBDIRS[kind], slug)
