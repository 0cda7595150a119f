"""What a term of `where` asks of a record, as SQL about `artifacts a`.

Bodies are compared as JSON and guarded by type: a column that was retyped leaves values of its former type behind, which match nothing.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from models.kinds import ColumnType
from store.parameters import Parameters
from store.query import contains

SIMILAR = "0.5"
_STORED_DATETIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z$"
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Term(ABC):
    """A condition on one column."""

    column: str

    @abstractmethod
    def condition(self, parameters: Parameters) -> str:
        """The condition, its values added to the parameters."""

    def similarity(self, parameters: Parameters) -> str | None:  # noqa: ARG002  # only terms that match by spelling rank
        """How well the record matches, from 0 to 1, for terms that match more or less."""
        return None


@dataclass(frozen=True, slots=True)
class Missing(Term):
    """The column has no value, or null."""

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        return f"(a.content_json->>{parameters.add(self.column, 'text')}) IS NULL"


@dataclass(frozen=True, slots=True)
class Same(Term):
    """The column has this JSON value; numbers compare as numbers, so that 1 is 1.0."""

    json: str

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        return f"a.content_json->{parameters.add(self.column, 'text')} = {parameters.add(self.json, 'jsonb')}"


@dataclass(frozen=True, slots=True)
class Number(Term):
    """The record has this id; None is an id that no record can have."""

    number: int | None

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        return f"a.number = {parameters.add(self.number, 'bigint')}"


@dataclass(frozen=True, slots=True)
class Item(Term):
    """The array has this item."""

    item: str

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        column = f"a.content_json->{parameters.add(self.column, 'text')}"
        return f"(jsonb_typeof({column}) = 'array' AND ({column}) ? {parameters.add(self.item, 'text')})"


@dataclass(frozen=True, slots=True)
class Between(Term):
    """A number (as JSON) or a datetime (as stored) within bounds, both included; a bound may be missing."""

    type: ColumnType
    lower: str | None
    upper: str | None

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        column = parameters.add(self.column, "text")
        value, guard, kind = self._number(column) if self.type is ColumnType.NUMBER else self._datetime(column)
        bounds = [
            f"{value} {sign} {parameters.add(bound, kind)}" for sign, bound in ((">=", self.lower), ("<=", self.upper)) if bound is not None
        ]
        return f"({' AND '.join([guard, *bounds])})"

    @staticmethod
    def _number(column: str) -> tuple[str, str, str]:
        value = f"a.content_json->{column}"
        return f"({value})", f"jsonb_typeof({value}) = 'number'", "jsonb"

    @staticmethod
    def _datetime(column: str) -> tuple[str, str, str]:
        value = f"a.content_json->>{column}"
        # Without its Z a whole second sorts before its fractions.
        return f"rtrim({value}, 'Z') COLLATE \"C\"", f"({value}) ~ '{_STORED_DATETIME}'", "text"


@dataclass(frozen=True, slots=True)
class Contains(Term):
    """The text (in NFC) occurs in the column's value, or in an item of it; or something spelled alike does, if there is no digit in it."""

    text: str
    items: bool

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        pattern = parameters.add(contains(self.text), "text")
        plain = f'v COLLATE "C" ILIKE {pattern}'
        other = f"normalize(v) ILIKE {pattern}"
        # What differs by a digit is something else, however alike it is spelled.
        if not any(character.isdigit() for character in self.text):
            text, pieces = parameters.add(self.text, "text"), common_pieces(self.text)
            cheap = f'lower(v COLLATE "C") LIKE ANY ({parameters.add(pieces, "text[]")}) AND ' if pieces else ""
            plain += f" OR {cheap}word_similarity({text}, v) >= {SIMILAR}"
            other += f" OR word_similarity({text}, normalize(v)) >= {SIMILAR}"
        # ASCII is in NFC and has simple cases, which is most text and several times faster.
        matches = f"CASE WHEN octet_length(v) = length(v) THEN {plain} ELSE {other} END"
        return f"EXISTS (SELECT FROM {self._values(parameters)} WHERE {matches})"

    def similarity(self, parameters: Parameters) -> str:
        """As `Term.similarity`."""
        text = parameters.add(self.text, "text")
        return f"coalesce((SELECT max(word_similarity({text}, normalize(v))) FROM {self._values(parameters)}), 0)"

    def _values(self, parameters: Parameters) -> str:
        column = parameters.add(self.column, "text")
        if self.items:
            array = f"CASE jsonb_typeof(a.content_json->{column}) WHEN 'array' THEN a.content_json->{column} END"
            return f"jsonb_array_elements_text({array}) AS given(v)"
        # OFFSET 0 keeps the planner from extracting the value once for each use.
        return f"(SELECT a.content_json->>{column} AS v OFFSET 0) AS given"


def common_pieces(text: str) -> list[str]:
    """Patterns of which an ASCII value that is spelled like the text matches at least one; empty where that cannot be said.

    pg_trgm cuts a word into its runs of three letters, with two blanks before it and one after. Alike is what shares half of
    them, so of any larger part at least one: here of those with the most letters, which LIKE seldom finds in other words.
    """
    if not text.isascii():
        return []
    words = [f"  {word} " for word in _WORD.findall(text.lower())]
    runs = {word[start : start + 3] for word in words for start in range(len(word) - 2)}
    longest = sorted(runs, key=lambda run: (-len(run.strip()), run))[: len(runs) // 2 + 1]
    return list(dict.fromkeys(f"%{run.strip()}%" for run in longest))
