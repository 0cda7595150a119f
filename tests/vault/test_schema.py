from typing import Any

import pytest

from vault.errors import InvalidArguments
from vault.schema import LAYER_ALIASES, Invalid, layer_of, normalise, problems_of, read_leniently

GOOD = {"id": "x", "kind": "trap", "project": "p", "created": "2026-01-01", "updated": "2026-01-02T03:04:05Z"}


def test_defaults_and_normal_forms() -> None:
    assert read_leniently({**GOOD, "kind": " TRAP ", "status": "Paused", "own": {"a": 1}}) == {
        "id": "x",
        "kind": "trap",
        "project": "p",
        "created": "2026-01-01T00:00:00.000Z",
        "updated": "2026-01-02T03:04:05.000Z",
        "status": "paused",
        "own": {"a": 1},
        "source": "agent",
    }


def test_every_problem_is_listed_at_once() -> None:
    assert problems_of({"kind": "bug", "project": " ", "status": "open", "severity": 3, "hits": -1, "links": [{"type": "fixes"}]}) == [
        "frontmatter: kind must be trap, decision, spec, plan, state, log, scratch, review, prompt or session",
        "frontmatter: project must not be empty",
        "frontmatter: status must be active, paused, shipped, superseded, archived or completed",
        "frontmatter: severity must be low, medium, high or critical",
        "frontmatter: hits must be a whole number of at least 0",
        "frontmatter: links entry 1 must have a target",
    ]


@pytest.mark.parametrize(
    ("key", "value", "result"),
    [
        ("occurrences", "3", 3),
        ("occurrences", 2.0, 2),
        ("hits", 0, 0),
        ("turn", " 7 ", 7),
        ("source", "HUMAN", "human"),
        ("tags", "a, b,a", ["a", "b"]),
        ("tags", ["a", " b "], ["a", "b"]),
        ("expires_at", "2026-05-01", "2026-05-01T23:59:59.999Z"),
        ("lastSeen", "2026-05-01", "2026-05-01T00:00:00.000Z"),
        ("startTime", "2026-05-01T10:00:00+02:00", "2026-05-01T08:00:00.000Z"),
        ("links", [{"type": "Fixes", "target": "a", "why": "b"}], [{"type": "fixes", "target": "a", "why": "b"}]),
        ("deliverables", [{"type": "pr"}], [{"type": "pr"}]),
        ("layer", "frontend", "web"),
        ("id", 7, "7"),
        ("ttl", "7d", "7d"),
        ("anything", [object], [object]),
    ],
)
def test_coercions(key: Any, value: Any, result: Any) -> None:
    assert normalise(key, value) == result


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("occurrences", 0),
        ("occurrences", True),
        ("occurrences", 1.5),
        ("occurrences", "many"),
        ("occurrences", float("nan")),
        ("hits", 2**60),
        ("helpfulCount", -1),
        ("staleCount", None.__class__),
        ("turn", 0),
        ("created", "yesterday"),
        ("created", "2026-02-30"),
        ("endTime", 5),
        ("links", {"target": "a"}),
        ("links", [{"type": "likes", "target": "a"}]),
        ("links", ["a"]),
        ("deliverables", [{"type": "doc"}]),
        ("tags", [1.5, None]),
        ("tags", ["  "]),
        ("layer", "kitchen"),
        ("title", ["a"]),
        ("id", ""),
        ("ttl", "soon"),
    ],
)
def test_wrong_values(key: Any, value: Any) -> None:
    with pytest.raises(Invalid):
        normalise(key, value)


def test_layer_aliases_lead_to_layers() -> None:
    assert {alias: layer_of(alias.upper()) for alias in LAYER_ALIASES} == {
        "front": "web",
        "frontend": "web",
        "back": "application",
        "backend": "application",
        "na": "other",
        "n/a": "other",
        "none": "other",
        "infra": "infrastructure",
    }


def test_a_hand_written_file_is_read_as_far_as_it_can_be() -> None:
    data = {**GOOD, "severity": "awful", "status": "??", "hits": "x"}
    assert read_leniently(data) | {} == {
        "id": "x",
        "kind": "trap",
        "project": "p",
        "created": "2026-01-01T00:00:00.000Z",
        "updated": "2026-01-02T03:04:05.000Z",
        "severity": "awful",
        "hits": "x",
        "status": "active",
        "source": "agent",
    }
    assert len(problems_of(data)) == 3
    with pytest.raises(InvalidArguments) as caught:
        read_leniently({"id": "x", "kind": "trap"})
    assert caught.value.problems == ("project is required", "created is required", "updated is required")
    with pytest.raises(InvalidArguments) as caught:
        read_leniently({**GOOD, "kind": "bug", "project": " "})
    assert caught.value.problems == (
        "kind must be trap, decision, spec, plan, state, log, scratch, review, prompt or session",
        "project must not be empty",
    )
