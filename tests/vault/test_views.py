import re
from typing import Any

import pytest

from tests.vault.conftest import WIDGET, SteppingClock, snapshot
from vault import Vault
from vault.errors import InvalidArguments, PathRefused, RecordNotFound


def lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


@pytest.fixture
def hand_written(written: Any, clock: Any) -> None:
    return Vault(written, clock=clock)


def test_traps_are_listed_worst_first_with_their_facts(hand_written: Any) -> None:
    text = hand_written.view(WIDGET, "TRAPS")
    assert text.startswith(
        f"# Traps: {WIDGET}\n\n<!-- Generated from the records; edits here are lost. -->\n\nLast compiled: 2026-06-04T12:00:00.000Z\n\n"
        "Total: 7 (5 active, 2 inactive)\n\n## Active traps\n\n### [CRITICAL] Connection pool leaks on timeout\n\n"
        "Paths: `src/db/**`, `src/api/session.py`\n\n"
        "Severity: critical · Layer: infrastructure · Occurrences: 3 · Hits: 12 · Source: agent · Updated: 2026-03-04T00:00:00.000Z"
        " · Record: [pool-leak](traps/pool-leak.md)\n\n#### Connection pool leaks on timeout\n"
    )
    assert lines(text, "### ") == [
        "### [CRITICAL] Connection pool leaks on timeout",
        "### [HIGH] Retries need jitter and a budget",
        "### [HIGH] Naive datetimes compare wrongly",
        "### [MEDIUM] N+1 in the widget list",
        "### [MEDIUM] Editors on Windows write CRLF",
    ]
    assert text.endswith(
        "## Inactive traps\n\n| ID | Title | Status | Severity | Updated |\n| --- | --- | --- | --- | --- |\n"
        "| old-cache | [The cache is never invalidated](traps/old-cache.md) | archived | low | 2025-09-01T00:00:00.000Z |\n"
        "| retry-storm | [Retries without jitter bring the gateway down](traps/retry-storm.md) | superseded | high |"
        " 2026-04-01T00:00:00.000Z |\n"
    )


def test_decisions_are_counted_and_shown_by_status(hand_written: Any) -> None:
    text = hand_written.view(WIDGET, "decisions.md")
    assert "Total: 5 (accepted 2, proposed 1, superseded 1, archived 1, completed 0)\n" in text
    assert lines(text, "| ")[0] == "| ID | Title | Status | Updated | Supersedes |"
    assert r"| event-bus | [An event bus \| or a table?](decisions/event-bus.md) | paused | 2026-04-06T12:00:00.000Z |  |" in text
    assert (
        "| graphql-first | [GraphQL is the main door](decisions/graphql-first.md) | active | 2026-02-06T12:00:00.000Z | rest-first |"
        in text
    )
    assert lines(text, "#") == [
        f"# Decisions: {WIDGET}",
        "## Summary",
        "## Accepted",
        "### GraphQL is the main door",
        "### PostgreSQL is the only database",
        "## Proposed",
        r"### An event bus \| or a table?",
    ]
    assert "**Rationale**: One system to run, and the search that we need is in it." in text


def test_the_index_counts_durable_kinds_only(hand_written: Any) -> None:
    text = hand_written.view(WIDGET, "index")
    assert lines(text, "| ")[:10] == [
        "| Kind | Active | Total |",
        "| --- | --- | --- |",
        "| trap | 5 | 7 |",
        "| decision | 1 | 5 |",
        "| spec | 1 | 2 |",
        "| plan | 0 | 2 |",
        "| log | 3 | 3 |",
        "| review | 2 | 2 |",
        "| prompt | 2 | 2 |",
        "| session | 0 | 1 |",
    ]
    assert "| search | [How search ranks](specs/search.md) / search | completed | 2026-05-03T00:00:00.000Z |" in text
    assert "current" not in text
    assert "idea" not in text


def test_prompts_and_sessions(hand_written: Any) -> None:
    prompts = hand_written.view(WIDGET, "prompts")
    assert "| zed | 2 |" in prompts
    assert (
        "| [prompt-s-81-t2](prompts/prompt-s-81-t2.md) | 2026-06-02T07:00:00.000Z | zed | opus | s-81 | 2 |"
        " Please find out why the pool is empty after a timeout, and … |"
    ) in prompts
    assert lines(hand_written.view(WIDGET, "sessions"), "| [") == [
        "| [session-s-81](sessions/session-s-81.md) | s-81 | completed | pool-leak | zed | 1h 05m | pr #41, commit deadbee | 2026-06-01T07:00:00.000Z |"  # noqa: E501  one row
    ]


def test_fifty_prompts_are_shown(vault: Any, clock: SteppingClock) -> None:
    for turn in range(1, 53):
        clock.step(seconds=1)
        vault.upsert("p", "prompt", "x", frontmatter={"sessionId": "s", "turn": turn})
    rows = lines(vault.view("p", "prompts"), "| [")
    assert (len(rows), rows[0][:20], rows[-1][:19]) == (50, "| [prompt-s-t52](pro", "| [prompt-s-t3](pro")


def test_every_change_moves_the_record_in_the_views(vault: Any) -> None:
    vault.upsert("p", "trap", "body one", slug="x", frontmatter={"severity": "low"})
    vault.upsert("p", "trap", "other words here", slug="y", frontmatter={"severity": "high"})
    assert lines(vault.view("p", "traps"), "### ") == ["### [HIGH] other words here", "### [LOW] body one"]
    vault.upsert("p", "trap", "body two", slug="x", frontmatter={"severity": "critical", "title": "X"})
    assert lines(vault.view("p", "traps"), "### ") == ["### [CRITICAL] X", "### [HIGH] other words here"]
    vault.forget("p", "x")
    assert lines(vault.view("p", "traps"), "### ") == ["### [HIGH] other words here"]
    assert "| x | [X](traps/x.md) | archived | critical |" in vault.view("p", "traps")
    vault.forget("p", "x", purge=True)
    assert "x.md" not in vault.view("p", "traps")


def strip(text: str) -> str:
    return re.sub(r"Last compiled: \S+", "", text)


def test_piecewise_views_equal_views_made_from_nothing(vault: Any, clock: SteppingClock) -> None:
    for number in range(60):
        clock.step(minutes=1)
        kind = ("trap", "decision", "log", "state", "prompt", "session", "spec", "review")[number * 7 % 8]
        status = ("active", "paused", "archived", "superseded")[number % 4]
        vault.upsert("p", kind, f"text {number} unlike {number * 31}", slug=f"{kind}-{number % 11}", frontmatter={"status": status})
        if number % 9 == 8:
            vault.forget("p", kind=kind, slug=f"{kind}-{number % 11}", purge=number % 2 == 0)
    names = ("TRAPS", "DECISIONS", "INDEX", "PROMPTS", "SESSIONS")
    piecewise = {name: strip((vault.root / f"projects/p/{name}.md").read_text()) for name in names}
    for name in names:
        (vault.root / f"projects/p/{name}.md").unlink()
    fresh = Vault(vault.root)
    fresh.repair()
    assert {name: strip((vault.root / f"projects/p/{name}.md").read_text()) for name in names} == piecewise


def test_a_view_edited_or_removed_by_hand_is_written_again(vault: Any) -> None:
    vault.upsert("p", "trap", "one", slug="x")
    (vault.root / "projects/p/SESSIONS.md").write_text("mine")
    (vault.root / "projects/p/PROMPTS.md").unlink()
    vault.append("p", "event")
    assert (vault.root / "projects/p/SESSIONS.md").read_text().startswith("# Sessions: p\n")
    assert (vault.root / "projects/p/PROMPTS.md").read_text().startswith("# Prompts: p\n")


def test_a_hand_edit_shows_in_views_and_search_at_once(vault: Any, events: Any) -> None:
    vault.upsert("p", "trap", "plain words", slug="x")
    path = vault.root / "projects/p/traps/x.md"
    path.write_text(path.read_text().replace("plain words", "PLAIN WORDS"))  # same size
    assert "PLAIN WORDS" in vault.view("p", "traps")
    (vault.root / "projects/p/specs").mkdir()
    head = "id: new\nkind: spec\nproject: p\ncreated: 2026-01-01\nupdated: 2026-01-01"
    (vault.root / "projects/p/specs/new.md").write_text(f"---\n{head}\n---\nzebra\n")
    assert [hit.record.id for hit in vault.search("zebra", "p")] == ["new"]
    assert "| new |" in vault.view("p", "index")
    path.unlink()
    assert "x.md" not in vault.view("p", "traps")
    assert [event[2:] for event in events] == [
        ("vault/p/traps/x.md", "CREATE", "x"),
        ("vault/p/traps/x.md", "UPDATE", "x"),
        ("vault/p/specs/new.md", "CREATE", "new"),
        ("vault/p/traps/x.md", "DELETE", "x"),
    ]


def test_an_unknown_view_or_project(vault: Any) -> None:
    vault.upsert("p", "trap", "one", slug="x")
    with pytest.raises(InvalidArguments, match="name must be TRAPS, DECISIONS, INDEX, PROMPTS or SESSIONS"):
        vault.view("p", "README")
    with pytest.raises(RecordNotFound, match="there is no project q"):
        vault.view("q", "traps")
    with pytest.raises(PathRefused):
        vault.view("../p", "traps")
    assert "projects/q" not in " ".join(snapshot(vault.root))


def test_an_open_comment_hides_no_other_trap(vault: Vault) -> None:
    vault.upsert("p", "trap", "seen <!-- never closed\nmore", slug="one", frontmatter={"severity": "critical"})
    vault.upsert("p", "trap", "closed <!-- here --> and\n<!--\nthere\n-->", slug="two", allow_duplicate=True)
    page = vault.view("p", "TRAPS")
    assert "seen <!-- never closed\nmore\n-->\n" in page
    assert page.count("-->") == 4  # the head's, the added one, and the two of the second body
