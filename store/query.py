"""What a typed query means in SQL, the same for notes and for records.

Terms are ANDed, OR widens, quotes keep a phrase, `-` excludes; a query of one token matches substrings as well.
PostgreSQL's own parser reads it, so that no text can be a syntax error.
"""

import unicodedata
from dataclasses import dataclass

from models.errors import Unprocessable
from models.limits import QUERY_CHARACTERS
from models.text import check


@dataclass(frozen=True, slots=True)
class Query:
    """A query, ready as two arguments of a statement: `words` for the word index and `pattern` for ILIKE.

    `pattern` is None where the query is more than one token, or excludes; ILIKE NULL then matches nothing.
    """

    words: str
    pattern: str | None

    @property
    def token(self) -> str | None:
        """The one token that the query is, or None."""
        return self.words if self.pattern is not None else None


def parse(query: str) -> Query:
    """The query in NFC without outer white space. Raises Unprocessable if it is empty, too long or no storable text."""
    check(query=query)
    if len(query) > QUERY_CHARACTERS:
        raise Unprocessable(f"the query has {len(query):,} characters; at most {QUERY_CHARACTERS:,} are allowed")
    words = unicodedata.normalize("NFC", query).strip()
    if not words:
        raise Unprocessable("the query is empty; give one or more words to look for")
    return Query(words, contains(words) if _is_one_token(words) else None)


def contains(text: str) -> str:
    r"""The pattern for LIKE and ILIKE that matches the text anywhere; `%`, `_` and `\` are characters."""
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _is_one_token(words: str) -> bool:
    return not words.startswith("-") and '"' not in words and not any(character.isspace() for character in words)


def predicate(alias: str, words: int, pattern: int) -> str:
    """The condition on an artifact; `words` and `pattern` are the numbers of the parameters that carry the Query's two fields."""
    return f"({alias}.search @@ {tsquery(words)} OR {alias}.search_blob ILIKE ${pattern}::text)"


def tsquery(words: int) -> str:
    """The parsed query, for ts_rank_cd and ts_headline; `words` is its parameter's number."""
    return f"websearch_to_tsquery('pg_catalog.simple', ${words}::text)"
