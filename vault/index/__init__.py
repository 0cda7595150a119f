"""The search index: disposable, rebuilt from the files whenever it is missing, stale or broken."""

from vault.index.database import Index
from vault.index.entry import Hit, IndexEntry, SearchFilters
from vault.index.query import Query, parse_query

__all__ = ["Hit", "Index", "IndexEntry", "Query", "SearchFilters", "parse_query"]
