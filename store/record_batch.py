"""Adding many records at once: all or nothing, in a fixed number of statements however many they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from models import columns as dialect
from models.caller import Caller
from models.clock import now
from models.errors import LimitExceeded, Unprocessable
from models.json_text import shown
from models.limits import BATCH_BODIES, RECORDS_PER_COLLECTION
from models.paths import record_path
from store import access, record_plan, record_rows
from store.changes import INSERT_COLUMNS
from store.database import Database, Row, Writer
from store.record_plan import BatchProblem, Draft, Plan

_COUNT = """UPDATE artifact_collections SET next_id = next_id + $3, record_count = record_count + $3, revision = revision + 1
    WHERE org_id = $1 AND id = $2 RETURNING next_id - $3"""
# Records of a table that had this name before may have left versions at the same paths.
_LAST = f"""SELECT p.path, {record_rows.last_version("p.path")} AS version FROM unnest($2::text[]) AS p (path)"""
_INSERT = """INSERT INTO artifacts (org_id, id, kind, level, owner_id, key, collection_id, number, version, content_json, identity,
        identity_hash, search_blob, search, search_words, created_at, created_by_kind, created_by_id, created_by_name,
        updated_at, updated_by_kind, updated_by_id, updated_by_name)
    SELECT $1, n.id, 'OBJECT', 'ORG', $1, n.number::text, $2, n.number, n.version,
        n.body::jsonb, n.identity, n.digest, n.blob, n.search, n.search_words,
        $12, $13, $14, $15, $12, $13, $14, $15
    FROM unnest($3::text[], $4::bigint[], $5::int[], $6::text[], $7::text[], $8::bytea[], $9::text[], $10::tsvector[], $11::text[])
        AS n (id, number, version, body, identity, digest, blob, search, search_words)"""
_UPDATE = """UPDATE artifacts a SET version = n.version, content_json = n.body::jsonb, identity = n.identity, identity_hash = n.digest,
        search_blob = n.blob, search = n.search, search_words = n.search_words,
        updated_at = $12, updated_by_kind = $13, updated_by_id = $14, updated_by_name = $15
    FROM unnest($3::text[], $4::bigint[], $5::int[], $6::text[], $7::text[], $8::bytea[], $9::text[], $10::tsvector[], $11::text[])
        AS n (id, number, version, body, identity, digest, blob, search, search_words)
    WHERE a.org_id = $1 AND a.collection_id = $2 AND a.id = n.id"""
_CHANGES = f"""INSERT INTO file_changes ({INSERT_COLUMNS})
    SELECT $1, n.id, n.path, n.event, NULL, 'RECORD', n.operation, n.version, NULL, NULL, $2, $8, $9, $10, $11, $12, $13, $14
    FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::int[]) WITH ORDINALITY
        AS n (id, path, event, operation, version, place) ORDER BY n.place"""
_WRITTEN = f"{record_rows.SELECT} AND a.collection_id = $2 AND a.id = ANY($3::text[])"


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch did. `records` answers the bodies one for one, as the records stand after all of it; empty for a dry run.

    `steps` has for each body the id of its record's file and whether it went there as a patch.
    """

    added: int
    merged: int
    records: list[Row]
    problems: list[BatchProblem]
    steps: tuple[tuple[str, bool], ...] = ()


async def add_many(db: Database, caller: Caller, collection: str, bodies: Sequence[Any], *, dry_run: bool = False) -> BatchResult:
    """Up to 500 bodies, all or nothing: with any problem nothing is written. A dry run writes nothing and says the same.

    Raises NotFound and Forbidden as access.for_write, Unprocessable for more bodies, LimitExceeded beyond 10,000 records.
    """
    _require_batch(bodies)
    if dry_run:
        async with db.snapshot() as reader:
            row = await access.for_write(reader, caller, collection)
            made = await record_plan.plan(reader, caller.org_id, row.id, dialect.load(row.columns), bodies)
            return _outcome(row, made, [])
    async with db.write() as writer:
        row = await access.locked_for_write(writer, caller, collection)
        return await add_many_in(writer, caller, row, bodies)


async def add_many_in(writer: Writer, caller: Caller, collection: Row, bodies: Sequence[Any], *, with_records: bool = True) -> BatchResult:
    """The same within a transaction that has locked the table, for any number of bodies; `collection` is as the lock returned it.

    Called again in the same transaction, take the collection's row again first: its count of records has changed.
    """
    made = await record_plan.plan(writer, caller.org_id, collection.id, dialect.load(collection.columns), bodies)
    result = _outcome(collection, made, [])
    if result.problems or not bodies:
        return result
    await carry_out(writer, caller, collection, made)
    return _outcome(collection, made, await written(writer, caller, collection, made) if with_records else [])


async def carry_out(writer: Writer, caller: Caller, collection: Row, made: Plan) -> None:
    """Write a plan without problems, within a transaction that has locked the table."""
    _require_room(collection, made)
    writer.touched.add(caller.org_id)
    await _number(writer, caller, collection, made)
    bases = await _bases(writer, caller, collection, made)
    # Counting the changes also counts each draft up to the version that it is stored with.
    new, changes = set(made.new), _changes(collection, made, bases)
    who = (caller.kind, caller.id, caller.name)
    at = now()
    # No update touches an identity that an insert takes: both would be one draft of the plan.
    for statement, drafts in ((_INSERT, made.new), (_UPDATE, [draft for draft in made.drafts if draft not in new])):
        if drafts:
            await writer.execute(statement, caller.org_id, collection.id, *_stored(made, drafts, bases), at, *who)
    run = (caller.run_id, caller.tool_call_id, caller.tool_name)
    await writer.execute(_CHANGES, caller.org_id, collection.id, *changes, *who, *run, at)


async def written(writer: Writer, caller: Caller, collection: Row, made: Plan) -> list[Row]:
    """The stored record of each body, in the order of the bodies."""
    ids = [draft.file_id for draft in made.drafts]
    # Read back rather than put together, so that each is what every later reader sees.
    rows = {row.file_id: row for row in await writer.rows(_WRITTEN, caller.org_id, collection.id, ids)}
    return [rows[draft.file_id] for draft, _ in made.steps]


def _require_batch(bodies: Any) -> None:
    if not isinstance(bodies, list | tuple):
        raise Unprocessable(f"bodies must be a list of record bodies; got {shown(bodies)}")
    if len(bodies) > BATCH_BODIES:
        raise Unprocessable(f"at most {BATCH_BODIES} bodies can be added at once; got {len(bodies)}")


def _require_room(collection: Row, made: Plan) -> None:
    if (total := collection.record_count + len(made.new)) > RECORDS_PER_COLLECTION:
        raise LimitExceeded(f"collection {collection.name} would have {total:,} records; the limit is {RECORDS_PER_COLLECTION:,}")


def _outcome(collection: Row, made: Plan, records: list[Row]) -> BatchResult:
    # Problems are the answer, not an error: whoever sent 500 bodies wants to know about each of them.
    if made.problems:
        return BatchResult(0, 0, [], made.problems)
    _require_room(collection, made)
    return BatchResult(len(made.new), made.merged, records, [], tuple((draft.file_id, patch) for draft, patch in made.steps))


async def _number(writer: Writer, caller: Caller, collection: Row, made: Plan) -> None:
    new = made.new
    first: int = await writer.value(_COUNT, caller.org_id, collection.id, len(new))
    for number, draft in enumerate(new, first):
        draft.number = number


async def _bases(writer: Writer, caller: Caller, collection: Row, made: Plan) -> dict[Draft, int]:
    """The version that each draft's record, or its path under a former table of that name, has by now."""
    paths = {draft: record_path(caller.org_id, collection.name, draft.number) for draft in made.drafts}
    last = {row.path: row.version for row in await writer.rows(_LAST, caller.org_id, list(paths.values()))}
    return {draft: max(draft.version, last[path]) for draft, path in paths.items()}


def _changes(collection: Row, made: Plan, bases: dict[Draft, int]) -> tuple[list[Any], ...]:
    """The trail's rows in the order of the bodies; counts each draft's version in `bases` up to its last."""
    rows = []
    for draft, patch in made.steps:
        bases[draft] += 1
        path = f"{collection.display_path}/{draft.number}"
        event, operation = (path, "UPDATE") if patch else (collection.display_path, "CREATE")
        rows.append((draft.file_id, path, event, operation, bases[draft]))
    return tuple(list(part) for part in zip(*rows, strict=True))


def _stored(made: Plan, drafts: Sequence[Draft], versions: dict[Draft, int]) -> tuple[list[Any], ...]:
    rows = [(d.file_id, d.number, versions[d], *record_rows.forms(made.columns, d.body)) for d in drafts]
    return tuple(list(part) for part in zip(*rows, strict=True))
