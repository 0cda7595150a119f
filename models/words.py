"""The words of a text, and the form in which an index holds them.

A word is a run of Unicode letters, marks and digits in lower case; everything else separates. Stored texts and queries are cut by this one
rule, so that a text always finds itself. A phrase does not cross SEPARATOR, which stands between the parts of an indexed text.
"""

import re
import unicodedata
from collections import defaultdict
from typing import NamedTuple

SEPARATOR = "\x1f"

# PostgreSQL takes words of at most 2,046 bytes. A longer run is the phrase of its pieces, in texts and in queries.
_LONGEST = 255
# What a tsvector holds: https://www.postgresql.org/docs/current/textsearch-limitations.html
_LAST_POSITION, _POSITIONS_OF_A_WORD = 16_383, 256
# Marks a vector that lacks positions. Upper case, so that no word is equal to it.
MARKER = "L"

_APART = re.compile(r"[\W_]+")


class Indexed(NamedTuple):
    """A text as its search index holds it: a tsvector, and where that lacks positions, the words as `spaced` gives them."""

    vector: str
    words: str | None


def cut(text: str) -> list[str]:
    """Return the words of a text in their order."""
    spaced = _APART.sub(_marks, unicodedata.normalize("NFC", text))
    # Lower case word by word: a letter's form can depend on its neighbours, and a query has the word without them.
    words = [unicodedata.normalize("NFC", word.lower()) for word in spaced.split()]
    return [word[start : start + _LONGEST] for word in words for start in range(0, len(word), _LONGEST)]


def index(text: str) -> Indexed:
    """Return the index of a text whose parts stand apart by SEPARATOR."""
    parts = [cut(part) for part in text.split(SEPARATOR)]
    positions: defaultdict[str, list[int]] = defaultdict(list)
    place = 0
    for part in parts:
        for word in part:
            place += 1
            positions[word].append(place)
        place += 1  # a phrase needs neighbours
    lacking = place > _LAST_POSITION or any(len(places) > _POSITIONS_OF_A_WORD for places in positions.values())
    lexemes = [f"'{word}':{','.join(map(str, places[:_POSITIONS_OF_A_WORD]))}" for word, places in positions.items()]
    if not lacking:
        return Indexed(" ".join(lexemes), None)
    return Indexed(" ".join([*lexemes, f"'{MARKER}'"]), SEPARATOR.join(map(spaced, parts)))


def spaced(words: list[str]) -> str:
    """Return words with a blank before and after each, so that a phrase is found as a part of the text."""
    return f" {' '.join(words)} "


def _marks(run: re.Match[str]) -> str:
    """Return a run between letters and digits with its marks kept: Python counts marks among neither."""
    text = run[0]
    if text.isascii():
        return " "
    return "".join(character if unicodedata.category(character).startswith("M") else " " for character in text)
