import sqlite3
import threading
from typing import Any

import pytest

from tests.vault.conftest import snapshot
from vault import Vault, VaultError
from vault.errors import ConfigInvalid, LockTimeout, PathRefused
from vault.lock import VaultLock


@pytest.mark.parametrize("place", ["projects", "projects/p", "projects/p/traps"])
def test_nothing_is_written_through_a_linked_folder(vault: Any, tmp_path: Any, place: Any) -> None:
    outside = tmp_path / "outside"
    (outside / "p/traps").mkdir(parents=True)
    link = vault.root / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    with pytest.raises(PathRefused, match="symbolic link"):
        vault.upsert("p", "trap", "text", slug="x")
    with pytest.raises(PathRefused, match="symbolic link"):
        vault.append("p", "text", kind="trap")
    assert [path for path in outside.rglob("*") if path.is_file()] == []


def test_a_linked_file_is_neither_read_nor_written(vault: Any, tmp_path: Any) -> None:
    vault.upsert("p", "trap", "text", slug="x")
    secret = tmp_path / "secret.md"
    secret.write_text("---\nid: s\nkind: trap\nproject: p\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\nprivate\n")
    (vault.root / "projects/p/traps/s.md").symlink_to(secret)
    before = secret.read_bytes()
    for call in (lambda: vault.get("p", "s"), lambda: vault.forget("p", "s", purge=True), lambda: vault.upsert("p", "trap", "y", slug="s")):
        with pytest.raises(PathRefused, match=r"projects/p/traps/s.md is a symbolic link"):
            call()
    assert vault.search("private", "p") == []
    assert [record.id for record in vault.list_records("p")] == ["x"]
    assert secret.read_bytes() == before


def test_a_linked_view_is_replaced_not_followed(vault: Any, tmp_path: Any) -> None:
    vault.upsert("p", "trap", "text", slug="x")
    target = tmp_path / "target"
    target.write_text("mine")
    view = vault.root / "projects/p/TRAPS.md"
    view.unlink()
    view.symlink_to(target)
    vault.append("p", "event")
    assert (target.read_text(), view.is_symlink()) == ("mine", False)


def test_a_root_that_is_a_file_stays_untouched(tmp_path: Any) -> None:
    root = tmp_path / "file"
    root.write_text("mine")
    with pytest.raises(ConfigInvalid, match="is a file, not a folder"):
        Vault(root)
    assert root.read_text() == "mine"


def test_reading_a_vault_that_is_not_there_makes_nothing(tmp_path: Any) -> None:
    empty = Vault(tmp_path / "none")
    assert (empty.projects(), empty.list_records("p"), empty.get("p", "x"), empty.gc()) == ([], [], None, [])
    assert empty.search("word", "p") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", [".catalog.sqlite", "memo.sqlite"])
@pytest.mark.parametrize("damage", ["gone", "rubbish", "empty", "cut"])
def test_caches_are_made_again(vault: Any, name: Any, damage: Any) -> None:
    for number in range(20):
        vault.upsert("p", "spec", f"number {number} zebra", slug=f"s{number}")
    vault.close()
    path = vault.root / name
    data = path.read_bytes()
    for suffix in ("-wal", "-shm"):
        path.with_name(name + suffix).unlink(missing_ok=True)
    path.unlink()
    if damage != "gone":
        path.write_bytes({"rubbish": b"no database" * 100, "empty": b"", "cut": data[: len(data) // 2]}[damage])
    fresh = Vault(vault.root)
    assert len(fresh.list_records("p")) == 20
    assert len(fresh.search("zebra", "p", limit=50)) == 20
    fresh.upsert("p", "spec", "one more zebra", slug="more")
    assert len(fresh.search("zebra", "p", limit=50)) == 21
    assert fresh.view("p", "index").count("specs/") == 21


def test_a_locked_cache_delays_no_answer(vault: Any) -> None:
    vault.upsert("p", "spec", "text zebra", slug="x")
    with sqlite3.connect(vault.root / ".catalog.sqlite", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        fresh = Vault(vault.root)
        assert [record.id for record in fresh.list_records("p")] == ["x"]
        other.execute("ROLLBACK")


def test_readers_answer_while_a_writer_holds_the_lock(vault: Any) -> None:
    vault.upsert("p", "trap", "text zebra", slug="x")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with VaultLock(vault.root):
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    try:
        other = Vault(vault.root, lock_timeout=0.05)
        path = vault.root / "projects/p/traps/x.md"
        path.write_text(path.read_text().replace("zebra", "giraffe"))
        assert [hit.record.id for hit in other.search("giraffe", "p")] == ["x"]
        assert [record.body for record in other.list_records("p")] == ["text giraffe"]
        assert "giraffe" in other.view("p", "traps")
        before = snapshot(vault.root)
        with pytest.raises(LockTimeout):
            other.upsert("p", "trap", "text", slug="y")
        assert snapshot(vault.root) == before
    finally:
        done.set()
        thread.join()
    assert other.upsert("p", "trap", "quite another", slug="y").created is True


def test_a_failing_hook_fails_no_write(tmp_path: Any, caplog: Any) -> None:
    def hook(*_event: str) -> None:
        raise RuntimeError

    vault = Vault(tmp_path / "v", on_change=hook)
    assert vault.upsert("p", "trap", "text", slug="x").created is True
    assert "the change hook failed for vault/p/traps/x.md" in caplog.text


def test_changes_of_another_process_are_told_once(vault: Any, events: Any) -> None:
    vault.upsert("p", "trap", "one two three", slug="x")
    other = Vault(vault.root)
    other.upsert("p", "trap", "four five six", slug="y")
    other.forget("p", "x", purge=True)
    vault.notice_all()
    vault.notice(vault.root / "projects/p/traps/y.md")
    vault.list_records("p")
    assert events == [
        ("p", "trap", "vault/p/traps/x.md", "CREATE", "x"),
        ("p", "trap", "vault/p/traps/y.md", "CREATE", "y"),
        ("p", "trap", "vault/p/traps/x.md", "DELETE", "x"),
    ]


def test_a_watched_vault_looks_only_where_it_is_told(tmp_path: Any, vault: Any) -> None:
    vault.upsert("p", "trap", "one two three", slug="x")
    told: list[tuple[str, ...]] = []
    watched = Vault(vault.root, watched=True, on_change=lambda *event: told.append(event))
    assert len(watched.list_records("p")) == 1
    vault.upsert("p", "trap", "four five six", slug="y")
    assert len(watched.list_records("p")) == 1
    watched.notice(vault.root / "projects/p/traps/y.md")
    watched.notice(vault.root / "projects/p/TRAPS.md")
    watched.notice(tmp_path / "elsewhere.md")
    assert len(watched.list_records("p")) == 2
    assert told == [("p", "trap", "vault/p/traps/y.md", "CREATE", "y")]


def test_every_refusal_is_a_vault_error_with_a_code(vault: Any) -> None:
    with pytest.raises(VaultError) as caught:
        vault.upsert("p", "bug", "x")
    assert (caught.value.code, caught.value.message.startswith("kind must be")) == ("INVALID_ARGUMENTS", True)
