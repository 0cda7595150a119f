import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.vault.index_vault import FileVault
from vault.errors import IndexFailed
from vault.index import SearchFilters
from vault.lock import VaultLock
from vault.scan import RecordKey

NONE = SearchFilters()


@pytest.fixture
def vault(tmp_path: Path) -> FileVault:
    vault = FileVault(tmp_path)
    for slug in ("a", "b", "c"):
        vault.write(slug, f"word of {slug}")
    vault.index.refresh()
    vault.loaded.clear()
    return vault


def found(vault: FileVault, query: str = "word") -> list[str]:
    return sorted(hit.key.slug for hit in vault.index.search(query, NONE))


def test_an_unchanged_vault_is_not_read_again(vault: FileVault) -> None:
    assert vault.index.refresh() == 0
    assert found(vault) == ["a", "b", "c"]
    assert vault.loaded == []


def test_edits_by_hand_are_picked_up_one_by_one(vault: FileVault) -> None:
    vault.write("a", "changed text")
    vault.write("d", "word of d")
    RecordKey("p", "traps", "b").path(vault.root).unlink()
    assert found(vault) == ["c", "d"]
    assert found(vault, "changed") == ["a"]
    assert sorted(key.slug for key in vault.loaded) == ["a", "d"]


def test_a_file_of_the_same_size_and_an_older_time_counts_as_changed(vault: FileVault) -> None:
    vault.write("a", "work of a")
    os.utime(RecordKey("p", "traps", "a").path(vault.root), ns=(1, 1))
    assert found(vault, "work") == ["a"]


def test_a_file_that_stops_being_a_record_leaves_the_index_and_is_read_once(vault: FileVault) -> None:
    RecordKey("p", "traps", "a").path(vault.root).write_text("not a record")
    assert found(vault) == ["b", "c"]
    assert found(vault) == ["b", "c"]
    assert [key.slug for key in vault.loaded] == ["a"]


def test_only_the_projects_asked_for_are_read(vault: FileVault) -> None:
    vault.write("x", "word", project="other")
    assert sorted(hit.key.slug for hit in vault.index.search("word", SearchFilters(projects=("p",)))) == ["a", "b", "c"]
    assert vault.loaded == []
    assert found(vault) == ["a", "b", "c", "x"]


@pytest.mark.parametrize("name", ["a.conflict.md", "a.sync-conflict-20260101.md", ".hidden.md", "a b.md", "a.txt", "a.md.tmp"])
def test_files_that_are_no_records_are_left_out(vault: FileVault, name: str) -> None:
    folder = vault.root / "projects" / "p" / "traps"
    (folder / name).write_text((folder / "a.md").read_text())
    assert vault.index.refresh() == 0


def test_links_are_not_followed(vault: FileVault, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = FileVault(tmp_path_factory.mktemp("outside"))
    outside.write("secret", "word")
    theirs = outside.root / "projects" / "p"
    (vault.root / "projects" / "p" / "traps" / "link.md").symlink_to(theirs / "traps" / "secret.md")
    (vault.root / "projects" / "p" / "plans").symlink_to(theirs / "traps")
    (vault.root / "projects" / "q").symlink_to(theirs)
    assert vault.index.refresh() == 0
    assert vault.index.refresh("q") == 0


def test_upsert_and_remove_keep_the_index_in_step(vault: FileVault) -> None:
    vault.index.upsert(vault.write("d", "word of d"))
    RecordKey("p", "traps", "a").path(vault.root).unlink()
    vault.index.remove(RecordKey("p", "traps", "a"))
    assert [hit.key.slug for hit in vault.index.search("word", NONE, refresh=False)] == ["b", "c", "d"]
    assert vault.index.refresh() == 0
    vault.index.upsert(vault.entry("gone", "never written"))
    assert vault.index.search("never", NONE, refresh=False) == []


def test_changing_only_numbers_keeps_the_text_searchable(vault: FileVault) -> None:
    for salience in (0.5, 0.2):
        vault.index.upsert(vault.write("a", "word of a", salience=salience))
    vault.index.upsert(vault.write("a", "other of a"))
    assert found(vault) == ["b", "c"]
    assert found(vault, "other") == ["a"]
    with sqlite3.connect(vault.root / "memo.sqlite") as connection:
        connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 1)")
        connection.execute("INSERT INTO grams(grams, rank) VALUES ('integrity-check', 1)")
    connection.close()


def test_another_fingerprint_reads_everything_again(vault: FileVault) -> None:
    again = FileVault(vault.root, "ttl=3")
    assert again.index.refresh() == 3
    assert again.index.refresh() == 0


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"this is no database" * 1000,
        b"SQLite format 3\0" + b"\xff" * 8000,
    ],
    ids=["deleted", "empty", "foreign", "torn"],
)
def test_a_file_that_cannot_be_used_is_rebuilt_from_the_records(vault: FileVault, content: bytes | None) -> None:
    path = vault.root / "memo.sqlite"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert found(vault) == ["a", "b", "c"]
    assert sorted(key.slug for key in vault.loaded) == ["a", "b", "c"]


def test_damage_in_the_middle_is_repaired(vault: FileVault) -> None:
    for number in range(200):
        vault.write(f"n{number}", f"word {number} " * 50)
    vault.index.refresh()
    path = vault.root / "memo.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:-4096] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    assert len(vault.index.search("word", NONE, 500)) == 203


def test_an_index_of_another_version_is_replaced(vault: FileVault) -> None:
    connection = sqlite3.connect(vault.root / "memo.sqlite")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert found(vault) == ["a", "b", "c"]


def test_a_link_in_place_of_the_index_is_cut_and_its_target_stays(vault: FileVault, tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("outside") / "mine"
    target.write_text("mine")
    (vault.root / "memo.sqlite").unlink()
    (vault.root / "memo.sqlite").symlink_to(target)
    assert found(vault) == ["a", "b", "c"]
    assert target.read_text() == "mine"


def test_a_folder_in_place_of_the_index_is_a_clear_error_and_searches_are_answered_without(vault: FileVault) -> None:
    (vault.root / "memo.sqlite").unlink()
    (vault.root / "memo.sqlite").mkdir()
    with pytest.raises(IndexFailed, match=r"the search index \(memo\.sqlite\) cannot be replaced: Is a directory"):
        vault.index.refresh()
    assert found(vault) == ["a", "b", "c"]


def test_a_reader_answers_while_the_vault_and_the_index_are_taken(vault: FileVault) -> None:
    code = (
        "import sys, pathlib, sqlite3\n"
        "from vault.lock import VaultLock\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "with VaultLock(root):\n"
        "    connection = sqlite3.connect(root / 'memo.sqlite', isolation_level=None)\n"
        "    connection.execute('BEGIN IMMEDIATE')\n"
        "    connection.execute('DELETE FROM records')\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(vault.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert found(vault) == ["a", "b", "c"]
        vault.write("d", "word of d")
        assert found(vault) == ["a", "b", "c"]
    finally:
        holder.kill()
        holder.communicate()
    with VaultLock(vault.root, timeout=0):
        assert found(vault) == ["a", "b", "c", "d"]


def test_many_threads_share_one_index(vault: FileVault) -> None:
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(5):
                vault.index.upsert(vault.write(f"t{name}-{number}", "threaded"))
                vault.index.search("threaded", NONE)
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(vault.index.search("threaded", NONE, 100)) == 20
