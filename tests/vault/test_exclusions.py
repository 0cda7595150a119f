from pathlib import Path

import pytest

from vault.errors import ConfigInvalid, PathRefused
from vault.exclusions import Exclusions


def ignored(exclusions: Exclusions, path: str) -> bool:
    try:
        kept = exclusions.sanitise([path], "path")
    except PathRefused:
        return True
    assert len(kept) == 1
    return False


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", "node_modules", "node_modules/", "web/node_modules/x/index.js", "dist/**", "build/out.txt", ".venv/bin/x"),
        *(".env", ".env.local", "deep/.env", "certs/server.pem", "id_rsa", "id_ed25519.pub", "a.zip", "a.tar.gz", "lib.so", "data.sqlite3"),
        *("/elsewhere/file", "../sibling", "a/../../b", "~/x", "C:\\x", "", " ", "a\0b"),
    ],
)
def test_ignored_out_of_the_box(tmp_path: Path, path: str) -> None:
    assert ignored(Exclusions.load(tmp_path, []), path)


@pytest.mark.parametrize("path", ["src/app.py", "src/**", "**/*.ts", "environment.py", "distribution/x", "a/../b", "./src", "keys.md"])
def test_kept_out_of_the_box(tmp_path: Path, path: str) -> None:
    assert not ignored(Exclusions.load(tmp_path, []), path)


def test_the_last_match_wins_from_built_in_over_file_to_configuration(tmp_path: Path) -> None:
    (tmp_path / ".spec-memo-ignore").write_text("\ufeff# ours\n!dist/\n!.env.example\nsecret/\n")
    with_file = Exclusions.load(tmp_path, [])
    assert [ignored(with_file, path) for path in ("dist/x", "dist", ".env.example", ".env.local", "secret/x", "src/x")] == [
        *(False, False, False, True, True, False)
    ]
    with_config = Exclusions.load(tmp_path, ["!secret/", "dist/", "src/*.gen.py"])
    assert [ignored(with_config, path) for path in ("dist/x", "dist", "secret/x", "src/a.gen.py", "src/a.py")] == [
        *(True, True, False, True, False)
    ]


def test_sanitise_keeps_the_order_drops_repeats_and_makes_paths_relative(tmp_path: Path) -> None:
    exclusions = Exclusions.load(tmp_path, [])
    paths = ["src/b.py", f"{tmp_path}/src/a.py", "./src/b.py", "node_modules/x", "src\\c.py", "/etc/passwd", "lib/"]
    assert exclusions.sanitise(paths, "pathPatterns") == ["src/b.py", "src/a.py", "src/c.py", "lib/"]
    assert exclusions.sanitise([], "pathPatterns") == []


def test_a_repository_reached_over_a_link_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Exclusions.load(tmp_path / "link", []).sanitise([f"{tmp_path}/link/a.py", f"{tmp_path}/real/b.py"], "path") == ["a.py", "b.py"]


def test_all_dropped_is_refused_by_the_fields_name_only(tmp_path: Path) -> None:
    with pytest.raises(PathRefused) as caught:
        Exclusions.load(tmp_path, []).sanitise([".env", "../x"], "linkedPaths")
    assert caught.value.message == "linkedPaths: every path is excluded from capture or lies outside the repository"


def test_without_a_repository_absolute_paths_lie_outside() -> None:
    exclusions = Exclusions.load(None, [])
    assert exclusions.sanitise(["src/a.py", "/src/b.py"], "path") == ["src/a.py"]


def test_every_bad_pattern_is_listed(tmp_path: Path) -> None:
    (tmp_path / ".spec-memo-ignore").write_text("ok\n!\n")
    with pytest.raises(ConfigInvalid) as caught:
        Exclusions.load(tmp_path, ["fine", "/", "!"])
    assert caught.value.problems == (
        ".spec-memo-ignore, pattern 2: not a gitignore pattern",
        "ignorePaths, pattern 3: not a gitignore pattern",
    )
    (tmp_path / ".spec-memo-ignore").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigInvalid, match=r"\.spec-memo-ignore cannot be read: UnicodeDecodeError"):
        Exclusions.load(tmp_path, [])
