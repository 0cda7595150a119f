"""What is derived from content: the identity that tells records apart, and the text by which records and notes are searched."""

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.columns import ColumnDef, unique_column
from models.kinds import ColumnType
from models.limits import INDEXED_BYTES_PER_RECORD, KB
from models.numbers import decimal_text, is_number
from models.words import SEPARATOR


def identity(columns: Sequence[ColumnDef], body: Mapping[str, Any]) -> str | None:
    """The unique column's value made comparable, or None: no such column, no value, a blank one, or one of a former type."""
    column = unique_column(columns)
    return None if column is None else identity_of(column, body.get(column.name))


def identity_of(column: ColumnDef, value: Any) -> str | None:
    """A value of a unique column made comparable, or None."""
    if column.type is ColumnType.NUMBER:
        return decimal_text(value) if is_number(value) else None
    return folded(value) or None if isinstance(value, str) else None


def folded(text: str) -> str:
    """Return a text as it is compared with another."""
    # Lower case only, no case folding: what folds alike ("ß" and "ss") need not be the same to its owners.
    return unicodedata.normalize("NFC", text).strip().lower()


def digest(value: str | None) -> bytes | None:
    """The SHA-256 of an identity, which carries the unique index."""
    return None if value is None else hashlib.sha256(value.encode()).digest()


def search_blob(columns: Sequence[ColumnDef], body: Mapping[str, Any]) -> str:
    """Return every value of the body as text, apart by words.SEPARATOR, in the order of the columns; NFC, since queries are."""
    parts = (text.replace(SEPARATOR, " ") for column in columns if column.name in body for text in _texts(body[column.name]))
    return unicodedata.normalize("NFC", SEPARATOR.join(parts))


def note_blob(key: str, content: str) -> str:
    """Return what a note is searched by: its key, then its content, apart by words.SEPARATOR; NFC, since queries are."""
    return unicodedata.normalize("NFC", f"{key}{SEPARATOR}{content.replace(SEPARATOR, ' ')}")


def indexed_fault(blob: str) -> str | None:
    """Why this is more value text than a record may have, or None."""
    # No character takes more than four bytes, so that most records need not be encoded to be measured.
    if len(blob) * 4 > INDEXED_BYTES_PER_RECORD and (size := len(blob.encode())) > INDEXED_BYTES_PER_RECORD:
        cap = f"{INDEXED_BYTES_PER_RECORD // KB} KB ({INDEXED_BYTES_PER_RECORD:,} bytes of UTF-8)"
        return f"the values of the record are {size:,} bytes of text; the limit is {cap}"
    return None


def _texts(value: Any) -> Iterator[str]:
    match value:
        # Before numbers, of which Python counts booleans.
        case bool():
            yield "true" if value else "false"
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case int() | float():
            yield decimal_text(value)
