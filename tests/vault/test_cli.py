import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from vault.cli import main; main()"]


class Memo:
    """Runs the command as a shell would."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.cwd = folder / "work"
        self.cwd.mkdir()

    def __call__(self, *arguments: str, text: str | bytes = b"") -> "subprocess.CompletedProcess[str]":
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "SPEC_MEMO_ROOT": str(self.root), "NO_COLOR": "1", "COLUMNS": "120"}
        data = text.encode() if isinstance(text, str) else text
        done = subprocess.run([*COMMAND, *arguments], cwd=self.cwd, env=environment, input=data, capture_output=True, check=False)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, text: str = "", code: int = 0) -> Any:
        done = self(*arguments, "--json", "--project-id", "p", text=text)
        assert (done.returncode, done.stderr) == (code, "")
        return json.loads(done.stdout)


@pytest.fixture
def memo(tmp_path: Path) -> Memo:
    return Memo(tmp_path)


def test_a_record_from_beginning_to_end(memo: Memo) -> None:
    answer = memo.json(
        *("upsert", "--kind", "trap", "--title", "Pool leaks", "--severity", "HIGH", "--tag", "db", "--tag", "io", "--ttl", "30d"),
        *("--path-patterns", "src/a,src/b", "--path-patterns", "lib", "--path", "x.py", "--rationale", "seen twice"),
        *("--frontmatter", '{"own": {"a": 1}, "severity": "low"}'),
        text="Close it in finally.\n",
    )
    assert (answer["created"], answer["recurrence"], answer["superseded"]) == (True, False, False)
    data = answer["record"]["frontmatter"]
    assert (data["severity"], data["tags"], data["pathPatterns"]) == ("high", ["db", "io"], ["src/a", "src/b", "lib", "x.py"])
    assert (data["own"], data["rationale"], data["ttl"]) == ({"a": 1}, "seen twice", "30d")
    assert memo.json("get", "pool-leaks")["body"] == "Close it in finally."
    assert memo.json("get", "--id", "pool-leaks")["frontmatter"]["hits"] == 2
    assert memo.json("get", "--kind", "trap", "--slug", "pool-leaks")["id"] == "pool-leaks"
    assert [hit["record"]["id"] for hit in memo.json("search", "finally", "--kind", "trap", "--tag", "db")["hits"]] == ["pool-leaks"]
    assert memo.json("search", "finally", "--status", "archived")["hits"] == []
    assert [record["id"] for record in memo.json("list", "--kind", "trap")["records"]] == ["pool-leaks"]
    assert memo.json("feedback", "pool-leaks", "helpful")["record"]["frontmatter"]["helpfulCount"] == 1
    assert memo.json("feedback", "--id", "pool-leaks", "wrong")["record"]["frontmatter"]["staleCount"] == 1
    again = memo.json("upsert", "--kind", "trap", "--body", "close IT in finally", "--path-patterns", "src/b,src/a,lib,x.py")
    assert (again["recurrence"], again["record"]["frontmatter"]["occurrences"]) == (True, 2)
    assert memo.json("append", "Deployed", "--details", '{"tags": ["x"]}')["kind"] == "log"
    assert memo.json("append", "--event", "Deployed again")["body"] == "Deployed again"
    assert memo.json("forget", "pool-leaks") == {"id": "pool-leaks", "status": "archived", "purged": False}
    assert memo.json("forget", "pool-leaks", "--purge") == {"id": "pool-leaks", "status": "purged", "purged": True}
    assert memo.json("gc", "--dry-run") == {"collected": [], "dryRun": True}


def test_global_options_stand_before_or_behind_the_verb(memo: Memo, tmp_path: Path) -> None:
    (memo.cwd / ".spec-memo.json").write_text('{"projectId": "marked"}')
    other = str(tmp_path / "other")
    before = memo("--json", "--vault-root", other, "--cwd", str(memo.cwd), "upsert", "--kind", "spec", "--slug", "x", "--body", "y")
    behind = memo("get", "x", "--json", "--vault-root", other, "--cwd", str(memo.cwd))
    assert json.loads(before.stdout)["record"]["project"] == "marked"
    assert json.loads(behind.stdout)["project"] == "marked"
    assert not memo.root.exists()


def test_a_guessed_project_looks_at_its_siblings_and_a_given_one_does_not(memo: Memo) -> None:
    memo.json("upsert", "--kind", "spec", "--slug", "x", "--body", "y")
    assert json.loads(memo("get", "x", "--json").stdout)["project"] == "p"
    refused = memo("get", "x", "--json", "--project-id", "q")
    assert (refused.returncode, json.loads(refused.stdout)) == (
        1,
        {"code": "RECORD_NOT_FOUND", "message": 'Record not found: "x" in project q'},
    )


def test_people_read_pleasant_lines(memo: Memo) -> None:
    done = memo("upsert", "--kind", "decision", "--slug", "utc", "--project-id", "p", "--title", "Use UTC", text="Everywhere, always.")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Created decision utc  (vault/p/decisions/utc.md)\n", "")
    assert memo("search", "always", "--project-id", "p").stdout == "utc  decision  Use UTC\n  Everywhere, always.\n"
    assert memo("list", "--project-id", "p").stdout[10:] == "  decision  utc  active      Use UTC\n"
    assert memo("get", "utc", "--project-id", "p").stdout.endswith("\n\nEverywhere, always.\n")
    assert memo("view", "decisions", "--project-id", "p").stdout.startswith("# Decisions: p\n")
    assert memo("projects").stdout == "p\n"
    assert memo("doctor").stdout == "1 record in 1 project\nAll is well.\n"
    assert memo("sync").stdout == "Everything was up to date.\n"
    refused = memo("get", "nobody", "--project-id", "p")
    assert (refused.returncode, refused.stdout, refused.stderr) == (
        1,
        "",
        'RECORD_NOT_FOUND: Record not found: "nobody" in project p\n',
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("upsert", "--kind", "bug", "--body", "x"), "INVALID_ARGUMENTS"),
        (("upsert", "--kind", "trap", "--body", ""), "INVALID_ARGUMENTS"),
        (("upsert", "--kind", "trap", "--body", "x", "--frontmatter", "{"), "INVALID_ARGUMENTS"),
        (("upsert", "--kind", "trap", "--body", "x", "--frontmatter", "[1]"), "INVALID_ARGUMENTS"),
        (("upsert", "--kind", "trap", "--body", "x", "--slug", "../x"), "PATH_REFUSED"),
        (("upsert", "--kind", "trap", "--body", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"), "SECRET_FOUND"),
        (("append", "x", "--details", "nope"), "INVALID_ARGUMENTS"),
        (("append", "x", "--details", '{"a": [{"n": 1, "n": 2}]}'), "INVALID_ARGUMENTS"),
        (("upsert", "--kind", "trap", "--body", "x", "--path", "a\udcff"), "INVALID_ARGUMENTS"),
        (("search", "x", "--tag", "a\udcff"), "INVALID_ARGUMENTS"),
        (("search", "x", "--path", "a\udcff"), "INVALID_ARGUMENTS"),
        (("get", "x", "--session-id", "a\udcff"), "INVALID_ARGUMENTS"),
        (("forget", "nobody"), "RECORD_NOT_FOUND"),
        (("feedback", "nobody", "helpful"), "RECORD_NOT_FOUND"),
        (("search", "("), "INVALID_QUERY"),
        (("list", "--kind", "bug"), "INVALID_ARGUMENTS"),
        (("view", "nothing"), "INVALID_ARGUMENTS"),
        (("list", "--cwd", "/nowhere/at/all"), None),
    ],
)
def test_a_refusal_is_one_object_and_exit_1(memo: Memo, arguments: tuple[str, ...], code: str | None) -> None:
    answer = memo.json(*arguments, code=1)
    assert (answer["code"], sorted(answer)) == (code or "INVALID_ARGUMENTS", ["code", "message"])
    assert "ghp_" not in answer["message"]
    assert not (memo.root / "projects").exists()


@pytest.mark.parametrize(
    "arguments",
    [("get",), ("get", "--kind", "trap"), ("nonsense",), ("upsert", "--body", "x"), ("list", "--limit", "x"), ("feedback", "x")],
)
def test_wrong_usage_is_exit_2(memo: Memo, arguments: tuple[str, ...]) -> None:
    done = memo(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: memo" in done.stderr


def test_json_that_no_record_can_hold_is_refused_in_our_words(memo: Memo) -> None:
    for text, problem in (
        ('{"n": 1, "m": 2, "n": 3}', 'has the duplicate key "n" in an object'),
        (f'{{"n": [-{"1" * 5_000}]}}', "must hold numbers of at most 400 digits"),
    ):
        answer = memo.json("upsert", "--kind", "spec", "--body", "x", "--frontmatter", text, code=1)
        assert answer == {"code": "INVALID_ARGUMENTS", "message": f"--frontmatter {problem}"}
    assert not memo.root.exists()


def test_input_that_is_no_utf8_is_refused(memo: Memo) -> None:
    done = memo("upsert", "--kind", "trap", text=b"\xff\xfe")
    assert (done.returncode, done.stderr) == (1, "INVALID_ARGUMENTS: standard input must be UTF-8 text\n")


def test_help_has_examples_and_completion(memo: Memo) -> None:
    for verb in ("upsert", "get", "append", "forget", "search", "list", "feedback", "gc", "sync", "doctor", "mcp"):
        done = memo(verb, "--help")
        assert (done.returncode, "Example" in done.stdout) == (0, True)


def test_a_wrong_verb_is_answered_with_the_nearest(memo: Memo) -> None:
    assert "no such verb: 'lst'; did you mean list?" in memo("lst").stderr


def test_words_of_a_query_need_no_quotes(memo: Memo) -> None:
    memo.json("upsert", "--kind", "spec", "--slug", "x", "--body", "pools leak")
    assert [hit["record"]["id"] for hit in memo.json("search", "leak", "pools")["hits"]] == ["x"]


def test_a_terminal_is_shown_what_it_would_obey(memo: Memo) -> None:
    memo.json("upsert", "--kind", "spec", "--slug", "x", "--title", "a\x1b[2Jb", "--body", "one\x1b]0;owned\x07\ntwo\u202e")
    for verb in (("get", "x"), ("list",), ("search", "one")):
        shown = memo(*verb, "--project-id", "p").stdout
        assert "a\\x1b[2Jb" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert memo.json("get", "x")["body"] == "one\x1b]0;owned\x07\ntwo\u202e"
