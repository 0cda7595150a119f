"""Every query and mutation, tried by every role: who may, who is refused and how, and that a refusal changes nothing."""

import pytest

from schema import sdl
from store.database import Database
from tests.schema.asking import SCHEMA
from tests.schema.roles import ROLES, again, furnish, outcome
from tests.world import World

OK, NULL, NOBODY = "ok", "null", "UNAUTHENTICATED"
FORBIDDEN, UNKNOWN, WRONG, CONFLICT = "FORBIDDEN", "NOT_FOUND", "UNPROCESSABLE", "CONFLICT"


def by_role(*outcomes: str) -> list[str]:
    """The outcome for each of ROLES, in that order; nobody, the last, is always told so."""
    return [*outcomes, NOBODY]


def operators(stranger: str) -> list[str]:
    """An operation that is an operator's: every agent is refused; another organisation's operator knows none of the ids."""
    return by_role(OK, *[FORBIDDEN] * 5, stranger, FORBIDDEN)


EVERYBODY = by_role(*[OK] * 8)
HERE = by_role(*[OK] * 6, NULL, NULL)
READ_TABLE = by_role(OK, OK, OK, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
WRITE_TABLE = by_role(OK, OK, FORBIDDEN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
OWN = by_role(OK, OK, *[UNKNOWN] * 6)

CASES = {
    # the directory
    "query { viewer { id } }": EVERYBODY,
    "query { organisation { id } }": EVERYBODY,
    "query { organisation { guilds { name } agents { name } collections { name } notes { key } } }": EVERYBODY,
    "query { guild(id: $guildId) { name } }": HERE,
    "query { agent(id: $agentId) { name } }": HERE,
    "query { run(id: $runId) { kind } }": HERE,
    "query { guild(id: $guildId) { collectionAccess { effective } } }": by_role(OK, *[FORBIDDEN] * 5, NULL, NULL),
    "query { agent(id: $agentId) { collectionAccess { effective } } }": by_role(OK, OK, *[FORBIDDEN] * 4, NULL, NULL),
    "query { agent(id: $agentId) { task { content } } }": by_role(OK, OK, *[FORBIDDEN] * 4, NULL, NULL),
    "query { agent(id: $agentId) { task { revisions { content } } } }": by_role(OK, *[FORBIDDEN] * 5, NULL, NULL),
    "query { agent(id: $agentId) { memory { content } } }": by_role(OK, OK, *[FORBIDDEN] * 4, NULL, NULL),
    "query { agent(id: $agentId) { memory { revisions { content } } } }": by_role(OK, *[FORBIDDEN] * 5, NULL, NULL),
    "query { agent(id: $agentId) { scripts { content } } }": by_role(OK, OK, *[FORBIDDEN] * 4, NULL, NULL),
    "query { agent(id: $agentId) { state { task } } }": by_role(OK, OK, *[FORBIDDEN] * 4, NULL, NULL),
    "query { agent(id: $agentId) { routines { name } } }": HERE,
    "query { run(id: $runId) { changes { cursor } } }": by_role(OK, *[FORBIDDEN] * 5, NULL, NULL),
    'mutation { guildCreate(name: "New") { id } }': operators(OK),
    "mutation { guildDelete(id: $guildId) }": operators(UNKNOWN),
    'mutation { agentCreate(name: "New") { id } }': operators(OK),
    "mutation { agentUpdate(id: $agentId, writeOrg: true) { id } }": operators(UNKNOWN),
    "mutation { agentDelete(id: $agentId) }": operators(UNKNOWN),
    'mutation { runStart(agentId: $agentId, kind: "chat") { id } }': operators(UNKNOWN),
    'mutation { runFinish(id: $runId, status: "done") { id } }': operators(UNKNOWN),
    'mutation { routineSave(agentId: $agentId, name: "weekly", instruction: "Go.") { id } }': operators(UNKNOWN),
    "mutation { routineDelete(id: $routineId) }": operators(UNKNOWN),
    "mutation { routineFire(id: $routineId) { instruction } }": operators(UNKNOWN),
    # notes
    'query { noteFind(query: "of") { notes { key } } }': EVERYBODY,
    "query { noteGet(path: $orgNote) { key } }": by_role(*[OK] * 6, UNKNOWN, UNKNOWN),
    "query { noteGet(path: $guildNote) { key } }": by_role(OK, OK, OK, UNKNOWN, OK, UNKNOWN, UNKNOWN, UNKNOWN),
    "query { noteGet(path: $agentNote) { key } }": OWN,
    "query { notes(level: ORG) { key } }": operators(OK),
    "query { notes(level: GUILD, ownerId: $guildId) { key } }": operators(UNKNOWN),
    'mutation { noteWrite(level: ORG, key: "n.md", content: "x") { key } }': by_role(OK, *[FORBIDDEN] * 5, OK, FORBIDDEN),
    'mutation { noteWrite(level: GUILD, key: "n.md", content: "x") { key } }': by_role(WRONG, OK, OK, FORBIDDEN, OK, OK, WRONG, OK),
    'mutation { noteWrite(level: AGENT, key: "n.md", content: "x") { key } }': by_role(WRONG, OK, OK, OK, OK, OK, WRONG, OK),
    'mutation { noteWrite(level: GUILD, key: "n.md", content: "x", ownerId: $guildId) { key } }': by_role(OK, *[WRONG] * 5, UNKNOWN, WRONG),
    'mutation { noteWrite(level: AGENT, key: "n.md", content: "x", ownerId: $agentId) { key } }': by_role(OK, *[WRONG] * 5, UNKNOWN, WRONG),
    "mutation { noteDelete(path: $orgNote) { cursor } }": by_role(OK, *[FORBIDDEN] * 5, UNKNOWN, UNKNOWN),
    "mutation { noteDelete(path: $guildNote) { cursor } }": by_role(OK, OK, OK, UNKNOWN, OK, UNKNOWN, UNKNOWN, UNKNOWN),
    "mutation { noteDelete(path: $agentNote) { cursor } }": OWN,
    'mutation { noteMove(path: $orgNote, level: ORG, key: "n.md") { key } }': operators(UNKNOWN),
    # tables and records
    "query { collections { name } }": EVERYBODY,
    'query { collection(name: "leads") { name } }': by_role(OK, OK, OK, *[NULL] * 5),
    "query { collection(id: $tableId) { name } }": by_role(OK, OK, OK, *[NULL] * 5),
    "query { collection(id: $tableId) { grants { mode } } }": by_role(OK, FORBIDDEN, FORBIDDEN, *[NULL] * 5),
    'query { record(collection: "leads", id: 1) { id } }': by_role(OK, OK, OK, *[NULL] * 5),
    'query { recordList(collection: "leads") { total } }': READ_TABLE,
    'query { recordSearch(query: "new", collection: "leads") { records { id } } }': READ_TABLE,
    'query { recordSearch(query: "new") { records { id } } }': EVERYBODY,
    'mutation { recordAdd(collection: "leads", body: $body) { merged } }': WRITE_TABLE,
    'mutation { recordUpdate(collection: "leads", id: 1, body: $body) { record { id } } }': WRITE_TABLE,
    'mutation { recordRemove(collection: "leads", id: 1) { removed } }': WRITE_TABLE,
    'mutation { recordAddMany(collection: "leads", bodies: [$body]) { added } }': WRITE_TABLE,
    'mutation { recordAddMany(collection: "leads", bodies: [$body], dryRun: true) { added } }': WRITE_TABLE,
    'mutation { recordAdd(collection: "own", body: $body) { merged } }': by_role(OK, *[UNKNOWN] * 4, OK, UNKNOWN, UNKNOWN),
    'mutation { collectionCreate(name: "new", purpose: "P.", columns: []) { id } }': by_role(WRONG, *[FORBIDDEN] * 5, WRONG, FORBIDDEN),
    'mutation { collectionUpdate(id: $tableId, purpose: "P.") { id } }': operators(UNKNOWN),
    "mutation { collectionUpdate(id: $tableId, guildId: $guildId) { id } }": operators(UNKNOWN),
    "mutation { collectionClear(id: $tableId) }": operators(UNKNOWN),
    "mutation { collectionDelete(id: $tableId) { cursor } }": operators(UNKNOWN),
    "mutation { grantSet(collectionId: $tableId, subjectType: AGENT, subjectId: $agentId) { effective } }": operators(UNKNOWN),
    # the files of an agent
    'mutation { taskSave(agentId: $agentId, content: "Do.") { version } }': operators(UNKNOWN),
    'mutation { memoryWrite(content: "third") { version } }': by_role(WRONG, OK, OK, OK, OK, OK, WRONG, OK),
    'mutation { memoryWrite(content: "third", agentId: $agentId) { version } }': by_role(OK, *[WRONG] * 5, UNKNOWN, WRONG),
    "mutation { memoryRestore(path: $revision) { version } }": operators(UNKNOWN),
    "query { memoryRevision(path: $revision) { content } }": by_role(OK, *[UNKNOWN] * 7),
    'mutation { scriptWrite(name: "n.py", content: "x") { version } }': by_role(WRONG, OK, OK, OK, OK, OK, WRONG, OK),
    'mutation { scriptWrite(name: "n.py", content: "x", agentId: $agentId) { version } }': by_role(OK, *[WRONG] * 5, UNKNOWN, WRONG),
    "query { script(path: $script) { content } }": OWN,
    "mutation { scriptDelete(path: $script) { cursor } }": OWN,
    "query { embeddable { markup } }": operators(OK),
    # provenance
    "query { fileChanges { cursor } }": operators(OK),
    "query { fileChanges(displayPath: $record) { cursor } }": operators(OK),
    "query { latestFileChanges(displayPaths: [$record]) { cursor } }": operators(OK),
    # the vault, which is not served here
    "query { vaultProjects }": by_role(*[UNKNOWN] * 8),
    'query { vaultRecord(id: "x") { id } }': by_role(*[UNKNOWN] * 8),
    'query { vaultRecords(project: "p") { id } }': by_role(*[UNKNOWN] * 8),
    'query { vaultSearch(query: "x") { rank } }': by_role(*[UNKNOWN] * 8),
    'query { vaultView(project: "p", name: "TRAPS") }': by_role(*[UNKNOWN] * 8),
    'mutation { vaultUpsert(project: "p", kind: "trap", body: "b") { created } }': by_role(*[UNKNOWN] * 8),
    'mutation { vaultAppend(project: "p", event: "e") { id } }': by_role(*[UNKNOWN] * 8),
    'mutation { vaultForget(project: "p", id: "x") }': by_role(*[UNKNOWN] * 8),
}


@pytest.mark.parametrize("operation", CASES)
async def test_each_role_has_its_answer(db: Database, world: World, operation: str) -> None:
    furnished = await furnish(db, world)
    found = {}
    # Those who are refused come first, so that nobody finds what another has changed.
    expected = dict(zip(ROLES, CASES[operation], strict=True))
    for role in sorted(ROLES, key=lambda role: (expected[role] == OK, role == "operator")):
        found[role] = await outcome(furnished, role, operation)
        if found[role] == OK and operation.startswith("mutation"):
            furnished = await furnish(db, await again(db))
    assert found == expected


async def test_every_field_is_tried() -> None:
    roots = [SCHEMA.engine.schema.query_type, SCHEMA.engine.schema.mutation_type]
    missing = [field for root in roots if root for field in root.fields if not any(f"{field}" in case for case in CASES)]
    assert missing == []
    assert "type Mutation" in sdl()
