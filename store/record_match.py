"""Which records a request asks for, and how well each matches: a text query, `where` and `since`, the same for searches and lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from models.columns import ColumnDef
from models.errors import Problem, Unprocessable
from models.limits import MAX_PAGE
from store import query as queries
from store import where as wheres
from store.parameters import Parameters
from store.query import Query
from store.record_order import LAST_KEY, Key
from store.where import Narrowing

HEADING = "request rejected"


@dataclass(frozen=True, slots=True)
class Match:
    """What records must match, over `artifacts a`."""

    query: Query | None
    narrowing: Narrowing
    since: datetime | None

    def conditions(self, parameters: Parameters) -> list[str]:
        """The conditions, all of which must hold; none for every record."""
        found = self._beside_query(parameters)
        if self.query is not None:
            found.append(self.query.predicate("a", parameters))
        return found

    def in_turns(self, parameters: Parameters) -> tuple[str, str] | None:
        """The condition by words, and the one of whatever else a query of one token finds, all of which ranks below.

        None where that is not so: a query of more than one token, or terms that rank as well.
        """
        if self.query is None or self.query.token is None or self.narrowing.terms:
            return None
        words, token = self.query.has_words("a", parameters), self.query.has_token("a", parameters)
        beside = self._beside_query(parameters)
        return " AND ".join([words, *beside]), " AND ".join([token, f"({words}) IS NOT TRUE", *beside])

    def _beside_query(self, parameters: Parameters) -> list[str]:
        found = self.narrowing.conditions(parameters)
        if self.since is not None:
            found.append(f"a.updated_at >= {parameters.add(self.since, 'timestamptz')}")
        return found

    def best_first(self, parameters: Parameters) -> list[Key]:
        """The order of a search: the words' rank and the terms' similarities together, then the latest."""
        parts = self.narrowing.similarities(parameters)
        if self.query is not None:
            parts.append(f"coalesce(ts_rank_cd(a.search, {self.query.tsquery(parameters)}), 0)")
        return [Key(" + ".join(parts) or "0", "DESC"), Key("a.updated_at", "DESC"), LAST_KEY]


def read(
    columns: Sequence[ColumnDef],
    problems: list[Problem],
    *,
    collection: str = "",
    query: str | None = None,
    where: Any = None,
    since: datetime | None = None,
) -> Match:
    """Return what a request asks of a collection of this id; what is wrong with it is added to the problems."""
    return Match(_query(query, problems), wheres.read(where, columns, problems, collection), _since(since, problems))


def limit_problem(limit: int) -> Problem | None:
    """Why a page cannot have this many rows, or None."""
    return None if 1 <= limit <= MAX_PAGE else Problem(None, f"limit must be from 1 to {MAX_PAGE}; got {limit}")


def _query(query: str | None, problems: list[Problem]) -> Query | None:
    if query is None:
        return None
    try:
        return queries.parse(query)
    except Unprocessable as error:
        problems += error.problems or [Problem(None, error.message)]
        return None


def _since(since: datetime | None, problems: list[Problem]) -> datetime | None:
    if since is None:
        return None
    # A time without a zone would mean whatever the server's is.
    if since.tzinfo is None:
        problems.append(Problem(None, "since must have a timezone (Z or an offset)"))
        return None
    try:
        return since.astimezone(UTC)
    except OverflowError:
        problems.append(Problem(None, "since must lie within the years 1 to 9999 of UTC"))
        return None
