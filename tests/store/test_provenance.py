from collections.abc import Iterable

import pytest

from models.cursor import Cursor
from models.errors import Forbidden, Unprocessable
from models.kinds import FileKind
from models.paths import agent_path
from store import memory, notes, provenance, records
from store.database import Database, Row
from tests.store.rows import a_note_path, a_record_path, a_table_path, add_change, add_collection, add_note, add_records, column
from tests.store.tables import add_table
from tests.world import World, add_run


def _seen(rows: Iterable[Row]) -> list[tuple[str, str, int | None]]:
    return [(row.display_path.rpartition("/")[2], row.operation, row.version) for row in rows]


def _cursor(row: Row) -> Cursor:
    return Cursor(row.xid, row.change_id)


async def _write_notes(db: Database, world: World) -> None:
    for key in ("a.md", "b.md"):
        for version in (1, 2, 3):
            operation = "CREATE" if version == 1 else "UPDATE"
            path = a_note_path(world.operator, key)
            await add_change(db, world.operator, FileKind.NOTE, f"id-{key}", path, version, operation=operation)


async def test_history_is_newest_first_and_pages_without_gap_or_repeat(db: Database, world: World) -> None:
    await _write_notes(db, world)
    pages, before = [], None
    while page := await provenance.history(db, world.operator, limit=4, before=before):
        pages.append(_seen(page))
        before = _cursor(page[-1])
    assert pages == [
        [("b.md", "UPDATE", 3), ("b.md", "UPDATE", 2), ("b.md", "CREATE", 1), ("a.md", "UPDATE", 3)],
        [("a.md", "UPDATE", 2), ("a.md", "CREATE", 1)],
    ]


async def test_history_of_a_path_ends_with_the_move_away(db: Database, world: World) -> None:
    await _write_notes(db, world)
    old, new = a_note_path(world.operator, "a.md"), a_note_path(world.operator, "c.md")
    await add_change(db, world.operator, FileKind.NOTE, "id-a.md", new, 4, operation="MOVE", previous_path=old)
    await add_change(db, world.operator, FileKind.NOTE, "id-a.md", new, 5)
    assert _seen(await provenance.history(db, world.operator, display_path=old)) == [
        ("c.md", "MOVE", 4),
        ("a.md", "UPDATE", 3),
        ("a.md", "UPDATE", 2),
        ("a.md", "CREATE", 1),
    ]
    first = await provenance.history(db, world.operator, display_path=old, limit=2)
    rest = await provenance.history(db, world.operator, display_path=old, limit=2, before=_cursor(first[-1]))
    assert _seen(rest) == [("a.md", "UPDATE", 2), ("a.md", "CREATE", 1)]
    assert _seen(await provenance.history(db, world.operator, display_path=new)) == [("c.md", "UPDATE", 5), ("c.md", "MOVE", 4)]


async def test_history_of_a_run_alone_and_with_a_path(db: Database, world: World) -> None:
    run, other = await add_run(db, world.ada), await add_run(db, world.ada)
    path = a_note_path(world.operator, "a.md")
    await add_change(db, world.ada.in_call(run, "call-1", "note_write"), FileKind.NOTE, "n", path, 1, operation="CREATE")
    await add_change(db, world.ada.in_call(other, "call-2", "note_write"), FileKind.NOTE, "n", path, 2)
    await add_change(db, world.ada.in_call(run, "call-3", "record_add"), FileKind.RECORD, "r", a_record_path(world.ada, "leads", 1), 1)
    of_run = await provenance.history(db, world.operator, run_id=run)
    assert [(row.tool_call_id, row.tool_name, row.run_id, row.actor_name) for row in of_run] == [
        ("call-3", "record_add", run, "Ada"),
        ("call-1", "note_write", run, "Ada"),
    ]
    assert [row.tool_call_id for row in await provenance.history(db, world.operator, run_id=run, display_path=path)] == ["call-1"]
    assert await provenance.history(db, world.operator, run_id="unknown") == []


async def test_history_and_latest_are_for_operators_of_the_organisation(db: Database, world: World) -> None:
    await _write_notes(db, world)
    path = a_note_path(world.operator, "a.md")
    with pytest.raises(Forbidden, match="fileChanges is for operators"):
        await provenance.history(db, world.ada)
    with pytest.raises(Forbidden, match="latestFileChanges is for operators"):
        await provenance.latest(db, world.ada, [path])
    assert await provenance.history(db, world.stranger) == []
    assert await provenance.history(db, world.stranger, display_path=path) == []
    assert await provenance.latest(db, world.stranger, [path]) == []
    assert await provenance.latest_of(db, world.stranger.org_id, [("id-a.md", path)]) == {}
    assert await provenance.changes_of(db, world.stranger.org_id, [path]) == {path: []}


@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_a_limit_out_of_range_is_refused(db: Database, world: World, limit: int) -> None:
    with pytest.raises(Unprocessable, match=rf"^limit must be from 1 to 100; got {limit}$"):
        await provenance.history(db, world.operator, limit=limit)
    with pytest.raises(Unprocessable, match=rf"^limit must be from 1 to 100; got {limit}$"):
        await provenance.changes_of(db, world.org, ["x"], limit=limit)


async def test_paths_that_are_no_text_and_too_many_paths_are_refused(db: Database, world: World) -> None:
    with pytest.raises(Unprocessable) as refused:
        await provenance.latest(db, world.operator, ["a\x00.md", "ok.md", "\ud800"])
    assert len(refused.value.problems) == 2
    with pytest.raises(Unprocessable, match="501 paths are too many for one request; at most 500 are allowed"):
        await provenance.latest(db, world.operator, ["x"] * 501)
    with pytest.raises(Unprocessable):
        await provenance.history(db, world.operator, display_path="\x00")


async def test_latest_answers_in_the_order_asked_once_each_without_unknown_paths(db: Database, world: World) -> None:
    await _write_notes(db, world)
    a, b = (a_note_path(world.operator, key) for key in ("a.md", "b.md"))
    asked = [b, "nonsense", a_note_path(world.operator, "none.md"), f"org/{world.stranger.org_id}/x.md", a, b, "vault/p/decisions/d.md"]
    await add_change(db, world.operator, FileKind.VAULT, "d", "vault/p/decisions/d.md", None)
    assert _seen(await provenance.latest(db, world.operator, asked)) == [
        ("b.md", "UPDATE", 3),
        ("a.md", "UPDATE", 3),
        ("d.md", "UPDATE", None),
    ]
    assert await provenance.latest(db, world.operator, []) == []


async def test_latest_falls_back_to_the_saved_facts_of_live_files(db: Database, world: World) -> None:
    columns = [column("name")]
    table = await add_collection(db, world.operator, "leads", columns)
    await add_records(db, world.operator, table, [{"name": "A"}, {"name": "B"}])
    await add_note(db, world.operator, "n.md", version=7)
    async with db.write() as tx:
        await tx.execute("UPDATE artifacts SET deleted_at = now() WHERE number = 2")
        await tx.execute("UPDATE agents SET task = 'Work.', task_version = 2 WHERE id = $1", world.ada.id)
    paths = [
        a_record_path(world.operator, "leads", 1),
        a_record_path(world.operator, "leads", 2),
        a_record_path(world.operator, "leads", 99999999999999999999),
        a_table_path(world.operator, "leads"),
        a_note_path(world.operator, "n.md"),
        agent_path(world.org, world.ada.id, "task.md"),
        agent_path(world.org, world.bob.id, "task.md"),
    ]
    rows = await provenance.latest(db, world.operator, paths)
    assert [(row.display_path, row.kind, row.operation, row.version, row.actor_name, row.recorded) for row in rows] == [
        (paths[0], "RECORD", "CREATE", 1, "Olga", False),
        (paths[3], "COLLECTION", "CREATE", 1, "Olga", False),
        (paths[4], "NOTE", "UPDATE", 7, "Olga", False),
        (paths[5], "TASK", "UPDATE", 2, "muniment", False),
    ]
    assert {(row.xid, row.change_id, row.run_id) for row in rows} == {(0, 0, None)}


async def test_a_live_file_does_not_take_the_change_of_another_at_its_path(db: Database, world: World) -> None:
    path = a_table_path(world.operator, "leads")
    old = await add_collection(db, world.operator, "leads", [column("name")])
    await add_change(db, world.operator, FileKind.COLLECTION, old, path, 1, operation="CREATE", collection_id=old)
    async with db.write() as tx:
        await tx.execute("UPDATE artifact_collections SET name = 'former' WHERE id = $1", old)
    assert [row.file_id for row in await provenance.latest(db, world.operator, [path])] == [old]
    new = await add_collection(db, world.operator, "leads", [column("name")])
    (row,) = await provenance.latest(db, world.operator, [path])
    assert (row.file_id, row.recorded) == (new, False)
    assert (await provenance.latest_of(db, world.org, [(new, path)]))[new, path].recorded is False


async def test_a_record_changed_under_another_name_of_its_table_is_not_shown_by_its_older_change(db: Database, world: World) -> None:
    table = await add_collection(db, world.operator, "leads", [column("name")])
    (record,) = await add_records(db, world.operator, table, [{"name": "A"}])
    path = a_record_path(world.operator, "leads", 1)
    change = await add_change(db, world.operator, FileKind.RECORD, record, path, 1, operation="CREATE", collection_id=table)
    assert (await provenance.latest_of(db, world.org, [(record, path)]))[record, path].change_id == change.change_id
    async with db.write() as tx:
        await tx.execute("UPDATE artifacts SET version = 2, updated_by_name = 'Ada' WHERE id = $1", record)
    (row,) = (await provenance.latest_of(db, world.org, [(record, path)])).values()
    assert (row.version, row.actor_name, row.recorded) == (2, "Ada", False)


async def test_latest_of_a_moved_note_is_its_move_and_the_old_path_answers_with_it(db: Database, world: World) -> None:
    old, new = a_note_path(world.operator, "a.md"), a_note_path(world.operator, "b.md")
    note = await add_note(db, world.operator, "b.md", version=2)
    await add_change(db, world.operator, FileKind.NOTE, note, old, 1, operation="CREATE")
    move = await add_change(db, world.operator, FileKind.NOTE, note, new, 2, operation="MOVE", previous_path=old)
    rows = await provenance.latest(db, world.operator, [old, new])
    assert [(row.change_id, row.display_path) for row in rows] == [(move.change_id, new), (move.change_id, new)]


async def test_changes_of_many_paths_are_limited_each_and_page(db: Database, world: World) -> None:
    await _write_notes(db, world)
    a, b = (a_note_path(world.operator, key) for key in ("a.md", "b.md"))
    found = await provenance.changes_of(db, world.org, [b, "unknown", a], limit=2)
    assert {path: _seen(rows) for path, rows in found.items()} == {
        b: [("b.md", "UPDATE", 3), ("b.md", "UPDATE", 2)],
        "unknown": [],
        a: [("a.md", "UPDATE", 3), ("a.md", "UPDATE", 2)],
    }
    older = await provenance.changes_of(db, world.org, [a], limit=2, before=_cursor(found[a][-1]))
    assert _seen(older[a]) == [("a.md", "CREATE", 1)]
    assert await provenance.changes_of(db, world.org, []) == {}


async def test_changes_of_a_record_are_those_of_the_table_that_has_the_name(db: Database, world: World) -> None:
    path = a_record_path(world.operator, "leads", 1)
    table = await add_collection(db, world.operator, "leads", [column("name")])
    await add_change(db, world.operator, FileKind.RECORD, "old", path, 9, collection_id="another-table")
    await add_change(db, world.operator, FileKind.RECORD, "new", path, 1, operation="CREATE", collection_id=table)
    assert [row.file_id for row in (await provenance.changes_of(db, world.org, [path]))[path]] == ["new"]
    assert [row.file_id for row in await provenance.history(db, world.operator, display_path=path)] == ["new", "old"]


async def test_a_file_deleted_since_it_was_read_is_shown_by_its_end(db: Database, world: World) -> None:
    await add_table(db, world.operator)
    kept = (await records.add(db, world.operator, "leads", {"status": "new"}, idempotency_key="key")).record
    await records.remove(db, world.operator, "leads", "1")
    again = (await records.add(db, world.operator, "leads", {"status": "new"}, idempotency_key="key")).record
    assert (again.file_id, again.version) == (kept.file_id, 1)
    (change,) = (await provenance.latest_of(db, world.org, [(kept.file_id, kept.display_path)])).values()
    assert (change.operation, change.version, change.recorded) == ("DELETE", 2, True)


async def test_an_archived_memory_is_shown_by_its_saved_facts(db: Database, world: World) -> None:
    await memory.write(db, world.ada, "One.")
    await memory.write(db, world.operator, "Two.", agent_id=world.ada.id)
    (revision,) = (await memory.revisions(db, world.operator, [world.ada.id]))[world.ada.id]
    note = await notes.get(db, world.operator, revision.display_path)
    (change,) = (await provenance.latest_of(db, world.org, [(note.id, note.display_path)])).values()
    assert (change.display_path, change.kind, change.version, change.actor_name) == (revision.display_path, "MEMORY", 1, "Ada")
    assert (change.recorded, change.at) == (False, revision.saved_at)
    assert await provenance.latest_of(db, world.stranger.org_id, [(note.id, note.display_path)]) == {}
