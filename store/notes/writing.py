"""Creating or replacing a note: one statement where nothing stands in the way, a closer look in a transaction where it does."""

from models import identity, words
from models.caller import Caller
from models.clock import new_id, now
from models.errors import Problem, Unprocessable, VersionConflict
from models.kinds import NoteLevel
from models.limits import ARTIFACTS_PER_OWNER, NOTE_BYTES
from models.numbers import version_fault
from models.paths import check_key, note_path
from models.text import check_size, fault
from store import capacity
from store.changes import INSERT_COLUMNS, LAST_VERSION
from store.database import Database, Row, Writer
from store.notes import owners
from store.notes.columns import COLUMNS
from store.notes.reading import ONE
from store.notes.rights import owner_of, reads, require_write

_LIVE_KEY = "org_id = $1 AND owner_id = $3 AND kind = 'NOTE' AND key = $4 AND deleted_at IS NULL"
# A deleted note's row keeps the version of its deletion, so the rows know a path's last version even when old changes are pruned.
_PAST = "(SELECT max(p.version) FROM artifacts p WHERE p.org_id = $1 AND p.owner_id = $3 AND p.kind = 'NOTE' AND p.key = $4)"
_CHANGE = f"""INSERT INTO file_changes ({INSERT_COLUMNS})
    SELECT $1, s.id, $2, $2, NULL, 'NOTE', {{operation}}, s.version, $7, $3, NULL, $9, $10, $11, $12, $13, $14, $8 FROM saved s"""

# $1 organisation, $2 path, $3 owner, $4 key, $5 content, $6 search text, $7 level, $8 time, $9-$11 actor, $12-$14 run and tool call,
# $15 and $16 the words of the search text.
_PUT = {
    level: f"""WITH owner AS MATERIALIZED ({owners.held(level, "$3")}), seen AS MATERIALIZED (SELECT 1 FROM artifacts WHERE {_LIVE_KEY}),
    saved AS (INSERT INTO artifacts AS a (org_id, id, kind, level, owner_id, key, content, search_blob, search, search_words, version,
            created_at, created_by_kind, created_by_id, created_by_name, updated_at, updated_by_kind, updated_by_id, updated_by_name)
        SELECT $1, $17::text, 'NOTE', $7::text, $3, $4, $5::text, $6::text, $15::tsvector, $16::text,
            CASE WHEN EXISTS (SELECT FROM seen) THEN 1 ELSE greatest({LAST_VERSION}, {_PAST}) + 1 END,
            $8::timestamptz, $9::text, $10::text, $11::text, $8, $9, $10, $11
        FROM owner WHERE EXISTS (SELECT FROM seen) OR {capacity.count("$3")} < $18::bigint
        ON CONFLICT (org_id, owner_id, kind, key) WHERE deleted_at IS NULL AND kind <> 'OBJECT'
        DO UPDATE SET content = excluded.content, search_blob = excluded.search_blob,
            search = excluded.search, search_words = excluded.search_words, version = a.version + 1,
            updated_at = excluded.updated_at, updated_by_kind = excluded.updated_by_kind,
            updated_by_id = excluded.updated_by_id, updated_by_name = excluded.updated_by_name, written_by_agent = NULL
        WHERE NOT $19::boolean
        RETURNING a.*, (a.xmax = 0) AS created),
    change AS ({_CHANGE.format(operation="CASE WHEN s.created THEN 'CREATE' ELSE 'UPDATE' END")})
    SELECT {COLUMNS} FROM saved a"""
    for level in NoteLevel
}

_REPLACE = f"""WITH saved AS (UPDATE artifacts a SET content = $5::text, search_blob = $6::text,
        search = $15::tsvector, search_words = $16::text, version = a.version + 1,
        updated_at = $8::timestamptz, updated_by_kind = $9::text, updated_by_id = $10::text, updated_by_name = $11::text,
        written_by_agent = NULL
        WHERE {_LIVE_KEY} AND version = $17::int RETURNING a.*),
    change AS ({_CHANGE.format(operation="'UPDATE'")})
    SELECT {COLUMNS} FROM saved a"""


class _Note:
    """A note to be written, checked."""

    def __init__(self, caller: Caller, level: NoteLevel, owner: str, *, key: str, content: str, expected: int | None) -> None:
        self.org, self.level, self.owner, self.key, self.content, self.expected = caller.org_id, level, owner, key, content, expected
        self.path = note_path(caller.org_id, level, owner, key)
        who = (caller.kind, caller.id, caller.name, caller.run_id, caller.tool_call_id, caller.tool_name)
        blob = identity.note_blob(key, content)
        self._values = (self.org, self.path, owner, key, content, blob, level, now(), *who, *words.index(blob))

    async def put(self, writer: Writer, limit: int) -> Row | None:
        """Write it in one statement; None where its owner, the owner's cap or the expected version stands in the way."""
        writer.touched.add(self.org)
        if self.expected:
            return await writer.row(_REPLACE, *self._values, self.expected)
        return await writer.row(_PUT[self.level], *self._values, new_id(), limit, self.expected == 0)


async def write(
    db: Database,
    caller: Caller,
    level: NoteLevel,
    key: str,
    content: str,
    owner_id: str | None = None,
    expected_version: int | None = None,
) -> Row:
    """Create or replace a note; the note as it is now. `expected_version` 0 means only if there is none.

    Raises Unprocessable, LimitExceeded, Forbidden, NotFound for an unknown owner, VersionConflict.
    """
    owner = owner_of(caller, level, owner_id)
    require_write(caller, level, owner)
    _check(key, level, content, expected_version)
    note = _Note(caller, level, owner, key=key, content=content, expected=expected_version)
    async with db.write_once() as writer:
        if row := await note.put(writer, capacity.FAST_LIMIT):
            return row
        writer.touched.clear()
    # Why the first statement did nothing is found out under locks, where it cannot change again.
    async with db.write() as writer:
        return await _settle(writer, caller, note)


async def _settle(writer: Writer, caller: Caller, note: _Note) -> Row:
    """Write it with its owner locked and its present version known, or say why that cannot be."""
    await owners.hold(writer, note.org, note.level, note.owner)
    current = await writer.row(f"{ONE} FOR UPDATE", note.org, note.owner, note.key)
    version = current.version if current else 0
    if note.expected is not None and note.expected != version:
        # Only for those who may read it: others could guess the text until they are right.
        if current and current.content == note.content and reads(caller, note.level, note.owner):
            return current
        raise VersionConflict(note.path, expected=note.expected, current=version)
    if current is None:
        await capacity.claim(writer, note.org, note.owner)
    if (row := await note.put(writer, ARTIFACTS_PER_OWNER)) is None:
        # Only a note that somebody else made since we looked is left as a reason.
        made = await writer.row(ONE, note.org, note.owner, note.key)
        raise VersionConflict(note.path, expected=0, current=made.version if made else 0)
    return row


def _check(key: str, level: NoteLevel, content: str, expected_version: int | None) -> None:
    problems: list[Problem] = []
    try:
        check_key(key, level)
    except Unprocessable as refusal:
        problems += refusal.problems
    if reason := fault(content):
        problems.append(Problem("content", reason))
    if reason := version_fault(expected_version):
        problems.append(Problem("expectedVersion", reason))
    if problems:
        raise Unprocessable.listing("note rejected", problems)
    check_size("this note", content, NOTE_BYTES)
