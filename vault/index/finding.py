"""One search: which records, in which order, with which snippets."""

import sqlite3
from collections.abc import Sequence

from vault.index import sql, tables
from vault.index.entry import Hit, SearchFilters
from vault.index.query import Query

_SNIPPET_WORDS = 24
_SNIPPET_CHARACTERS = 240
_SHORT_BODY = 8_192  # characters
# The word table holds stems: what matched may end otherwise than what was asked for.
_SHORTEST_STEM, _ENDING = 4, 3
_LEAD = 60  # characters shown before a match
# Title, name and tags weigh more than the body; a match inside of words only comes after all others.
_SCORE = "-bm25(words, 10.0, 5.0, 5.0, 1.0)"
_INSIDE_ONLY = 0.5


def find(connection: sqlite3.Connection, query: Query, filters: SearchFilters, now: str, limit: int) -> list[Hit]:
    """The best `limit` records for a query. Rank: (1 + score) x salience, so that a stale record comes later."""
    expression = sql.words_expression(query)
    rows = _ranked(connection, query, expression, sql.filter_conditions(filters, now), limit)
    snippets = _snippets(connection, expression, [row[0] for row in rows])
    return [tables.hit(row[:-1], now, row[-1], snippets.get(row[0]) or _cut_out(connection, row[0], query)) for row in rows]


def _ranked(
    connection: sqlite3.Connection, query: Query, expression: str, filters: Sequence[sql.Condition], limit: int
) -> list[tuple[int, ...]]:
    conditions = [sql.query_condition(query.root), *filters]
    where = " AND ".join(condition for condition, _ in conditions)
    values: list[object] = [value for _, bound in conditions for value in bound]
    join, rank = "", f"{_INSIDE_ONLY} * r.salience"
    if expression:
        join = f"LEFT JOIN (SELECT rowid AS id, {_SCORE} AS score FROM words WHERE words MATCH ?) AS w ON w.id = r.id"  # noqa: S608 - constants
        rank = f"coalesce(1 + w.score, {_INSIDE_ONLY}) * r.salience"
        values.insert(0, expression)
    statement = (
        f"SELECT {tables.HIT_COLUMNS}, {rank} AS rank FROM records AS r {join} WHERE {where}"  # noqa: S608 - every value is bound
        " ORDER BY rank DESC, r.updated DESC, r.project, r.subdir, r.slug LIMIT ?"
    )
    return connection.execute(statement, [*values, limit]).fetchall()


def _snippets(connection: sqlite3.Connection, expression: str, ids: Sequence[int]) -> dict[int, str]:
    """Of short bodies only: the time of FTS5's snippet grows with the square of the matches in a text."""
    if not expression or not ids:
        return {}
    marks = ", ".join("?" * len(ids))
    short = f"SELECT id FROM records WHERE id IN ({marks}) AND length(body) <= {_SHORT_BODY}"  # noqa: S608 - every value is bound
    statement = (
        f"SELECT rowid, snippet(words, 3, '', '', '…', {_SNIPPET_WORDS})"  # noqa: S608 - every value is bound
        f" FROM words WHERE words MATCH ? AND rowid IN ({short})"
    )
    found = connection.execute(statement, [expression, *ids])
    # A "word" of a text without spaces may be as long as the text: such a snippet is cut out anew.
    return {row: " ".join(text.split()) for row, text in found if len(text) <= _SNIPPET_CHARACTERS}


def _cut_out(connection: sqlite3.Connection, row: int, query: Query) -> str:
    body: str = connection.execute("SELECT body FROM records WHERE id = ?", [row]).fetchone()[0]
    start = max(0, _first_match(body.lower(), [term.text.lower() for term in query.wanted]) - _LEAD)
    piece = " ".join(body[start : start + _SNIPPET_CHARACTERS].split())
    return ("…" if start else "") + piece + ("…" if start + _SNIPPET_CHARACTERS < len(body) else "")


def _first_match(lowered: str, texts: Sequence[str]) -> int:
    """Where the first of the texts stands, else the first of their words less an ending, else the beginning."""
    stems = [word[: max(_SHORTEST_STEM, len(word) - _ENDING)] for text in texts for word in text.split()]
    for candidates in (texts, stems):
        places = [place for candidate in candidates if (place := lowered.find(candidate)) >= 0]
        if places:
            return min(places)
    return 0
