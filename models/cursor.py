"""Positions in the feed: the writing transaction's id, then the change's own id, in that order."""

import re
from dataclasses import dataclass

from models.errors import Unprocessable
from models.text import printable

_FORM = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A position; its text is 32 hexadecimal digits that sort as the positions do."""

    xid: int
    id: int

    def __str__(self) -> str:
        return f"{self.xid:016x}{self.id:016x}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """The position that a text names. Raises Unprocessable for anything that was never given out."""
        if not _FORM.fullmatch(text):
            raise Unprocessable(f"{printable(text)[:80]!r} is not a cursor; take one from a change's `cursor`")
        xid, change_id = int(text[:16], 16), int(text[16:], 16)
        # PostgreSQL would refuse it as no bigint, and not as a cursor.
        if max(xid, change_id) >= 2**63:
            raise Unprocessable(f"{text!r} is not a cursor; take one from a change's `cursor`")
        return cls(xid, change_id)


START = Cursor(0, 0)
