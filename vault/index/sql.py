"""Turns a parsed query and its filters into SQL with bound values."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from vault.index.entry import SearchFilters
from vault.index.query import AnyOf, Node, Query, Term

if TYPE_CHECKING:
    from pathspec import PathSpec
    from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

GRAM = 3  # characters: the trigram table knows nothing shorter
_COLUMNS = ("title", "name", "tags", "body")

# Scripts that put no spaces between words, so that a word of a query stands inside a longer run.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)

Condition = tuple[str, list[object]]


def quoted(text: str) -> str:
    """The text as one FTS5 phrase, without operators."""
    return '"' + text.replace('"', '""') + '"'


def has_word(term: Term) -> bool:
    """True if the term holds anything that the word table indexes."""
    return any(char.isalnum() for char in term.text)


def words_expression(query: Query) -> str:
    """An FTS5 expression that holds for any of the wanted terms; empty if they hold no words."""
    return " OR ".join(quoted(term.text) for term in query.wanted if has_word(term))


def query_condition(node: Node, *, wanted: bool = True) -> Condition:
    """The rows that a query selects. An unwanted word excludes as a word only: NOT cat keeps `concatenate`."""
    if isinstance(node, Term):
        return _term(node, wanted=wanted)
    if isinstance(node, AnyOf):
        return _joined(" OR ", [query_condition(option, wanted=wanted) for option in node.options])
    parts = [query_condition(child, wanted=wanted) for child in node.wanted]
    for child in node.unwanted:
        sql, values = query_condition(child, wanted=not wanted)
        parts.append((f"NOT {sql}", values))
    return _joined(" AND ", parts)


def filter_conditions(filters: SearchFilters, now: str) -> list[Condition]:
    """One condition for each filter that is set; `now` is the time at which expiry is judged."""
    conditions = [
        *_among("r.project", filters.projects),
        *_among("r.kind", filters.kinds),
        *_among("r.status", filters.statuses),
    ]
    if filters.exclude_kinds:
        conditions.append((f"r.kind NOT IN ({_marks(filters.exclude_kinds)})", list(filters.exclude_kinds)))
    conditions += [("EXISTS (SELECT 1 FROM json_each(r.tags) WHERE lower(value) = lower(?))", [tag]) for tag in filters.tags]
    if filters.path is not None:
        conditions.append(("covers(r.path_patterns, ?)", [filters.path]))
    if filters.as_of is not None:
        conditions.append(("r.created <= ?", [filters.as_of]))
    if not filters.include_expired:
        conditions.append(("(r.expires_at IS NULL OR r.expires_at > ?)", [now]))
    return conditions


def covers(patterns_json: str, path: str) -> bool:
    """True if one of a record's path patterns is the path, matches it, or lies below it."""
    patterns: list[str] = json.loads(patterns_json)
    wanted = path.removeprefix("./").rstrip("/")
    if any(pattern.rstrip("/") == wanted or pattern.startswith(wanted + "/") for pattern in patterns):
        return True
    spec = _spec(tuple(patterns))
    return spec.match_file(wanted)


@lru_cache(maxsize=4096)
def _spec(patterns: tuple[str, ...]) -> "PathSpec[GitIgnoreBasicPattern]":
    from pathspec import PathSpec
    from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

    compiled = []
    for pattern in patterns:
        try:
            compiled.append(GitIgnoreBasicPattern(pattern if "/" not in pattern else "/" + pattern.lstrip("/")))
        except ValueError:  # no pattern: only its own text covers anything
            continue
    return PathSpec(compiled, backend="simple")


def _term(term: Term, *, wanted: bool) -> Condition:
    parts: list[Condition] = []
    text, inside = term.text, _UNSPACED.search(term.text) is not None or not has_word(term)
    if has_word(term):
        parts.append(("r.id IN (SELECT rowid FROM words WHERE words MATCH ?)", [quoted(text)]))
    if len(text) >= GRAM and (wanted or inside):
        parts.append(("r.id IN (SELECT rowid FROM grams WHERE grams MATCH ?)", [quoted(text)]))
    elif inside:
        parts.append((" OR ".join(f"instr(r.{column}, ?)" for column in _COLUMNS), [text] * len(_COLUMNS)))
    return _joined(" OR ", parts)


def _joined(operator: str, parts: Sequence[Condition]) -> Condition:
    return "(" + operator.join(sql for sql, _ in parts) + ")", [value for _, values in parts for value in values]


def _among(column: str, values: Sequence[str]) -> Iterable[Condition]:
    return [(f"{column} IN ({_marks(values)})", list(values))] if values else []


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
