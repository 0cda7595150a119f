"""Whether a PostgreSQL server is one that the product can rely on."""

from typing import NamedTuple

from store.database import Reader

OLDEST = 14

_FACTS = """SELECT current_setting('server_version_num')::int AS number, split_part(current_setting('server_version'), ' ', 1) AS version,
    current_setting('server_encoding') AS encoding, (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation,
    (SELECT extversion FROM pg_extension WHERE extname = 'pg_trgm') AS trigrams,
    'ÉCLAIR' ILIKE 'éclair' AS folds, current_setting('fsync') AS fsync, current_setting('transaction_read_only') AS read_only,
    (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace) AS broken_indexes"""


class Check(NamedTuple):
    """One thing that was looked at: its name, `ok`, `note` or `broken`, and what to tell of it."""

    what: str
    state: str
    text: str


async def of_server(reader: Reader) -> list[Check]:
    """What was found, in the order in which people look for it."""
    facts = await reader.row(_FACTS)
    if facts is None:
        raise RuntimeError("a statement without FROM returned no row")
    old = facts.number // 10_000 < OLDEST
    return [
        _check("database", f"PostgreSQL {facts.version}", f"{OLDEST} or later is needed" if old else None),
        _check("encoding", facts.encoding, None if facts.encoding == "UTF8" else "make the database with ENCODING 'UTF8'"),
        _check(
            "locale", facts.collation, None if facts.folds else "É and é are not one letter here; make the database with a UTF-8 locale"
        ),
        _check("extension", f"pg_trgm {facts.trigrams}", None if facts.trigrams else "run `muniment migrate`"),
        _check("writing", f"read-only is {facts.read_only}", None if facts.read_only == "off" else "this is a standby; give the primary"),
        _check(
            "durability", f"fsync is {facts.fsync}", None if facts.fsync == "on" else "a power cut may lose acknowledged writes", "note"
        ),
        _check("indexes", f"{facts.broken_indexes} invalid", "REINDEX them" if facts.broken_indexes else None),
    ]


def _check(what: str, found: str, fault: str | None, state: str = "broken") -> Check:
    return Check(what, state, f"{found}; {fault}") if fault else Check(what, "ok", found)
