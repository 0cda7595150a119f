"""A vault that cannot be written, as on a full disk: who reads is served, who writes is refused, and every file stays whole."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.vault.conftest import snapshot
from vault import Vault

# Files may not grow any more from here on, so that every write fails as it does on a full disk.
FULL = """
import json, resource, signal, sys
from vault import Vault, VaultError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
vault = Vault(sys.argv[1], lock_timeout=1)
calls = {
    "get": lambda: vault.get("p", "a").body,
    "list": lambda: [record.id for record in vault.list_records("p")],
    "search": lambda: [hit.record.id for hit in vault.search("words", "p")],
    "view": lambda: vault.view("p", "traps").splitlines()[0],
    "doctor": lambda: [problem.type for problem in vault.doctor().problems],
    "upsert": lambda: vault.upsert("p", "trap", "other words", slug="a").created,
    "new": lambda: vault.upsert("p", "spec", "new words", slug="b").created,
    "append": lambda: vault.append("p", "event").id,
    "forget": lambda: vault.forget("p", "a").status,
    "purge": lambda: vault.forget("p", "a", purge=True).status,
}
def answer(call):
    try:
        return call()
    except VaultError as error:
        return error.code
print(json.dumps({name: answer(call) for name, call in calls.items()}), file=sys.stdout)
"""


def on_a_full_disk(root: Path) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", FULL, str(root)], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "without index"])
def test_readers_are_served_and_writers_refused(vault: Vault, indexed: bool) -> None:
    vault.upsert("p", "trap", "first words", slug="a")
    vault.close()
    if not indexed:
        for name in ("memo.sqlite", ".catalog.sqlite"):
            (vault.root / name).unlink()
    before = snapshot(vault.root)
    answers = on_a_full_disk(vault.root)
    assert {name: answers[name] for name in ("get", "list", "search", "view")} == {
        "get": "first words",
        "list": ["a"],
        "search": ["a"],
        "view": "# Traps: p",
    }
    assert set(answers["doctor"]) <= {"not-repaired"}
    assert {answers[name] for name in ("upsert", "new", "append", "forget", "purge")} == {"UPSERT_FAILED"}
    assert snapshot(vault.root) == before
    assert Vault(vault.root).upsert("p", "spec", "there is room again", slug="b").created
    assert [hit.record.id for hit in Vault(vault.root).search("room", "p")] == ["b"]
