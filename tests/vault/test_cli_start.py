"""The command answers at once: each verb loads what it needs and no more. Help and completion load no vault at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault import Vault
from vault.cli.app import VERBS, app

REPOSITORY = Path(__file__).parents[2]
HEAVY = [
    *("anyio", "asyncio", "dotenv", "httpx", "mcp", "numpy", "pydantic", "pydantic_core", "rich"),
    *("ruamel", "sqlalchemy", "sqlmodel", "starlette", "structlog", "typer", "watchfiles"),
]
RUN = f"""
import sys
from vault.cli import main
try:
    main()
except SystemExit as stop:
    code = stop.code or 0
print("LOADED", code, *[name for name in {HEAVY!r} if name in sys.modules])
"""


def run(root: Path, *arguments: str, script: str = RUN, **variables: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "SPEC_MEMO_ROOT": str(root), "NO_COLOR": "1"} | variables
    done = subprocess.run([sys.executable, "-c", script, *arguments], cwd=root.parent, env=environment, capture_output=True, check=False)
    return done.stdout.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("upsert", "--kind", "trap", "--title", "A", "--body", "text", "--tag", "t", "--ttl", "7d"),
        ("append", "it happened"),
        ("get", "x"),
        ("search", "words", "--cross-project"),
        ("list",),
        ("view", "traps", "--project-id", "p"),
        ("projects",),
        ("feedback", "x", "helpful", "--project-id", "p"),
        ("forget", "x", "--project-id", "p"),
        ("gc",),
        ("sync",),
        ("doctor",),
        ("completion", "zsh"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_verb_loads_a_heavy_library(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    Vault(tmp_path / "vault").upsert("p", "spec", "words", slug="x")
    assert run(tmp_path / "vault", *arguments).splitlines()[-1] == "LOADED 0"


def test_help_loads_no_vault(tmp_path: Path) -> None:
    script = RUN.replace("print(", 'print([name for name in ("yaml", "vault.api", "vault.engine") if name in sys.modules], ')
    assert run(tmp_path / "vault", "upsert", "--help", script=script).splitlines()[-1] == "[] LOADED 0"


def complete(root: Path, *typed: str) -> list[str]:
    answer = run(root, _MEMO_COMPLETE="fish_complete", COMP_WORDS=" ".join(["memo", *typed]), COMP_CWORD=typed[-1])
    return [line.split(",")[1].split("\t")[0] for line in answer.splitlines() if "," in line]


def test_a_shell_completes_verbs_kinds_verdicts_and_ids(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for slug in ("pool-leaks", "pool-size", "clock"):
        Vault(root).upsert("p", "trap", slug, slug=slug)
    assert complete(root, "fo") == ["forget"]
    assert complete(root, "upsert", "--kind", "s") == ["spec", "state", "scratch", "session"]
    assert complete(root, "list", "--status", "arch") == ["archived"]
    assert complete(root, "view", "d") == ["decisions"]
    assert sorted(complete(root, "get", "--project-id", "p", "pool")) == ["pool-leaks", "pool-size"]
    assert complete(root, "feedback", "clock", "not") == ["not_helpful"]


def test_completing_an_id_in_a_broken_or_missing_vault_says_nothing_and_makes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    assert complete(root, "get", "x") == []
    assert not root.exists()
    root.mkdir()
    (root / "config.json").write_text("{")
    assert complete(root, "get", "x") == []
    assert [path.name for path in root.iterdir()] == ["config.json"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(tmp_path: Path, shell: str) -> None:
    assert f"_MEMO_COMPLETE={shell}_complete" in run(tmp_path / "vault", "completion", shell)


def test_each_verb_is_where_the_table_says() -> None:
    assert [app.get_command(app.make_context("memo", ["list"]), name).name for name in VERBS] == list(VERBS)  # type: ignore[union-attr]
