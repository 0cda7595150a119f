"""What a hostile or unlucky folder does to those who read it: no hang, no file outside touched, no secret shown."""

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.vault.conftest import snapshot
from vault import Vault, VaultError
from vault.config import load
from vault.errors import ConfigInvalid, InvalidArguments, RecordNotFound, SecretFound, UnreadableRecord
from vault.exclusions import Exclusions
from vault.project import project_id

SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HEAD = "id: x\nkind: spec\nproject: p\ncreated: 2026-01-01\nupdated: 2026-01-01\n"


def hand_written(vault: Vault, name: str, text: str) -> Path:
    path = vault.root / "projects/p/specs" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ---------------------------------------------------------------------- pipes, devices and giants


def test_a_pipe_with_a_records_name_makes_nobody_wait(vault: Vault) -> None:
    vault.upsert("p", "spec", "x", slug="a")
    os.mkfifo(vault.root / "projects/p/specs/pipe.md")
    for call in (lambda: vault.get("p", "pipe"), lambda: vault.upsert("p", "spec", "x", slug="pipe"), lambda: vault.forget("p", "pipe")):
        with pytest.raises(UnreadableRecord) as refused:
            call()
        assert refused.value.message == "projects/p/specs/pipe.md: it is no plain file"
    assert [record.id for record in vault.list_records("p")] == ["a"]


def test_a_giant_is_refused_before_it_is_read(vault: Vault) -> None:
    with hand_written(vault, "giant", "").open("wb") as file:
        file.truncate(40 * 1024**3)
    with pytest.raises(UnreadableRecord) as refused:
        vault.get("p", "giant")
    assert refused.value.message == "projects/p/specs/giant.md: it is larger than 16 MiB"
    assert [problem.path for problem in vault.doctor().problems] == ["projects/p/specs/giant.md"]


@pytest.mark.parametrize("name", ["config.json", ".spec-memo.json", ".spec-memo-ignore"])
def test_a_settings_file_that_is_a_pipe_or_endless_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).symlink_to("/dev/zero")
    if name == ".spec-memo.json":  # only a plain file is a marker
        assert project_id(tmp_path, tmp_path / "vault", load(tmp_path / "vault")).startswith("local-")
        return
    with pytest.raises(ConfigInvalid) as refused:
        Exclusions.load(tmp_path, ()) if name == ".spec-memo-ignore" else load(tmp_path)
    assert "cannot be read" in refused.value.message


# ---------------------------------------------------------------------- symbolic links to what is not the vault's


@pytest.mark.parametrize("name", [".memo.lock.holder", ".catalog.sqlite", "memo.sqlite", ".memo.git-pending", "projects/p/INDEX.md"])
def test_nothing_is_written_or_shown_through_a_link(vault: Vault, tmp_path: Path, name: str) -> None:
    (vault.root / "projects/p").mkdir(parents=True)
    (vault.root / "config.json").write_text('{"vaultGit": {"enabled": true}}')
    precious = tmp_path / "precious"
    precious.write_text("")  # an empty file would do for a database
    (vault.root / name).symlink_to(precious)
    with Vault(vault.root) as opened:
        opened.upsert("p", "spec", "words", slug="a")
        assert [hit.record.id for hit in opened.search("words", "p")] == ["a"]
        opened.sync()
    assert precious.read_bytes() == b""
    precious.write_text("not of the vault")
    if name.endswith("INDEX.md"):
        (vault.root / name).unlink()
        (vault.root / name).symlink_to(precious)
        assert Vault(vault.root).view("p", "index").startswith("# Index: p\n")


# ---------------------------------------------------------------------- many keys


def test_thousands_of_keys_are_edited_in_one_go(vault: Vault) -> None:
    keys = {f"key{number}": number for number in range(4000)}
    vault.upsert("p", "spec", "x", slug="a")
    assert vault.upsert("p", "spec", "x", slug="a", frontmatter=keys).record.frontmatter["key3999"] == 3999
    changed = vault.upsert("p", "spec", "x", slug="a", frontmatter={name: value + 1 for name, value in keys.items()})
    assert {name: changed.record.frontmatter[name] for name in keys} == {name: value + 1 for name, value in keys.items()}
    gone = vault.upsert("p", "spec", "x", slug="a", frontmatter=dict.fromkeys(keys))
    assert sorted(gone.record.frontmatter) == ["created", "id", "kind", "project", "source", "status", "updated"]


def test_too_many_keys_are_refused_at_once_for_new_and_old_records(vault: Vault) -> None:
    vault.upsert("p", "spec", "x", slug="a")
    before = snapshot(vault.root)
    keys = {f"key{number}": number for number in range(100_000)}
    for slug in ("a", "b"):
        with pytest.raises(InvalidArguments) as refused:
            vault.upsert("p", "spec", "x", slug=slug, frontmatter=keys)
        assert refused.value.problems == ("frontmatter must have at most 256 KiB",)
    with pytest.raises(InvalidArguments):
        vault.append("p", "x", details=keys)
    assert snapshot(vault.root) == before


def test_a_record_does_not_grow_beyond_what_can_be_read(vault: Vault) -> None:
    vault.upsert("p", "spec", "x", slug="a", frontmatter={"one": "x" * 200_000})
    before = snapshot(vault.root)
    with pytest.raises(InvalidArguments) as refused:
        vault.upsert("p", "spec", "x", slug="a", frontmatter={"two": "x" * 200_000})
    assert refused.value.message == "projects/p/specs/a.md: the frontmatter would be larger than 256 KiB"
    assert snapshot(vault.root) == before


# ---------------------------------------------------------------------- secrets


def test_a_secret_sent_as_a_name_is_not_echoed(vault: Vault) -> None:
    vault.upsert("p", "spec", "x", slug="a")
    for call in (
        lambda: vault.forget("p", SECRET),
        lambda: vault.forget("p", kind="spec", slug=SECRET),
        lambda: vault.feedback("p", "stale", SECRET),
    ):
        with pytest.raises(RecordNotFound) as refused:
            call()
        assert "(hidden: it looks like a secret)" in refused.value.message
    with pytest.raises(SecretFound):
        vault.view(SECRET, "index")


def test_a_secret_as_a_key_is_not_echoed_by_a_parser(vault: Vault) -> None:
    hand_written(vault, "x", f"---\n{SECRET}: 1\n{SECRET}: 2\n---\n")
    with pytest.raises(VaultError) as refused:
        vault.get("p", "x")
    assert "appears twice" in refused.value.message
    assert SECRET not in refused.value.message


def test_a_secret_that_a_person_typed_is_named_by_doctor_and_not_written_again(vault: Vault) -> None:
    path = hand_written(vault, "x", f"---\n{HEAD}note: {SECRET}\n---\nand {SECRET}\n")
    before = path.read_bytes()
    assert [(problem.type, problem.path, problem.message.split(";")[0]) for problem in vault.doctor().problems] == [
        ("secret", "projects/p/specs/x.md", "frontmatter.note holds what looks like a secret (GitHub token)"),
        ("secret", "projects/p/specs/x.md", "body holds what looks like a secret (GitHub token)"),
    ]
    with pytest.raises(SecretFound):
        vault.upsert("p", "spec", "a new body", slug="x")
    assert path.read_bytes() == before
    path.write_text(f"---\n{HEAD}---\nand {SECRET}\n")
    vault.upsert("p", "spec", "a new body", slug="x")
    assert SECRET not in path.read_text()


# ---------------------------------------------------------------------- what git leaves


def test_marks_of_a_merge_are_named(vault: Vault) -> None:
    hand_written(vault, "head", f"---\n<<<<<<< HEAD\n{HEAD}=======\n{HEAD}>>>>>>> other\n---\nbody\n")
    hand_written(vault, "body", f"---\n{HEAD.replace('id: x', 'id: body')}---\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n")
    assert [(problem.type, problem.path, problem.message) for problem in vault.doctor().problems] == [
        ("merge-conflict", "projects/p/specs/body.md", "the body holds the marks of an unfinished merge (<<<<<<<)"),
        (
            "unreadable",
            "projects/p/specs/head.md",
            "projects/p/specs/head.md: the frontmatter holds the marks of an unfinished merge (<<<<<<<)",
        ),
    ]


def test_every_write_says_that_git_failed(vault: Vault) -> None:
    vault.root.mkdir()
    (vault.root / "config.json").write_text('{"vaultGit": {"enabled": true, "atomic": true}}')
    (vault.root / ".git").write_text("gitdir: /nowhere/at/all\n")
    opened = Vault(vault.root)
    opened.upsert("p", "trap", "x", slug="a")
    assert opened.take_warnings() == ("the vault's .git is no folder of its own; a history in another place is not written",)
    opened.append("p", "event")
    assert opened.take_warnings() == ("the vault's .git is no folder of its own; a history in another place is not written",)
    assert opened.take_warnings() == ()


def test_what_git_keeps_to_itself_is_ignored(vault: Vault) -> None:
    vault.root.mkdir()
    (vault.root / "config.json").write_text('{"vaultGit": {"enabled": true, "atomic": true}}')
    opened = Vault(vault.root)
    opened.upsert("p", "trap", "x", slug="a")
    done = subprocess.run(["git", "status", "--porcelain"], cwd=vault.root, capture_output=True, text=True, check=True)
    names = ("DECISIONS", "INDEX", "PROMPTS", "SESSIONS", "TRAPS")
    assert done.stdout.splitlines() == [f"?? projects/p/{name}.md" for name in names]


# ---------------------------------------------------------------------- folders that are no vault


def test_reading_leaves_nothing_in_a_folder_that_is_no_vault(tmp_path: Path) -> None:
    for name in ("projects/p/specs", "projects/p/logs", ".git"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "projects/p/specs/notes.md").write_text("---\ntitle: notes of somebody\n---\ntext\n")
    (tmp_path / "config.json").write_text('{"vaultGit": {"enabled": true}}')
    before = {path: path.read_bytes() if path.is_file() else None for path in sorted(tmp_path.rglob("*"))}
    with Vault(tmp_path) as vault:
        assert (vault.get("p", "x"), vault.list_records("p"), vault.search("text", "p")) == (None, [], [])
        assert vault.view("p", "INDEX").startswith("# Index: p\n")
        assert [problem.type for problem in vault.doctor().problems] == ["unreadable"]
        vault.gc("p")
        vault.sync()
        vault.flush()
        for call in (vault.forget, lambda project, name: vault.feedback(project, "stale", name)):
            with pytest.raises(RecordNotFound):
                call("p", "x")
    assert {path: path.read_bytes() if path.is_file() else None for path in sorted(tmp_path.rglob("*"))} == before


def test_a_vault_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        Vault(tmp_path / "made").upsert("p", "spec", "x")
        (tmp_path / "there").mkdir(mode=0o755)
        Vault(tmp_path / "there").upsert("p", "spec", "x")
    finally:
        os.umask(old)
    assert ((tmp_path / "made").stat().st_mode & 0o777, (tmp_path / "there").stat().st_mode & 0o777) == (0o700, 0o755)


def test_a_cache_that_somebody_else_wrote_stops_no_verb(vault: Vault) -> None:
    vault.upsert("p", "spec", "text", slug="x")
    vault.close()
    with sqlite3.connect(vault.root / ".catalog.sqlite") as connection:
        for value in ("[]", '[{"kind": "spec"}, 1]', '[[], ""]', "{", b"\xff", 7, '[{"kind": 1, "id": 2, "status": 3}, ""]', "[" * 100_000):
            connection.execute("UPDATE entries SET data = ?", (value,))
            connection.commit()
            assert [record.body for record in Vault(vault.root).list_records("p")] == ["text"]
