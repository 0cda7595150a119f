"""The answer of a recordAdd under its key: the same key and body again within a day answers as the first did."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from models.caller import Caller
from models.clock import now
from models.errors import Conflict, Problem, Unprocessable
from models.json_text import canonical
from models.limits import NAME_CHARACTERS
from models.text import check, printable
from store import record_rows
from store.database import Row, Writer

KEPT = timedelta(hours=24)

# The answer is kept as JSON and comes back as the columns of a record, so that no reader can tell it from a fresh one.
_STORED_RECORD = """r (file_id text, id text, collection text, collection_id text, display_path text, body jsonb, version int,
    created_at timestamptz, created_by_kind text, created_by_id text, created_by_name text,
    updated_at timestamptz, updated_by_kind text, updated_by_id text, updated_by_name text)"""
_FIND = f"""SELECT i.body_hash, i.answer->>'merged' AS merged, r.*
    FROM idempotency_keys i, jsonb_to_record(i.answer->'record') AS {_STORED_RECORD}
    WHERE i.org_id = $1 AND i.caller_id = $2 AND i.collection_id = $3 AND i.key = $4 AND i.created_at > $5"""
_KEEP = f"""INSERT INTO idempotency_keys (org_id, caller_id, collection_id, key, body_hash, answer, created_at)
    SELECT $1, $4, $5, $6, $7, jsonb_build_object('merged', $8::text, 'record', to_jsonb(r)), $9
    FROM ({record_rows.SELECT} AND a.collection_id = $2 AND a.number = $3) r"""
_EXPIRE = "DELETE FROM idempotency_keys WHERE org_id = $1 AND created_at <= $2"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an add answered: the record as it was then, and the id it was merged into, if it was."""

    record: Row
    merged: str | None


def check_key(key: str) -> None:
    """Refuse what is no key; raises Unprocessable."""
    check(idempotency_key=key)
    if not key.strip() or len(key) > NAME_CHARACTERS:
        message = f"must have 1 to {NAME_CHARACTERS} characters; got {len(key)}" if key.strip() else "is blank"
        raise Unprocessable(f"the idempotency key {message}", problems=[Problem("idempotencyKey", message)])


async def recall(writer: Writer, caller: Caller, collection_id: str, key: str, body: Any) -> Answer | None:
    """What the key answered within the last day; the table must be locked. Raises Conflict where it came with another body."""
    found = await writer.row(_FIND, caller.org_id, caller.id, collection_id, key, now() - KEPT)
    if found is None:
        return None
    if found.body_hash != _hash(body):
        raise Conflict(f"the idempotency key {printable(key)} was used with another body; take a new key for a new record")
    return Answer(found, found.merged)


async def keep(writer: Writer, caller: Caller, key: str, body: Any, answer: Answer) -> None:
    """Keep the answer for a day, in the transaction that wrote the record; what is older in the organisation goes."""
    # Whoever adds with keys also clears away the old ones, so that no job has to run for the table to stay small.
    record, at = answer.record, now()
    await prune(writer, caller.org_id)
    which = (caller.org_id, record.collection_id, int(record.id))
    await writer.execute(_KEEP, *which, caller.id, record.collection_id, key, _hash(body), answer.merged, at)


async def prune(writer: Writer, org_id: str) -> int:
    """How many keys of the organisation were past their day and are gone."""
    return await writer.execute(_EXPIRE, org_id, now() - KEPT)


def _hash(body: Any) -> bytes | None:
    """The digest of a body, or None for one that nests so deeply that no record can have been made of it."""
    try:
        return hashlib.sha256(canonical(body).encode()).digest()
    except RecursionError:
        return None
