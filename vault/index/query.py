"""The query language: words, "phrases", AND OR NOT and parentheses; everything else is plain text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was understood."""


def parse_query(text: str) -> Query:
    """The parsed query; raises QueryInvalid, saying why, for one without words or that cannot be read."""
    raise NotImplementedError
