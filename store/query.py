"""What a typed query means in SQL, the same for notes and for records.

Terms are ANDed, OR widens, quotes keep a phrase, `-` excludes; a query of one token matches substrings as well.
PostgreSQL's own parser reads it, so that no text can be a syntax error.
"""

import re
import unicodedata
from dataclasses import dataclass

from models.errors import Unprocessable
from models.limits import QUERY_CHARACTERS, QUERY_WORD_PARTS, QUERY_WORDS
from models.text import check

# What PostgreSQL reads as one NOT upon another; it has room for 32, which a line of dashes passes.
_DASHES = re.compile(r'(?<![^\s!&|()"])-(?:[\s!&|()]*-)+')
# Runs that the index holds cut, since PostgreSQL's parser reads them again from each of their characters (see muniment_tsvector).
_LONG_RUN = re.compile(r"([^\W_]|[_./~+-]){255}")
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Query:
    """A query: `words` for the word index, and the one `token` that it is, or None where it is more than one or excludes."""

    words: str
    token: str | None

    @property
    def pattern(self) -> str | None:
        """The argument of ILIKE; None, with which nothing matches, where the query is not one token."""
        return None if self.token is None else contains(self.token)


def parse(query: str) -> Query:
    """The query in NFC without outer white space. Raises Unprocessable if it is empty, has too many words or is no storable text."""
    check(query=query)
    if len(query) > QUERY_CHARACTERS:
        raise Unprocessable(f"the query has {len(query):,} characters; at most {QUERY_CHARACTERS:,} are allowed")
    text = unicodedata.normalize("NFC", query).strip()
    if not text:
        raise Unprocessable("the query is empty; give one or more words to look for")
    _require_few_words(text)
    words = _LONG_RUN.sub(r"\g<0> ", text.replace("<!--", " "))
    return Query(_DASHES.sub("-", words), text if _is_one_token(text) else None)


def _require_few_words(text: str) -> None:
    # Ranking a record takes time that grows with the square of the query's words, and there may be 10,000 that match.
    words = [word for word in text.split() if word.lower() != "or"]
    parts = _PART.findall(text)
    if len(words) > QUERY_WORDS:
        raise Unprocessable(f"the query has {len(words):,} words; at most {QUERY_WORDS} are allowed")
    if len(parts) > QUERY_WORD_PARTS:
        raise Unprocessable(
            f"the words of the query have {len(parts):,} parts of letters and digits; at most {QUERY_WORD_PARTS} are allowed"
        )


def contains(text: str) -> str:
    r"""The pattern for LIKE and ILIKE that matches the text anywhere; `%`, `_` and `\` are characters."""
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _is_one_token(text: str) -> bool:
    return not text.startswith("-") and '"' not in text and not any(character.isspace() for character in text)


def predicate(alias: str, words: int, pattern: int) -> str:
    """The condition on an artifact; `words` and `pattern` are the numbers of the parameters that carry those of the Query."""
    return f"({has_words(alias, words)} OR {has_token(alias, pattern)})"


def has_words(alias: str, words: int) -> str:
    """The part of the condition that the word index answers."""
    return f"{alias}.search @@ {tsquery(words)}"


def has_token(alias: str, pattern: int) -> str:
    """The part of the condition for a query of one token: it is found anywhere."""
    text = f"{alias}.search_blob"
    # ASCII has simple cases, so that most rows that do not match are passed over several times faster than by ILIKE itself.
    possible = f'CASE WHEN octet_length({text}) = length({text}) THEN {text} COLLATE "C" ILIKE ${pattern}::text ELSE true END'
    return f"({possible} AND {text} ILIKE ${pattern}::text)"


def tsquery(words: int) -> str:
    """The parsed query, for ts_rank_cd and ts_headline; `words` is its parameter's number."""
    return f"websearch_to_tsquery('pg_catalog.simple', ${words}::text)"
