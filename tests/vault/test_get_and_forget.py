import json
from typing import Any

import pytest

from tests.vault.conftest import SteppingClock, snapshot
from vault import Vault
from vault.errors import AmbiguousId, InvalidArguments, PathRefused, RecordNotFound, UnreadableRecord


def test_lookup_order(vault: Any) -> None:
    vault.upsert("p", "spec", "by file", slug="name", frontmatter={"id": "other"})
    vault.upsert("p", "plan", "by id", slug="plan-file", frontmatter={"id": "name2"})
    assert vault.get("p", kind="spec", slug="name").body == "by file"
    assert vault.get("p", kind="spec", slug="NAME").body == "by file"
    assert vault.get("p", "name").body == "by file"
    assert vault.get("p", "name2").body == "by id"
    assert vault.get("p", kind="plan", slug="name") is None
    assert vault.get("p", "nobody") is None


def test_an_id_that_two_files_carry_is_refused_unless_one_is_named_so(vault: Any) -> None:
    vault.upsert("p", "spec", "x", slug="a", frontmatter={"id": "same"})
    vault.upsert("p", "plan", "y", slug="b", frontmatter={"id": "same"})
    for call in (vault.get, vault.forget):
        with pytest.raises(AmbiguousId, match=r"projects/p/plans/b.md, projects/p/specs/a.md"):
            call("p", "same")
    vault.upsert("p", "decision", "z", slug="same")
    assert vault.get("p", "same").body == "z"


def test_only_one_match_of_a_sibling_counts(vault: Any) -> None:
    vault.upsert("q", "trap", "of q", slug="x")
    vault.upsert("q", "scratch", "private", slug="note")
    vault.upsert("q", "review", "private", slug="rev")
    vault.upsert("q", "state", "private", slug="st")
    assert vault.get("p", "x") is None
    assert vault.get("p", "x", siblings=True).project == "q"
    assert vault.get("p", kind="trap", slug="x", siblings=True).project == "q"
    assert [vault.get("p", name, siblings=True) for name in ("note", "rev", "st")] == [None, None, None]
    vault.upsert("r", "trap", "of r", slug="x")
    assert vault.get("p", "x", siblings=True) is None
    vault.upsert("p", "trap", "own", slug="x")
    assert vault.get("p", "x", siblings=True).body == "own"


@pytest.mark.parametrize("arguments", [{}, {"kind": "trap"}, {"slug": "x"}, {"kind": "bug", "slug": "x"}])
def test_a_lookup_needs_an_id_or_kind_and_slug(vault: Any, arguments: Any) -> None:
    with pytest.raises(InvalidArguments):
        vault.get("p", **arguments)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "x\0", "\uff0e\uff0e\uff0fx"])
def test_a_lookup_never_leaves_the_project(vault: Any, name: Any) -> None:
    for arguments in ({"record_id": name}, {"kind": "trap", "slug": name}):
        with pytest.raises(PathRefused):
            vault.get("p", **arguments)
        with pytest.raises(PathRefused):
            vault.forget("p", **arguments)


def test_an_unreadable_file_is_named(vault: Any) -> None:
    vault.upsert("p", "trap", "fine", slug="fine")
    (vault.root / "projects/p/traps/bad.md").write_bytes(b"---\nid: \xff\n---\n")
    with pytest.raises(UnreadableRecord, match=r"projects/p/traps/bad.md: the file is not UTF-8"):
        vault.get("p", "bad")
    assert [record.id for record in vault.list_records("p")] == ["fine"]


def test_hits_count_once_per_session(vault: Any, clock: SteppingClock) -> None:
    for kind in ("trap", "log"):
        vault.upsert("p", kind, "text", slug=kind)
    clock.step(minutes=1)
    for session in ("s1", "s1", "s2", None):
        vault.get("p", "trap", session_id=session)
        vault.get("p", "log", session_id=session)
    vault.get("p", "trap", count_hit=False)
    trap, log = (vault.get("p", name, count_hit=False).frontmatter for name in ("trap", "log"))
    assert (trap["hits"], trap["lastHit"], trap["updated"]) == (3, "2026-06-04T12:01:00.000Z", "2026-06-04T12:00:00.000Z")
    assert "hits" not in log


def test_archiving_keeps_the_file(vault: Any, clock: SteppingClock, events: Any) -> None:
    vault.upsert("p", "plan", "text", slug="x")
    clock.step(hours=1)
    assert vault.forget("p", "x").to_dict() == {"id": "x", "status": "archived", "purged": False}
    record = vault.get("p", "x", count_hit=False)
    assert (record.status, record.updated, record.body) == ("archived", "2026-06-04T13:00:00.000Z", "text")
    assert events[-1] == ("p", "plan", "vault/p/plans/x.md", "UPDATE", "x")


def test_purging_removes_the_file_and_leaves_a_tombstone(vault: Any, events: Any) -> None:
    vault.upsert("p", "plan", "purgeable words", slug="x")
    assert vault.search("purgeable", "p")[0].record.id == "x"
    assert vault.forget("p", kind="plan", slug="x", purge=True).to_dict() == {"id": "x", "status": "purged", "purged": True}
    assert vault.get("p", "x") is None
    assert vault.search("purgeable", "p") == []
    assert "x" not in [line.split("|")[1].strip() for line in vault.view("p", "index").splitlines() if line.startswith("| ")]
    stone = json.loads((vault.root / "tombstones/p.jsonl").read_text())
    assert stone == {"id": "x", "kind": "plan", "subdir": "plans", "slug": "x", "purged": "2026-06-04T12:00:00.000Z"}
    assert events[-1] == ("p", "plan", "vault/p/plans/x.md", "DELETE", "x")


@pytest.mark.parametrize("project", ["p", "q"])
def test_a_miss_changes_nothing(vault: Any, events: Any, project: Any) -> None:
    vault.upsert("p", "plan", "text", slug="x")
    before = snapshot(vault.root)
    with pytest.raises(RecordNotFound, match=f'^Record not found: "nobody" in project {project}$'):
        vault.forget(project, "nobody")
    with pytest.raises(RecordNotFound, match="Record not found"):
        vault.feedback(project, "helpful", "nobody")
    assert snapshot(vault.root) == before
    assert len(events) == 1
    assert vault.projects() == ["p"]


def test_feedback_and_the_stale_flag(vault: Any) -> None:
    vault.upsert("p", "trap", "text", slug="x")
    for verdict in ("stale", "wrong", "helpful", "not_helpful", "Not-Helpful"):
        record = vault.feedback("p", verdict, "x")
    data = record.frontmatter
    assert (data["staleCount"], data["helpfulCount"], data["lastFeedback"], data["lastHit"]) == (2, 1, data["updated"], data["updated"])
    assert "stale" not in record.to_dict()
    record = vault.feedback("p", "stale", "x")
    assert record.to_dict()["stale"] is True
    assert vault.list_records("p")[0].stale is True
    with pytest.raises(InvalidArguments, match="verdict must be helpful, not_helpful, stale or wrong"):
        vault.feedback("p", "meh", "x")


def test_events_are_never_rewritten(vault: Any) -> None:
    first = vault.append("p", "Deployed", details={"kind": "log", "project": "p", "title": "T", "n": 1, "body": "kept"})
    second = vault.append("p", "Deployed")
    assert first.id.startswith("log-2026-06-04T12-00-00-000Z-")
    assert (first.kind, first.project, first.created, first.title, first.frontmatter["n"]) == (
        "log",
        "p",
        "2026-06-04T12:00:00.000Z",
        "T",
        1,
    )
    assert first.id != second.id
    assert first.frontmatter["body"] == "kept"
    assert (first.key.subdir, vault.append("p", "x", kind="review").key.subdir) == ("logs", "reviews")
    assert vault.get("p", first.id).body == "Deployed"


@pytest.mark.parametrize(
    "arguments",
    [
        {"event": ""}, {"event": "x", "kind": "bug"}, {"event": "x", "details": [1]}, {"event": "x", "details": {"hits": -1}},
        *({"event": "x", "details": {key: "PR-17"}} for key in ("id", "slug", "kind", "project", "created", "expired")),
    ],
)  # fmt: skip
def test_a_refused_append_writes_nothing(vault: Any, arguments: Any) -> None:
    with pytest.raises(InvalidArguments):
        vault.append("p", **arguments)
    assert not (vault.root / "projects").exists()


def test_gc_takes_what_has_expired(vault: Any, clock: SteppingClock) -> None:
    vault.upsert("p", "scratch", "a", slug="a")
    vault.upsert("p", "scratch", "b", slug="b", frontmatter={"ttl": "30d"})
    vault.upsert("p", "trap", "c", slug="c")
    vault.upsert("q", "review", "d", slug="d")
    clock.step(days=7)
    assert [entry.to_dict() for entry in vault.gc("p", dry_run=True)] == [
        {"project": "p", "id": "a", "kind": "scratch", "path": "vault/p/scratch/a.md", "action": "archived"}
    ]
    assert vault.get("p", "a").status == "active"
    assert [entry.id for entry in vault.gc()] == ["a"]
    assert vault.get("p", "a").status == "archived"
    assert vault.gc("p") == []
    clock.step(days=7)
    assert [(entry.id, entry.action) for entry in vault.gc(purge=True)] == [("a", "purged"), ("d", "purged")]
    assert vault.get("p", "a") is None
    assert {record.id for record in vault.list_records("p")} == {"b", "c"}


def test_lists_leave_out_what_has_expired(vault: Any, clock: SteppingClock) -> None:
    vault.upsert("p", "scratch", "a", slug="a", frontmatter={"tags": ["x", "y"]})
    clock.step(hours=1)
    vault.upsert("p", "trap", "b", slug="b", frontmatter={"tags": ["x"], "status": "paused"})
    ids = lambda **filters: [record.id for record in vault.list_records("p", **filters)]  # noqa: E731  short on purpose
    assert ids() == ["b", "a"]
    assert ids(kind="trap") == ["b"]
    assert ids(status="active") == ["a"]
    assert ids(tags=["x", "y"]) == ["a"]
    assert ids(limit=1) == ["b"]
    clock.step(days=8)
    assert (ids(), ids(include_expired=True)) == (["b"], ["b", "a"])


HAND_WRITTEN = {
    "specs/h1..h2": "h1..h2", "specs/" + "x" * 220: "long", "specs/sl": "team/pool", "specs/control": '"a\\eb"', "specs/up": "../x",
    "specs/A.CONFLICT.b": "y" * 300, "specs/n": "1.10", "specs/swap-a": "swap-b", "specs/swap-b": "swap-a", "plans/misplaced": "misplaced",
}  # fmt: skip


def test_every_record_that_is_listed_is_reachable_by_id_and_by_kind_and_slug(vault: Vault) -> None:
    for place, record_id in HAND_WRITTEN.items():
        path = vault.root / "projects/p" / f"{place}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nid: {record_id}\nkind: spec\nproject: p\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\nbody\n")
    listed = vault.list_records("p")
    assert len(listed) == len(HAND_WRITTEN)
    for record in listed:
        for which in ({"record_id": record.id}, {"kind": "spec", "slug": record.slug}):
            assert vault.get("p", **which).key == record.key  # type: ignore[arg-type,union-attr]
            assert vault.feedback("p", "helpful", **which).key == record.key  # type: ignore[arg-type]
            assert vault.forget("p", **which).record.key == record.key  # type: ignore[arg-type]
        for arguments in ({"slug": record.slug}, {"frontmatter": {"id": record.id}}):
            edited = vault.upsert("p", "spec", f"by {next(iter(arguments))}", **arguments)  # type: ignore[arg-type]
            assert (edited.created, edited.record.key, edited.record.id) == (False, record.key, record.id)
    for record in listed:
        vault.forget("p", kind="spec", slug=record.slug, purge=True)
    assert vault.list_records("p") == []
