"""Several writers at once, and writers that are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from vault import Vault
from vault.frontmatter import parse

WRITERS = 8
EACH = 12
KILLS = 200

WRITE = """
import sys
from vault import Vault
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
vault = Vault(root)
for number in range(count):
    vault.upsert("p", "spec", f"text of {name} number {number}", slug=f"{name}-{number}")
    vault.upsert("p", "trap", "all of them write this very trap", slug=f"trap-{name}")
    vault.append("p", f"event {number} of {name}")
"""

# It forks its writers, so that a kill meets a mutation rather than the loading of modules.
LOOP = """
import itertools, os, sys
import vault.index, vault.lock
from vault import Vault

def write():
    vault = Vault(sys.argv[1])
    vault.append("p", "event at the start")
    print(os.getpid(), flush=True)
    for number in itertools.count():
        vault.upsert("p", "spec", f"begin {number} " + "x" * 3000 + f" end {number}", slug=f"s{number % 7}", frontmatter={"n": number})
        vault.append("p", f"event {number}")
        if number % 3 == 2:
            vault.forget("p", kind="spec", slug=f"s{number % 7}", purge=number % 2 == 0)

for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        write()
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""


def start(script: str, *arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], env=environment, **options)  # type: ignore[call-overload]


def test_eight_processes_lose_nothing(tmp_path: Path) -> None:
    writers = [start(WRITE, tmp_path, f"w{number}", EACH) for number in range(WRITERS)]
    assert [writer.wait(100) for writer in writers] == [0] * WRITERS
    vault = Vault(tmp_path)
    specs = {record.id for record in vault.list_records("p", kind="spec")}
    assert specs == {f"w{writer}-{number}" for writer in range(WRITERS) for number in range(EACH)}
    assert len(vault.list_records("p", kind="log")) == WRITERS * EACH
    # One of them wrote it; that one's later calls are edits, all others count it once more.
    traps = vault.list_records("p", kind="trap")
    assert [trap.frontmatter["occurrences"] for trap in traps] == [1 + (WRITERS - 1) * EACH]
    assert len(vault.search("number", "p", limit=1000)) == WRITERS * EACH
    index = (tmp_path / "projects/p/INDEX.md").read_text()
    assert index.count("(specs/") == WRITERS * EACH
    assert index.count("(logs/") == WRITERS * EACH
    assert vault.doctor().to_dict()["problems"] == []


@pytest.mark.timeout(300)
def test_a_killed_writer_leaves_every_file_whole(tmp_path: Path) -> None:
    chance = random.Random(20261130)
    parent = start(LOOP, tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin is not None
    assert parent.stdout is not None
    for kills in range(1, KILLS + 1):
        parent.stdin.write(b"go\n")
        parent.stdin.flush()
        writer = int(parent.stdout.readline())
        time.sleep(chance.uniform(0, 0.08))
        os.kill(writer, signal.SIGKILL)
        assert int(parent.stdout.readline()) == signal.SIGKILL
        whole_files(tmp_path)
        if kills % 20 == 0:
            all_repaired(tmp_path)
    parent.stdin.close()
    assert parent.wait(10) == 0
    parent.stdout.close()
    # Every write that was acknowledged before its writer died is there, and so is every one of the repairs.
    bodies = Counter(record.body for record in Vault(tmp_path).list_records("p", kind="log"))
    assert (bodies["event at the start"], bodies["event after the crash"]) == (KILLS, KILLS // 20)


def whole_files(root: Path) -> None:
    for path in (root / "projects").rglob("*.md"):
        text = path.read_text()
        if path.parent.name == "p":
            assert text.startswith("# ")
            continue
        document = parse(text, str(path))
        if path.parent.name == "specs":
            number = document.data["n"]
            assert document.body == f"begin {number} " + "x" * 3000 + f" end {number}\n"


def all_repaired(root: Path) -> None:
    with Vault(root) as vault:
        vault.repair()
        records = vault.list_records("p")
        index = (root / "projects/p/INDEX.md").read_text()
        specs = {record.id for record in records if record.kind == "spec"}
        assert {name for name in (f"s{number}" for number in range(7)) if f"(specs/{name}.md)" in index} == specs
        assert index.count("(logs/") == len(records) - len(specs)
        assert {hit.record.id for hit in vault.search("begin", "p", limit=1000)} == specs
        assert len(vault.search("event", "p", kinds=["log"], limit=1000)) == min(1000, len(records) - len(specs))
        vault.append("p", "event after the crash")
    assert [path.name for path in root.rglob(".tmp-*")] == []
    assert not list(root.rglob("*.conflict*"))
