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
_SIGMA, _FINAL_SIGMA = "\N{GREEK SMALL LETTER SIGMA}", "\N{GREEK SMALL LETTER FINAL SIGMA}"
# What str.strip() takes off.
_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_BLANKS, _ASCII_BLANKS = (f"'{''.join(spaces)}'" for spaces in (_SPACES, filter(str.isascii, _SPACES)))


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
class Not(Term):
    """Another term does not hold; a record without a value is among what it leaves."""

    term: Term

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        return f"({self.term.condition(parameters)}) IS NOT TRUE"


@dataclass(frozen=True, slots=True)
class Same(Term):
    """The column has one of these JSON values; numbers compare as numbers, so that 1 is 1.0."""

    values: tuple[str, ...]

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        column = f"a.content_json->{parameters.add(self.column, 'text')}"
        if len(self.values) == 1:
            return f"{column} = {parameters.add(self.values[0], 'jsonb')}"
        return f"{column} = ANY ({parameters.add(list(self.values), 'jsonb[]')})"


@dataclass(frozen=True, slots=True)
class Identity(Term):
    """The unique column has one of these values, given by their digests, which an index finds."""

    digests: tuple[bytes, ...]

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        return f"a.identity_hash = ANY ({parameters.add(list(self.digests), 'bytea[]')})"


@dataclass(frozen=True, slots=True)
class Alone(Term):
    """The record that has this value of the unique column, if there is one; otherwise whatever the other term finds."""

    digest: bytes
    collection: str
    otherwise: Term

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        digest, collection = parameters.add(self.digest, "bytea"), parameters.add(self.collection, "text")
        # The statement's $1 is the organisation, as in every list and search. PostgreSQL looks this up once, not once a record.
        known = f"""EXISTS (SELECT FROM artifacts i WHERE i.org_id = $1 AND i.collection_id = {collection}
            AND i.identity_hash = {digest} AND i.deleted_at IS NULL)"""
        return f"CASE WHEN {known} THEN a.identity_hash = {digest} ELSE {self.otherwise.condition(parameters)} END"

    def similarity(self, parameters: Parameters) -> str | None:
        """As `Term.similarity`."""
        return self.otherwise.similarity(parameters)


@dataclass(frozen=True, slots=True)
class Number(Term):
    """The record's id compares so with one of these; None is an id that no record can have. `sign` is SQL's."""

    numbers: tuple[int | None, ...]
    sign: str = "="

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        if len(self.numbers) == 1:
            return f"a.number {self.sign} {parameters.add(self.numbers[0], 'bigint')}"
        return f"a.number {self.sign} ANY ({parameters.add(list(self.numbers), 'bigint[]')})"


@dataclass(frozen=True, slots=True)
class Item(Term):
    """The array has this item."""

    item: str

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        column = f"a.content_json->{parameters.add(self.column, 'text')}"
        return f"(jsonb_typeof({column}) = 'array' AND ({column}) ? {parameters.add(self.item, 'text')})"


@dataclass(frozen=True, slots=True)
class Compared(Term):
    """A number (as JSON) or a datetime (as stored, without its Z) on one side of a bound; `sign` is SQL's."""

    type: ColumnType
    sign: str
    bound: str

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        column = parameters.add(self.column, "text")
        value, guard, kind = self._number(column) if self.type is ColumnType.NUMBER else self._datetime(column)
        return f"({guard} AND {value} {self.sign} {parameters.add(self.bound, kind)})"

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
class OneOf(Term):
    """The text, or an item of the array, is one of these folded texts."""

    texts: tuple[str, ...]
    items: bool

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        texts = parameters.add([_comparable(text) for text in self.texts], "text[]")
        return f"EXISTS (SELECT FROM {_values(self.column, self.items, parameters)} WHERE {folded('v')} = ANY ({texts}))"


@dataclass(frozen=True, slots=True)
class SameItems(Term):
    """The array has just the items of one of these lists (JSON, folded, sorted), or one of these folded items."""

    lists: tuple[str, ...]
    items: tuple[str, ...]

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        values = _values(self.column, True, parameters)
        items = f"SELECT coalesce(jsonb_agg(DISTINCT {folded('v')} COLLATE \"C\"), '[]') FROM {values}"
        lists = parameters.add([_comparable(text) for text in self.lists], "jsonb[]")
        same = f"(jsonb_typeof(a.content_json->{parameters.add(self.column, 'text')}) = 'array' AND ({items}) = ANY ({lists}))"
        return f"({same} OR {OneOf(self.column, self.items, items=True).condition(parameters)})" if self.items else same


@dataclass(frozen=True, slots=True)
class Beside(Term):
    """The folded text occurs in the value or in an item, or begins it; similar spelling does not count."""

    text: str
    start: bool
    items: bool

    def condition(self, parameters: Parameters) -> str:
        """As `Term.condition`."""
        text = parameters.add(_comparable(self.text), "text")
        found = f"starts_with({folded('v')}, {text})" if self.start else f"strpos({folded('v')}, {text}) > 0"
        return f"EXISTS (SELECT FROM {_values(self.column, self.items, parameters)} WHERE {found})"


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
        return f"EXISTS (SELECT FROM {_values(self.column, self.items, parameters)} WHERE {matches})"

    def similarity(self, parameters: Parameters) -> str:
        """As `Term.similarity`."""
        text = parameters.add(self.text, "text")
        return f"coalesce((SELECT max(word_similarity({text}, normalize(v))) FROM {_values(self.column, self.items, parameters)}), 0)"


def folded(value: str) -> str:
    """Return SQL for a text as models.identity.folded compares it, but for the Greek sigmas, which are one letter here.

    PostgreSQL's lower() maps letter by letter; Python's gives a sigma at the end of a word its own form, and a dotted I two characters.
    """
    simple = f'lower(btrim({value}, {_ASCII_BLANKS}) COLLATE "C")'
    other = f"translate(lower(replace(btrim(normalize({value}), {_BLANKS}), 'İ', 'i\u0307')), '{_FINAL_SIGMA}', '{_SIGMA}')"
    # ASCII is in NFC and has simple cases, which is most text and several times faster.
    return f"CASE WHEN octet_length({value}) = length({value}) THEN {simple} ELSE {other} END"


def _comparable(text: str) -> str:
    return text.replace(_FINAL_SIGMA, _SIGMA)


def _values(column: str, items: bool, parameters: Parameters) -> str:
    """Return a relation of the column's text as `v`, or of its array's items."""
    name = parameters.add(column, "text")
    if items:
        array = f"CASE jsonb_typeof(a.content_json->{name}) WHEN 'array' THEN a.content_json->{name} END"
        return f"jsonb_array_elements_text({array}) AS given(v)"
    # OFFSET 0 keeps the planner from extracting the value once for each use.
    return f"(SELECT a.content_json->>{name} AS v OFFSET 0) AS given"


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
