"""What a typed query means, the same for notes and for records.

Terms are ANDed, OR widens, quotes keep a phrase, `-` excludes; a query of one token matches substrings as well. Whatever a person types
has a meaning: no text is a syntax error.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from models.errors import Unprocessable
from models.limits import QUERY_CHARACTERS, QUERY_WORD_PARTS, QUERY_WORDS
from models.text import check
from models.words import MARKER, cut, spaced
from store.parameters import Parameters

# A dash excludes at the beginning of a term. A quote that nobody closes reaches to the end.
_TERM = re.compile(r'(?P<excluded>(?<!\S)-+)?(?:"(?P<phrase>[^"]*)(?:"|\Z)|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Operand:
    """A word, or a phrase of several, that must stand in the text, or must not. `text` is what was typed, `quoted` or not."""

    text: str
    words: tuple[str, ...]
    excluded: bool = False
    quoted: bool = False

    def tsquery(self) -> str:
        """Return the condition for the word index; a phrase of a vector that lacks positions is decided by `condition`."""
        quoted = [f"'{word}'" for word in self.words]
        phrase = " <-> ".join(quoted)
        if self.excluded:
            return f"!({phrase})"
        return phrase if len(quoted) == 1 else f"({phrase} | '{MARKER}' & {' & '.join(quoted)})"

    def condition(self, alias: str, parameters: Parameters) -> str:
        """Return the condition on the words that are kept where a vector lacks positions."""
        found = f"{alias}.search_words LIKE {parameters.add(contains(spaced(list(self.words))), 'text')}"
        return f"NOT {found}" if self.excluded else found


@dataclass(frozen=True, slots=True)
class Query:
    """A query: alternatives of operands that must all hold, and the one `token` that it is, or None if it is more or excludes."""

    alternatives: tuple[tuple[Operand, ...], ...]
    token: str | None

    @property
    def words(self) -> str | None:
        """The tsquery, or None if the query has no word."""
        return " | ".join(" & ".join(operand.tsquery() for operand in operands) for operands in self.alternatives) or None

    def predicate(self, alias: str, parameters: Parameters) -> str:
        """Return the condition on an artifact."""
        return f"({self.has_words(alias, parameters)} OR {self.has_token(alias, parameters)})"

    def has_words(self, alias: str, parameters: Parameters) -> str:
        """Return the part of the condition that the word index answers."""
        found = f"{alias}.search @@ {self.tsquery(parameters)}"
        if all(len(operand.words) == 1 for operands in self.alternatives for operand in operands):
            return found
        exact = " OR ".join(" AND ".join(operand.condition(alias, parameters) for operand in operands) for operands in self.alternatives)
        return f"({found} AND ({alias}.search_words IS NULL OR {exact}))"

    def has_token(self, alias: str, parameters: Parameters) -> str:
        """Return the part of the condition for a query of one token, which matches anywhere in the text."""
        if self.token is None:
            return "false"
        text, pattern = f"{alias}.search_blob", parameters.add(contains(self.token), "text")
        # ASCII has simple cases, so that most rows that do not match are passed over several times faster than by ILIKE itself.
        possible = f'CASE WHEN octet_length({text}) = length({text}) THEN {text} COLLATE "C" ILIKE {pattern} ELSE true END'
        return f"({possible} AND {text} ILIKE {pattern})"

    def tsquery(self, parameters: Parameters) -> str:
        """Return the parameter that carries the query, for `@@` and ts_rank_cd."""
        return parameters.add(self.words, "tsquery")


def parse(query: str) -> Query:
    """Return the query. Raises Unprocessable if it is empty, has too many words or is no storable text."""
    check(query=query)
    if len(query) > QUERY_CHARACTERS:
        raise Unprocessable(f"the query has {len(query):,} characters; at most {QUERY_CHARACTERS:,} are allowed")
    text = unicodedata.normalize("NFC", query).strip()
    if not text:
        raise Unprocessable("the query is empty; give one or more words to look for")
    alternatives = _alternatives(list(_operands(text)))
    _require_few_words(text, alternatives)
    return Query(alternatives, text if _is_one_token(text) else None)


def _operands(text: str) -> Iterator[Operand]:
    for term in _TERM.finditer(text):
        typed = term["phrase"] if term["word"] is None else term["word"]
        if words := cut(typed):
            yield Operand(typed, tuple(words), excluded=term["excluded"] is not None, quoted=term["word"] is None)


def _alternatives(operands: list[Operand]) -> tuple[tuple[Operand, ...], ...]:
    """Split at the OR between two operands; an OR that stands elsewhere is a word."""
    alternatives: list[list[Operand]] = [[]]
    for place, operand in enumerate(operands):
        is_or = operand.text.lower() == "or" and not (operand.excluded or operand.quoted)
        if is_or and alternatives[-1] and place + 1 < len(operands):
            alternatives.append([])
        else:
            alternatives[-1].append(operand)
    return tuple(tuple(alternative) for alternative in alternatives if alternative)


def _require_few_words(text: str, alternatives: tuple[tuple[Operand, ...], ...]) -> None:
    # Ranking a record takes time that grows with the square of the query's words, and 10,000 records may match.
    words = [word for word in text.split() if word.lower() != "or"]
    if len(words) > QUERY_WORDS:
        raise Unprocessable(f"the query has {len(words):,} words; at most {QUERY_WORDS} are allowed")
    parts = sum(len(operand.words) for operands in alternatives for operand in operands)
    if parts > QUERY_WORD_PARTS:
        raise Unprocessable(f"the words of the query have {parts:,} parts of letters and digits; at most {QUERY_WORD_PARTS} are allowed")


def contains(text: str) -> str:
    r"""Return the pattern for LIKE and ILIKE that matches the text anywhere; `%`, `_` and `\` are characters."""
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"


def _is_one_token(text: str) -> bool:
    return not text.startswith("-") and '"' not in text and not any(character.isspace() for character in text)
