import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vault import Vault
from vault.config import GitConfig, load
from vault.git.history import VaultGit

BATCHED = GitConfig(enabled=True)
ATOMIC = GitConfig(enabled=True, atomic=True)


@pytest.fixture(autouse=True)
def no_user_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name, value in {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def record(root: Path, slug: str, text: str = "text") -> Path:
    path = root / "projects" / "p" / "traps" / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tracked(root: Path) -> list[str]:
    return git(root, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "HEAD").splitlines()


def messages(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def test_atomic_commits_at_once_without_a_configured_user(tmp_path: Path) -> None:
    record(tmp_path, "x")
    report = VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert (report.error, report.pending, report.pushed) == (None, 0, False)
    assert report.commit == git(tmp_path, "rev-parse", "HEAD")
    assert git(tmp_path, "log", "--format=%an <%ae> %s") == "memo <memo@localhost> upsert trap:x"
    assert git(tmp_path, "symbolic-ref", "--short", "HEAD") == "main"


def test_batched_waits_on_disk_for_a_flush_of_another_process(tmp_path: Path) -> None:
    for slug in ("x", "y"):
        record(tmp_path, slug)
        report = VaultGit(tmp_path, BATCHED).request_commit(f"upsert trap:{slug}")
    assert (report.commit, report.pending, (tmp_path / ".git").exists()) == (None, 2, False)
    code = (
        "import sys, pathlib; from vault.git.history import VaultGit; from vault.config import GitConfig\n"
        "print(VaultGit(pathlib.Path(sys.argv[1]), GitConfig(enabled=True)).flush())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    head = git(tmp_path, "rev-parse", "HEAD")
    assert done.stdout == f"GitReport(enabled=True, commit='{head}', pushed=False, pending=0, error=None)\n"
    assert git(tmp_path, "log", "--format=%B") == "sync: 2 changes\n\nupsert trap:x\nupsert trap:y"
    assert VaultGit(tmp_path, BATCHED).flush().commit is None


def test_only_records_configuration_and_tombstones_are_staged(tmp_path: Path) -> None:
    record(tmp_path, "x")
    record(tmp_path, "x.conflict.y")
    record(tmp_path, ".x")
    for name in ("memo.sqlite", "memo.sqlite-wal", ".memo.lock", "TRAPS.md", "projects/p/TRAPS.md", "telemetry.jsonl", "id_rsa"):
        (tmp_path / name).write_text("x")
    for name in ("config.json", ".gitignore", "tombstones.jsonl"):
        (tmp_path / name).write_text("{}")
    VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert tracked(tmp_path) == [".gitignore", "config.json", "projects/p/traps/x.md", "tombstones.jsonl"]
    assert git(tmp_path, "check-ignore", "memo.sqlite", "memo.sqlite-wal", ".memo.lock").splitlines() == [
        "memo.sqlite",
        "memo.sqlite-wal",
        ".memo.lock",
    ]


def test_edits_and_deletions_are_committed(tmp_path: Path) -> None:
    vault = VaultGit(tmp_path, ATOMIC)
    record(tmp_path, "x")
    record(tmp_path, "y")
    vault.request_commit("upsert trap:y")
    record(tmp_path, "x", "edited")
    record(tmp_path, "y").unlink()
    vault.request_commit("forget purge trap:y")
    assert tracked(tmp_path) == ["projects/p/traps/x.md"]
    assert git(tmp_path, "show", "HEAD:projects/p/traps/x.md") == "edited"
    assert git(tmp_path, "status", "--porcelain", "--untracked-files=no") == ""


def test_what_a_failed_commit_left_staged_is_committed_next_time(tmp_path: Path) -> None:
    vault = VaultGit(tmp_path, ATOMIC)
    record(tmp_path, "x")
    record(tmp_path, "y")
    vault.request_commit("upsert trap:y")
    record(tmp_path, "y").unlink()
    record(tmp_path, "z")
    git(tmp_path, "add", "--all", "projects")
    assert vault.flush().error is None
    assert tracked(tmp_path) == ["projects/p/traps/x.md", "projects/p/traps/z.md"]


def test_what_the_user_staged_stays_staged(tmp_path: Path) -> None:
    vault = VaultGit(tmp_path, ATOMIC)
    record(tmp_path, "x")
    vault.request_commit("upsert trap:x")
    (tmp_path / "mine.txt").write_text("mine")
    git(tmp_path, "add", "mine.txt")
    record(tmp_path, "y")
    vault.request_commit("upsert trap:y")
    assert tracked(tmp_path) == ["projects/p/traps/x.md", "projects/p/traps/y.md"]
    assert git(tmp_path, "diff", "--cached", "--name-only") == "mine.txt"


def test_hooks_signing_and_foreign_variables_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, other = tmp_path / "vault", tmp_path / "other"
    for folder in (root, other):
        folder.mkdir()
        git(folder, "init", "--quiet")
    for name in ("pre-commit", "commit-msg", "post-commit", "pre-push"):
        hook = root / ".git" / "hooks" / name
        hook.write_text("#!/bin/sh\nsleep 600\n")
        hook.chmod(0o755)
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "user.name", "Ada")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    record(root, "x")
    report = VaultGit(root, ATOMIC, timeout=20).request_commit("upsert trap:x")
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert report.error is None
    assert git(root, "log", "--format=%an") == "Ada"
    assert not (other / ".git" / "index").exists()


def test_a_vault_inside_another_repository_has_its_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    root = tmp_path / "vault"
    record(root, "x")
    assert VaultGit(root, ATOMIC).request_commit("upsert trap:x").error is None
    assert tracked(root) == ["projects/p/traps/x.md"]
    assert git(tmp_path, "status", "--porcelain") == "?? vault/"


def test_a_command_that_hangs_is_stopped_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    record(tmp_path, "x")
    report = VaultGit(tmp_path, ATOMIC, timeout=0.2).request_commit("upsert trap:x")
    assert report.error == "git init took longer than 0.2 seconds and was stopped"
    assert report.pending == 1


def test_a_missing_git_is_reported_and_the_request_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    record(tmp_path, "x")
    report = VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert (report.error, report.pending) == ("git cannot be started: No such file or directory", 1)


def test_a_broken_repository_is_reported(tmp_path: Path) -> None:
    record(tmp_path, "x")
    (tmp_path / ".git").mkdir()
    report = VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert report.commit is None
    assert report.error is not None
    assert report.error.startswith("git rev-parse failed: fatal: not a git repository")


def test_a_push_reaches_the_remote_and_a_refused_one_is_reported(tmp_path: Path) -> None:
    remote, root = tmp_path / "remote.git", tmp_path / "vault"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    record(root, "x")
    config = GitConfig(enabled=True, remote_url=str(remote), branch="memory")
    assert VaultGit(root, config).flush(push=False).pushed is False
    assert VaultGit(root, config).flush().pushed is True
    assert git(remote, "rev-parse", "memory") == git(root, "rev-parse", "HEAD")
    lost = VaultGit(root, GitConfig(enabled=True, remote_url="https://user:" + "word@localhost:1/x.git")).flush()
    assert lost.pushed is False
    assert lost.error is not None
    assert lost.error.startswith("git push failed: ")
    assert "word" not in lost.error


def test_off_does_nothing_and_automatic_flushes_honour_auto_commit(tmp_path: Path) -> None:
    record(tmp_path, "x")
    assert VaultGit(tmp_path, GitConfig()).request_commit("m").enabled is False
    assert VaultGit(tmp_path, GitConfig()).flush().enabled is False
    by_hand = VaultGit(tmp_path, GitConfig(enabled=True, atomic=True, auto_commit=False))
    assert by_hand.request_commit("upsert trap:x").pending == 1
    assert by_hand.flush(automatic=True).commit is None
    assert by_hand.flush().commit == git(tmp_path, "rev-parse", "HEAD")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", ".memo.git.lock", "projects"]


def test_unusual_file_names_are_taken_literally(tmp_path: Path) -> None:
    record(tmp_path, "[x]")
    record(tmp_path, "é ü")
    record(tmp_path, "x")
    VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert sorted(tracked(tmp_path)) == ["projects/p/traps/[x].md", "projects/p/traps/x.md", "projects/p/traps/é ü.md"]


def test_a_secret_typed_in_by_hand_stays_out_of_the_history(tmp_path: Path) -> None:
    record(tmp_path, "x")
    leaked = record(tmp_path, "y", "key " + "AKIA" + "Q7" * 8)
    vault = VaultGit(tmp_path, ATOMIC)
    report = vault.request_commit("upsert trap:x")
    assert report.commit == git(tmp_path, "rev-parse", "HEAD")
    assert report.error == "not committed, as they hold what looks like a secret: projects/p/traps/y.md (AWS key id)"
    assert tracked(tmp_path) == ["projects/p/traps/x.md"]
    leaked.write_text("clean")
    assert vault.flush().error is None
    assert tracked(tmp_path) == ["projects/p/traps/x.md", "projects/p/traps/y.md"]


# ---------------------------------------------------------------------- a vault that somebody else made


def trap(folder: Path, name: str) -> tuple[str, Path]:
    """A program that leaves a trace, and the trace."""
    program = folder / f"{name}.sh"
    program.write_text(f"#!/bin/sh\ntouch {folder / name}.ran\ncat\n")
    program.chmod(0o755)
    return str(program), folder / f"{name}.ran"


def test_nothing_that_a_vault_brings_along_is_run(tmp_path: Path) -> None:
    root, inner, remote = tmp_path / "vault", tmp_path / "vault/projects/p/traps/inner.md", tmp_path / "vault/remote.git"
    record(root, "x")
    git(tmp_path, "init", "--quiet", str(root))
    git(tmp_path, "init", "--quiet", str(inner))
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    (root / ".gitattributes").write_text("* filter=f diff=f merge=f\n")
    (root / ".git/info/attributes").write_text("* filter=f\n")
    (root / ".gitmodules").write_text('[submodule "s"]\n\tpath = projects/p/traps/inner.md\n\turl = x\n\tignore = none\n')
    keys = (
        *(
            "core.fsmonitor",
            "filter.f.clean",
            "filter.f.process",
            "filter.f.smudge",
            "core.sshCommand",
            "core.pager",
            "core.editor",
            "gpg.program",
        ),
        *("diff.external", "diff.f.command", "diff.f.textconv", "merge.f.driver", "credential.helper", "core.askPass", "core.gitProxy"),
    )
    traces = []
    for number, key in enumerate(keys):
        program, trace = trap(tmp_path, f"setting{number}")
        traces.append(trace)
        for place in (root, inner):
            git(place, "config", key, program)
    for name, value in {
        "commit.gpgSign": "true",
        "protocol.ext.allow": "always",
        "core.hooksPath": "hooks",
        "filter.f.required": "true",
    }.items():
        git(root, "config", name, value)
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "pre-push",
        "pre-receive",
        "update",
    ):
        for place in (root / ".git/hooks", root / "hooks", remote / "hooks", inner / ".git/hooks"):
            place.mkdir(exist_ok=True)
            program, trace = trap(tmp_path, f"{name}-{len(traces)}")
            traces.append(trace)
            (place / name).symlink_to(program)
    program, trace = trap(tmp_path, "ext")
    traces.append(trace)
    for url in (str(remote), "./remote.git", f"file://{remote}", f"ext::{program} %S x", "origin"):
        settings = {"vaultGit": {"enabled": True, "remoteUrl": url}}
        (root / "config.json").write_text(json.dumps(settings))
        record(root, "y", url)
        report = VaultGit(root, load(root).git).flush()
        assert report.commit is not None
        assert (
            report.error
            == f"not pushed: only the vault names the remote {url}; if it is yours: git config --global --add memo.remote {url}"
        )
    assert [trace.name for trace in traces if trace.exists()] == []
    assert git(root, "-c", "core.fsmonitor=false", "show", "HEAD:projects/p/traps/x.md") == "text"
    assert git(remote, "for-each-ref") == ""


def test_a_remote_that_the_person_allows_is_pushed_to(tmp_path: Path) -> None:
    remote, root = tmp_path / "remote.git", tmp_path / "vault"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    record(root, "x")
    (root / "config.json").write_text(json.dumps({"vaultGit": {"enabled": True, "remoteUrl": str(remote)}}))
    assert VaultGit(root, load(root).git).flush().pushed is False
    subprocess.run(["git", "config", "--global", "--add", "memo.remote", str(remote)], check=True)
    report = VaultGit(root, load(root).git).flush()
    assert (report.pushed, report.error) == (True, None)
    assert git(remote, "rev-parse", "main") == git(root, "rev-parse", "HEAD")


@pytest.mark.parametrize("place", [".git", ".git/refs", ".git/refs/heads", ".git/objects", ".git/HEAD", ".git/index", ".git/logs"])
def test_a_history_that_leads_elsewhere_is_not_written(tmp_path: Path, place: str) -> None:
    root, victim = tmp_path / "vault", tmp_path / "victim"
    record(victim, "v")
    assert VaultGit(victim, ATOMIC).request_commit("v").error is None
    before = git(victim, "rev-parse", "HEAD")
    record(root, "x")
    if place != ".git":
        assert VaultGit(root, ATOMIC).request_commit("x").error is None
        shutil.rmtree(root / place) if (root / place).is_dir() else (root / place).unlink()
    (root / place).symlink_to(victim / place)
    record(root, "x", "other")
    report = VaultGit(root, ATOMIC).request_commit("x")
    assert report.commit is None
    assert report.error is not None
    assert ("symbolic link" in report.error) or ("no folder of its own" in report.error)
    assert git(victim, "rev-parse", "HEAD") == before


# ---------------------------------------------------------------------- nothing stays out of the history unseen


def test_the_ignore_patterns_of_a_person_keep_no_record_out(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    (home / "ignore").write_text("*.md\nlogs/\n")
    subprocess.run(["git", "config", "--global", "core.excludesFile", str(home / "ignore")], check=True)
    (home / "git").mkdir()
    (home / "git/ignore").write_text("*\n")
    record(tmp_path, "x")
    VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert tracked(tmp_path) == ["projects/p/traps/x.md"]


def test_doctor_tells_what_is_not_in_the_history(tmp_path: Path) -> None:
    tmp_path.joinpath("config.json").write_text('{"vaultGit": {"enabled": true}}')
    with Vault(tmp_path) as vault:
        vault.upsert("p", "trap", "text", slug="x")
        vault.append("p", "event")
        assert len(vault.doctor().uncommitted) == 2
        vault.sync()
        assert (vault.doctor().ok, vault.doctor().uncommitted) == (True, ())
        (tmp_path / ".gitignore").write_text("reviews/\n")
        path = vault.upsert("p", "review", "text", slug="r").record.key
        vault.sync()
        problems = [(problem.type, problem.path) for problem in vault.doctor().problems]
        assert problems == [("not-in-history", f"projects/p/{path.subdir}/r.md")]


def test_a_merge_that_is_not_finished_is_left_alone(tmp_path: Path) -> None:
    vault = VaultGit(tmp_path, ATOMIC)
    record(tmp_path, "x")
    vault.request_commit("upsert trap:x")
    (tmp_path / ".git/MERGE_HEAD").write_text(git(tmp_path, "rev-parse", "HEAD"))
    record(tmp_path, "y")
    report = vault.request_commit("upsert trap:y")
    assert report.error == "the vault's repository is in the middle of a merge or rebase (MERGE_HEAD); finish it first"
    assert (tracked(tmp_path), report.pending) == (["projects/p/traps/x.md"], 1)


def test_a_repository_of_another_hash_is_committed_to(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    record(tmp_path, "x")
    report = VaultGit(tmp_path, ATOMIC).request_commit("upsert trap:x")
    assert (report.error, len(report.commit or "")) == (None, 64)
    assert tracked(tmp_path) == ["projects/p/traps/x.md"]
