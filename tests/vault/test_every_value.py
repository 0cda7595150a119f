"""Whatever a value is, in a file or at a door: one record stops no other, and no value changes or vanishes on its way."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from vault import Vault, VaultError
from vault.cli.app import app
from vault.frontmatter import create, parse
from vault.kinds import SUBDIRS
from vault.mcp import Door

BIG = 2**64
HAND_WRITTEN = [
    f"n: {BIG}", f"n: [-{BIG}, {{a: {BIG}}}]", "n: 1e400", "n: -1e-400", "n: .nan", "n: [.NaN, -.INF]", "n: !!binary aGk=",
    "n: !!float 1", "n: !!int 7", "n: !!set {a, b}", "n: 2026-01-01T10:00:00Z",
    'n: "a\\0b\\e"', "n: &a [1]\nm: *a", "n: " + "[" * 50 + "]" * 50,
    "1: x\n2.50: y\ntrue: z\n~: w\n'': v", "? a\n: b", "body: x\npath: y\nslug: z\nexpired: yes\nallowDuplicate: 1\nfrontmatter: {a: 1}",
    f"hits: {BIG}", "hits: " + "9" * 390, "hits: " + "9" * 5000, "turn: .inf", "occurrences: 1e30", "occurrences: -3", "helpfulCount: [1]",
    "tags: 5", "tags: {a: 1}", "tags: [[a], {b: c}, null]", f"title: {BIG}", "title: [a]", "title: {a: b}", "module: [1]", "ide: {a: 1}",
    "ttl: 1e300", "ttl: " + "9" * 399, "ttl: [1]", "ttl: .nan", "expires_at: 9999-12-31",
    "expires_at: 99999999999999999999", "lastSeen: 0000-00-00",
    "links: 7", "links: [1, {type: fixes}]", "deliverables: {}", f"deliverables: [{{type: pr, id: {BIG}}}]",
    "severity: [x]", "layer: {a: b}",
    "status: [1]", f"source: {BIG}", "supersedes: [a]", f"pathPatterns: [{BIG}, 1.10]", "startTime: .nan", f"sessionId: {BIG}\nturn: {BIG}",
]  # fmt: skip
KINDS = ("trap", "decision", "scratch", "prompt", "session")


def by_hand(root: Path) -> int:
    for kind in KINDS:
        folder = root / "projects/p" / SUBDIRS[kind]
        folder.mkdir(parents=True)
        for number, text in enumerate(HAND_WRITTEN):
            created = "9999-12-31" if number % 2 else "2026-01-01"
            head = f"id: {kind}-{number}\nkind: {kind}\nproject: p\ncreated: {created}\nupdated: 2026-01-01\n"
            (folder / f"{kind}-{number}.md").write_text(f"---\n{head}{text}\n---\nwords of {kind} {number}\n")
    return len(KINDS) * len(HAND_WRITTEN)


def test_no_hand_written_value_stops_a_verb(tmp_path: Path) -> None:
    count = by_hand(tmp_path)
    for _ in range(2):  # the second vault reads what the first one kept of the files
        with Vault(tmp_path) as vault:
            listed = vault.list_records("p", include_expired=True)
            assert len([record for record in listed if record.kind in KINDS]) == count
            for record in listed:
                answer = vault.get("p", record.id, count_hit=False)
                assert answer is not None
                json.dumps(answer.to_dict(), allow_nan=False)
                if record.kind == "trap":
                    vault.feedback("p", "stale", record.id)
            assert len(vault.search("words", "p", limit=1000, include_expired=True, include_scratch=True)) == count
            for name in ("TRAPS", "DECISIONS", "INDEX", "PROMPTS", "SESSIONS"):
                assert vault.view("p", name)
            assert [problem for problem in vault.doctor().problems if problem.type == "unreadable"] == []
            vault.gc("p", dry_run=True)
            vault.append("p", "an event")
            vault.upsert("p", "spec", "text", slug="beside")
            vault.sync()


def test_no_hand_written_value_changes_in_an_edit(tmp_path: Path) -> None:
    by_hand(tmp_path)
    with Vault(tmp_path) as vault:
        for record in vault.list_records("p", include_expired=True):
            path = record.key.path(tmp_path)
            before = [line for line in path.read_text().splitlines() if not line.startswith(("updated:", "words"))]
            try:
                vault.upsert("p", record.kind, "a new body", slug=record.slug)
            except VaultError as refused:
                assert refused.message.startswith("layer ")  # noqa: PT017  only this one must be corrected first
                continue
            after = path.read_text().splitlines()
            assert [line for line in before if line not in after] == []
            assert path.read_text().endswith("\n---\na new body\n")


JSON_VALUES = [
    BIG, -BIG, 10**399, 2**53 + 1, 0, -0.0, 1e300, 5e-324, 1.5, True, False, "", "08", "0o17", "1_000", "y",
    "~", "null", "2026-01-01", "12:30", "=", "<<",
    "+.inf", "a: b", "# no", "- x", "two\nlines\n", " lead", "\ttab", "\u2028", "\u0085", "\x7f", "😀",
    [], {}, [None, [BIG]], {"08": {"y": None}},
]  # fmt: skip
KEYS = ["n", "body", "frontmatter", "record", "08", "y", "true", "null", "a b", "a:b", "#", "é", "<<"]


def doors(root: Path) -> dict[str, Any]:
    door, runner = Door(root, root.parent, "p"), CliRunner()

    def tool(name: str, **arguments: Any) -> Any:
        answer = door.call(name, arguments)
        assert not answer.is_error, answer.structured_content
        return json.loads(answer.content[0].text)["record"]["frontmatter"]  # type: ignore[union-attr]

    def memo(*arguments: str) -> Any:
        done = runner.invoke(app, ["--vault-root", str(root), "--json", *arguments, "--project-id", "p"])
        assert done.exit_code == 0, done.output
        answer = json.loads(done.output)
        return answer.get("record", answer)["frontmatter"]

    return {
        "MCP upsert": lambda data: tool("upsert", kind="spec", slug="x", body="t", frontmatter=data),
        "MCP append": lambda data: tool("append", event="t", details=data),
        "CLI upsert": lambda data: memo("upsert", "--kind", "plan", "--slug", "x", "--body", "t", "--frontmatter", json.dumps(data)),
        "CLI append": lambda data: memo("append", "t", "--details", json.dumps(data)),
    }


@pytest.mark.parametrize("name", ["MCP upsert", "MCP append", "CLI upsert", "CLI append"])
def test_every_json_value_comes_back(tmp_path: Path, name: str) -> None:
    write = doors(tmp_path / "v")[name]
    data = (
        {f"v{number}": value for number, value in enumerate(JSON_VALUES)}
        | dict.fromkeys(KEYS, "value")
        | {"list": KEYS, "map": dict.fromkeys(KEYS, KEYS)}
    )
    written = write(data)
    assert json.dumps({key: written.get(key) for key in data}) == json.dumps(data)
    with Vault(tmp_path / "v") as vault:  # as the next process reads it
        (record,) = vault.list_records("p")
        assert json.dumps({key: record.frontmatter.get(key) for key in data}) == json.dumps(data)
        assert vault.doctor().ok


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000, float("inf"), float("nan")], ids=["401", "-401", "5001", "inf", "nan"])
def test_a_number_that_no_file_can_hold_is_refused_in_our_words(tmp_path: Path, value: Any) -> None:
    with Vault(tmp_path / "v") as vault:
        for call in (
            lambda: vault.upsert("p", "spec", "t", frontmatter={"n": [value]}),
            lambda: vault.append("p", "t", details={"n": value}),
        ):
            with pytest.raises(VaultError, match=r"(frontmatter|details) must hold (finite numbers only|numbers of at most 400 digits)"):
                call()
    assert not (tmp_path / "v/projects").exists()


def test_what_a_person_wrote_is_read_as_the_text_that_stands_there() -> None:
    keys = (
        "id: 1.10\ntitle: 08\nmodule: true\ntags: [1e3, 0x1F, yes, ~]\npathPatterns: 0.70\nlinks: [{type: fixes, target: 1_0.0}]\nown: 1.10"
    )
    text = f"---\n{keys}\n---\nb\n"
    assert parse(text, "x.md").data == {
        "id": "1.10",
        "title": "08",
        "module": "true",
        "tags": ["1e3", "0x1F", "yes", "~"],
        "pathPatterns": "0.70",
        "links": [{"type": "fixes", "target": "1_0.0"}],
        "own": 1.1,
    }


# Plain scalars that some reader takes for more than text: YAML 1.1 (yaml.org/type) and the core schema of YAML 1.2.
NOT_TEXT = (
    r"~|null|Null|NULL||y|Y|n|N|(?i:yes|no|on|off|true|false)|[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_,]*(:[0-5]?[0-9])*)"
    r"|[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?i:inf)|\.(?i:nan)|=|<<"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t]+[0-9:.]+[ \t]*(Z|[-+][0-9:]+)?)?"
)
values = st.recursive(
    st.from_regex(rf"(?:{NOT_TEXT})\Z", fullmatch=True) | st.text("0123456789abeoxEBOX_.:+-,ynYN~ ", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(rf"(?:{NOT_TEXT})\Z", fullmatch=True).filter(str.strip), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(values)
def test_a_text_is_written_so_that_every_reader_of_yaml_sees_a_text(value: Any) -> None:
    source = create({"v": value}, "b").split("---\n")[1]
    assert yaml.safe_load(source) == {"v": value}
    plain = [
        event.value for event in yaml.parse(source) if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value != "v"
    ]
    assert [text for text in plain if re.fullmatch(NOT_TEXT, text)] == []
