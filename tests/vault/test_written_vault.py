"""A vault that people wrote by hand: all ten kinds, comments, odd spacing, own keys."""

import difflib
from typing import Any

import pytest

from tests.vault.conftest import FIXTURE, WIDGET, snapshot
from vault import Vault
from vault.kinds import KINDS

NOTES = "local-notes-1a2b3c4d"


@pytest.fixture
def by_hand(written: Any, clock: Any) -> None:
    return Vault(written, clock=clock)


def changed(written: Any, path: str) -> list[str]:
    old = (FIXTURE / "projects" / path).read_bytes().decode().splitlines(keepends=True)
    new = (written / "projects" / path).read_bytes().decode().splitlines(keepends=True)
    return [line for line in difflib.ndiff(old, new) if line[0] in "+-"]


def test_every_record_is_read(by_hand: Any) -> None:
    records = by_hand.list_records(WIDGET, include_expired=True) + by_hand.list_records(NOTES, include_expired=True)
    assert len(records) == 30
    assert {record.kind for record in records} == set(KINDS)
    assert by_hand.projects() == [WIDGET, NOTES]


def test_reading_changes_no_record(by_hand: Any, written: Any) -> None:
    before = dict(snapshot(FIXTURE).items())
    by_hand.search("pool", WIDGET)
    by_hand.view(WIDGET, "traps")
    by_hand.get(WIDGET, "pool-leak", count_hit=False)
    by_hand.doctor()
    assert {path: data for path, data in snapshot(written).items() if path in before} == before


def test_values_mean_what_their_writer_meant(by_hand: Any) -> None:
    trap = by_hand.get(WIDGET, "pool-leak", count_hit=False)
    assert (trap.frontmatter["ticket"], trap.frontmatter["standup"]) == ("012", "10:00")
    assert trap.frontmatter["owners"] == {"primary": "ines", "backup": "tomás"}
    assert trap.body.endswith("---\n\nA line of three dashes above is part of the body.")
    assert by_hand.get(NOTES, "yaml-norway", count_hit=False).frontmatter["country"] == "no"
    shouted = by_hand.get(WIDGET, "TRAP-007", count_hit=False)
    assert (shouted.kind, shouted.status, shouted.frontmatter["severity"], shouted.created) == (
        "trap",
        "active",
        "medium",
        "2026-02-11T08:00:00.000Z",
    )
    assert by_hand.get(WIDGET, "retry-storm-2", count_hit=False).stale is True
    assert [by_hand.get(WIDGET, name).expired for name in ("idea", "kept", "pr-41", "pr-42")] == [False, False, False, True]


def test_an_upsert_changes_only_the_lines_that_it_means(by_hand: Any, written: Any) -> None:
    result = by_hand.upsert(
        WIDGET,
        "trap",
        by_hand.get(WIDGET, "pool-leak", count_hit=False).body,
        slug="pool-leak",
        frontmatter={"severity": "high", "tags": ["database", "outage", "asyncio"], "title": "Connection pool leaks on timeout"},
    )
    assert (result.created, result.recurrence) == (False, False)
    assert changed(written, f"{WIDGET}/traps/pool-leak.md") == [
        "- severity: critical\n",
        "+ severity: high\n",
        "+     - asyncio\n",
        "- updated: 2026-03-04\n",
        "+ updated: '2026-06-04T12:00:00.000Z'\n",
    ]


def test_crlf_and_bom_survive(by_hand: Any, written: Any) -> None:
    by_hand.forget(WIDGET, "windows-line-ends")
    data = (written / f"projects/{WIDGET}/traps/windows-line-ends.md").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf---\r\n")
    assert changed(written, f"{WIDGET}/traps/windows-line-ends.md") == [
        "- status: active\r\n",
        "+ status: archived\r\n",
        "- updated: 2026-02-01\r\n",
        "+ updated: '2026-06-04T12:00:00.000Z'\r\n",
    ]


def test_a_hit_and_a_verdict_change_two_lines_each(by_hand: Any, written: Any) -> None:
    by_hand.get(WIDGET, "feed")
    by_hand.feedback(WIDGET, "stale", "feed")
    assert changed(written, f"{WIDGET}/specs/feed.md") == [
        "+ hits: 1\n",
        "+ lastHit: '2026-06-04T12:00:00.000Z'\n",
        "+ lastFeedback: '2026-06-04T12:00:00.000Z'\n",
        "+ staleCount: 1\n",
    ]


def test_superseding_a_hand_written_decision(by_hand: Any, written: Any) -> None:
    assert by_hand.upsert(WIDGET, "decision", "A log.", slug="a-log", frontmatter={"supersedes": "event-bus"}).superseded is True
    assert changed(written, f"{WIDGET}/decisions/event-bus.md") == [
        "- status: paused\n",
        "+ status: superseded\n",
        "- updated: 2026-04-06T12:00:00Z\n",
        "+ updated: '2026-06-04T12:00:00.000Z'\n",
    ]


def test_search_finds_accents_and_leaves_scratch_out(by_hand: Any) -> None:
    assert [hit.record.id for hit in by_hand.search("cafe", WIDGET)] == ["search"]
    assert by_hand.search("trigram", WIDGET) == []
    assert [hit.record.id for hit in by_hand.search("trigram", WIDGET, include_scratch=True)] == ["idea"]
    assert {hit.record.project for hit in by_hand.search("one", WIDGET, cross_project=True)} == {WIDGET, NOTES}


def test_doctor_names_what_is_wrong(by_hand: Any) -> None:
    report = by_hand.doctor().to_dict()
    assert (report["ok"], report["projects"], report["records"]) == (False, 2, 30)
    assert [(problem["type"], problem["path"]) for problem in report["problems"]] == [
        ("odd-name", f"projects/{WIDGET}/specs/überblick-notes.md"),
        ("unreadable", f"projects/{NOTES}/plans/broken.md"),
        ("conflict-copy", f"projects/{NOTES}/plans/notes.conflict.md"),
    ]
    assert "project is required; created is required; updated is required" in report["problems"][1]["message"]


def test_doctor_names_duplicates_links_and_wrong_places(by_hand: Any, written: Any) -> None:
    folder = written / f"projects/{WIDGET}/specs"
    text = (folder / "feed.md").read_text()
    (folder / "copy.md").write_text(text.replace("kind: spec", "kind: plan").replace(WIDGET, "other") + "more")
    (folder / "linked.md").symlink_to(folder / "feed.md")
    (folder / "wrong.md").write_text(text.replace("id: feed", "id: wrong\nseverity: awful\nhits: -1"))
    found = {(problem.type, problem.path.rpartition("/")[2]) for problem in by_hand.doctor().problems}
    assert found - {("odd-name", "überblick-notes.md"), ("unreadable", "broken.md"), ("conflict-copy", "notes.conflict.md")} == {
        ("duplicate-id", "copy.md"),
        ("duplicate-id", "feed.md"),
        ("wrong-folder", "copy.md"),
        ("wrong-project", "copy.md"),
        ("symbolic-link", "linked.md"),
        ("invalid-value", "wrong.md"),
    }
