"""Random operations of callers of every role, in two organisations, against the store and against a small model of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from models.caller import Caller
from models.errors import MunimentError
from models.kinds import AccessMode, NoteLevel, SubjectType
from models.paths import note_path, parse
from store import collections, grants, invariants, notes, record_list, records
from store.database import Database
from tests import world as worlds
from tests.store.model import Model, Refused, Table
from tests.store.tables import LEADS

Answer = TypeVar("Answer")

ROLES = ("operator", "ada", "bob", "cyd", "loner", "stranger", "foreign_agent")
AGENTS = ("ada", "bob", "cyd", "loner")
# Whoever may do more is drawn more often, so that refusals do not outweigh answers.
CALLERS = st.sampled_from(("operator", "operator", "ada", "ada", "bob", *ROLES))
LEVELS = st.sampled_from(("AGENT", "GUILD", "ORG"))
OWNERS = st.sampled_from(("ada", "cyd"))
KEYS = st.sampled_from(("plan.md", "plan.md", "%lan.md"))
NAMES = st.sampled_from(("leads", "queue"))
MODES = st.sampled_from((None, "NONE", "READ", "WRITE"))
PLACES = st.integers(0, 5)
EMAILS = st.sampled_from(("a@x", "A@X ", "b@x", "cafe\u0301@x", "CAFÉ@x", ""))
STATUS = st.sampled_from(("new", "won", "lost", "new", "won", "lost", "bad"))
BODIES = st.fixed_dictionaries({"status": STATUS}, optional={"email": EMAILS, "score": st.integers(-1, 2)}) | st.just({"email": "b@x"})
PATCHES = st.fixed_dictionaries({}, optional={"email": st.none() | EMAILS, "status": st.none() | STATUS, "score": st.none() | st.just(7)})


class Store(RuleBasedStateMachine):
    """One example: two organisations of its own, in a database that examples share."""

    dsn = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.db = Database(self.dsn, size=3)
        self.model = Model()
        self.ids: dict[int, str] = {}

    def teardown(self) -> None:
        self.runner.run(self.db.close())
        self.runner.close()

    @initialize()
    def two_organisations(self) -> None:
        self.world = self.runner.run(worlds.build(self.db))
        self.callers: dict[str, Caller] = {role: getattr(self.world, role) for role in ROLES}
        owners = (("leads", None, "operator"), ("queue", self.world.writers, "operator"), ("leads", None, "stranger"))
        for name, guild, role in owners:
            caller = self.callers[role]
            made = self.runner.run(collections.create(self.db, caller, name=name, purpose="Try.", columns=LEADS, guild_id=guild))
            table = Table(caller.org_id, name, guild)
            self.model.tables.append(table)
            self.ids[id(table)] = made.id
            for body in ({"status": "new", "email": "a@x"}, {"status": "won"}, {"status": "lost", "email": "b@x", "score": 3}):
                self.runner.run(records.add(self.db, caller, name, body))
                self.model.record_add(caller, name, body)
        self.grants_access(0, "bob", guild=True, mode="READ")
        self.grants_access(0, "ada", guild=False, mode="WRITE")

    def same(self, real: Awaitable[Answer], expected: Callable[[], Any], shown: Callable[[Answer], Any]) -> None:
        """Both answer, and alike, or both refuse with one code."""

        async def run() -> Answer:
            return await real

        try:
            answer = shown(self.runner.run(run()))
        except MunimentError as error:
            answer = error.code
        try:
            wanted = expected()
        except Refused as refusal:
            wanted = str(refusal)
        assert answer == wanted

    def number(self, caller: Caller, name: str, place: int) -> int:
        """The id of a record of the table that the name means in the caller's organisation; the last place is of one that there is not."""
        table = next((table for table in self.model.tables if (table.org, table.name) == (caller.org_id, name)), None)
        live = sorted(table.records) if table else []
        return [*live, 99][min(place, len(live))]

    def place(self, caller: Caller, level: str, owner: Caller) -> tuple[str, str]:
        """Whose note it is, and its path's prefix: of the caller itself, or for operators of whoever was drawn."""
        mine = owner if not caller.is_agent and owner.org_id == caller.org_id else caller
        ids = {"AGENT": mine.id, "GUILD": mine.guild_id or "", "ORG": caller.org_id}
        return ids[level], note_path(caller.org_id, NoteLevel(level), ids[level], "")

    @rule(role=CALLERS, level=LEVELS, key=KEYS, owner=OWNERS, content=st.text("ab\n", max_size=3))
    def writes_a_note(self, role: str, level: str, key: str, owner: str, content: str) -> None:
        caller = self.callers[role]
        mine = self.callers[owner] if role == "operator" else self.callers["foreign_agent"] if role == "stranger" else caller
        owner_id, prefix = self.place(caller, level, mine)
        given = None if caller.is_agent else owner_id
        self.same(
            notes.write(self.db, caller, NoteLevel(level), key, content, given),
            lambda: self.model.note_write(caller, level, owner_id or "none", prefix + key, content),
            lambda note: note.version,
        )
        self.reads_back(prefix + key)

    def reads_back(self, path: str) -> None:
        """What an operator finds at the path now."""
        operator = self.world.operator
        if path.startswith(f"org/{operator.org_id}/") and "//" not in path:
            found = notes.get(self.db, operator, path)
            self.same(found, lambda: self.model.note_get(operator, "ORG", operator.org_id, path), lambda note: note.content)

    @precondition(lambda self: any(path.startswith(f"org/{self.world.org}/") for path in self.model.versions))
    @rule(role=CALLERS, place=PLACES, delete=st.booleans())
    def reads_or_deletes_a_note(self, role: str, place: int, delete: bool) -> None:
        caller = self.callers[role]
        # A live note mostly, and now and then one that was.
        paths = [path for path in self.model.versions if path.startswith(f"org/{self.world.org}/")]
        paths.sort(key=lambda path: (path not in self.model.notes, path))
        path = paths[place % len(paths)]
        parsed = parse(path, self.world.org)
        level, owner_id = parsed.level, parsed.owner_id
        if caller.org_id != self.world.org:
            foreign = (notes.delete if delete else notes.get)(self.db, caller, path)
            self.same(foreign, lambda: "NOT_FOUND", lambda _note: "an answer")
        elif delete:
            deleted = notes.delete(self.db, caller, path)
            self.same(deleted, lambda: self.model.note_delete(caller, level, owner_id, path), lambda change: change.version)
            self.reads_back(path)
        else:
            read = notes.get(self.db, caller, path)
            self.same(read, lambda: self.model.note_get(caller, level, owner_id, path), lambda note: note.content)

    @rule(role=CALLERS, name=NAMES, body=BODIES)
    def adds_a_record(self, role: str, name: str, body: dict[str, Any]) -> None:
        caller = self.callers[role]
        self.same(
            records.add(self.db, caller, name, body),
            lambda: self.model.record_add(caller, name, body),
            lambda added: (int(added.record.id), added.record.version, added.merged is not None),
        )

    @rule(role=CALLERS, name=NAMES, place=PLACES, patch=PATCHES)
    def updates_a_record(self, role: str, name: str, place: int, patch: dict[str, Any]) -> None:
        caller = self.callers[role]
        number = self.number(caller, name, place)
        self.same(
            records.update(self.db, caller, name, str(number), patch),
            lambda: self.model.record_update(caller, name, number, patch),
            lambda updated: updated.record.version,
        )

    @rule(role=CALLERS, name=NAMES, place=PLACES)
    def removes_a_record(self, role: str, name: str, place: int) -> None:
        caller = self.callers[role]
        number = self.number(caller, name, place)

        def expected() -> str:
            self.model.record_remove(caller, name, number)
            return str(number)

        self.same(records.remove(self.db, caller, name, str(number)), expected, lambda removed: removed)

    @rule(role=CALLERS, name=NAMES)
    def lists_the_records(self, role: str, name: str) -> None:
        caller = self.callers[role]

        def expected() -> list[tuple[int, dict[str, Any], int]]:
            found = self.model.table(caller, name).records
            return [(number, found[number].body, found[number].version) for number in sorted(found)]

        self.same(
            record_list.list_records(self.db, caller, collection=name, limit=100),
            expected,
            lambda page: [(int(row.id), json.loads(row.body), row.version) for row in page.records],
        )

    @rule(role=CALLERS, name=NAMES)
    def counts_records_without_an_email(self, role: str, name: str) -> None:
        caller = self.callers[role]

        def expected() -> int:
            found = self.model.table(caller, name).records.values()
            return sum("email" not in record.body for record in found)

        self.same(
            record_list.list_records(self.db, caller, collection=name, where={"email": None}),
            expected,
            lambda page: page.total,
        )

    @rule(
        place=st.integers(0, 2), subject=st.sampled_from(AGENTS), guild=st.booleans(), mode=st.sampled_from((None, "NONE", "READ", "WRITE"))
    )
    def grants_access(self, place: int, subject: str, guild: bool, mode: str | None) -> None:
        table, whom = self.model.tables[place], self.callers[subject]
        caller = self.world.operator
        kind = "GUILD" if guild else "AGENT"
        subject_id = (whom.guild_id or "none") if guild else whom.id
        set_it = grants.set_grant(
            self.db,
            caller,
            collection_id=self.ids[id(table)],
            subject_type=SubjectType(kind),
            subject_id=subject_id,
            mode=None if mode is None else AccessMode(mode),
        )

        def expected() -> str:
            if table.org != caller.org_id or subject_id == "none":
                raise Refused("NOT_FOUND")
            self.model.grant(table, kind, whom, mode)
            return "done" if guild else table.mode(whom)

        self.same(set_it, expected, lambda row: "done" if guild else row.effective)

    @precondition(lambda self: any(len(table.records) > 2 for table in self.model.tables))
    @rule(place=st.integers(0, 2), role=st.sampled_from(("operator", "ada", "stranger")))
    def clears_a_table(self, place: int, role: str) -> None:
        table, caller = self.model.tables[place], self.callers[role]

        def expected() -> int:
            if caller.is_agent:
                raise Refused("FORBIDDEN")
            if table.org != caller.org_id:
                raise Refused("NOT_FOUND")
            return self.model.clear(table)

        self.same(collections.clear(self.db, caller, self.ids[id(table)]), expected, lambda dropped: dropped)

    @rule(role=CALLERS)
    def sees_the_tables_that_are_its_own(self, role: str) -> None:
        caller = self.callers[role]
        seen = self.runner.run(collections.listed(self.db, caller))
        expected = sorted((table.name, table.mode(caller), len(table.records)) for table in self.model.tables)
        assert [(row.name, row.access, row.record_count) for row in seen] == [found for found in expected if found[1] != "NONE"]

    @rule()
    def everything_stored_is_sound(self) -> None:
        for org in (self.world.org, self.world.stranger.org_id):
            assert self.runner.run(invariants.findings(self.db, org)) == []


def test_the_store_answers_as_its_model_does(dsn: str) -> None:
    Store.dsn = dsn
    patience = settings(
        max_examples=50, stateful_step_count=60, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
    )
    run_state_machine_as_test(Store, settings=patience)

    async def all_of_it() -> list[invariants.Finding]:
        db = await Database(dsn, size=1).open()
        found = await invariants.findings(db)
        await db.close()
        return found

    assert asyncio.run(all_of_it()) == []
