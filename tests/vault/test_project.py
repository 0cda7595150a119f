import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from vault.config import VaultConfig
from vault.errors import ConfigInvalid, PathRefused
from vault.project import check_project_id, project_id, remote_slug, repository, vault_root

PLAIN = VaultConfig()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "Widget"
    (folder / "src" / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def remote(repo: Path, name: str, url: str) -> None:
    subprocess.run(["git", "-C", str(repo), "remote", "add", name, url], check=True)


def local_id(folder: Path) -> str:
    digest = hashlib.sha256(str(folder.resolve()).lower().encode()).hexdigest()[:8]
    return f"local-{folder.name.lower()}-{digest}"


@pytest.mark.parametrize(
    ("url", "slug"),
    [
        ("git@github.com:acme/widget.git", "github.com-acme-widget"),
        ("https://github.com/acme/widget", "github.com-acme-widget"),
        ("https://Ada:pass" + "word@GitHub.com/Acme/Widget.git/", "github.com-acme-widget"),
        ("ssh://git@host.example:2222/a/b.git", "host.example-2222-a-b"),
        ("file:///srv/git/x.git", "srv-git-x"),
        ("/srv/git/x y.git", "srv-git-x-y"),
        ("https://host/a@b/c", "host-a-b-c"),
        ("", ""),
        ("https://", ""),
    ],
)
def test_a_remote_becomes_an_id_without_credentials(url: str, slug: str) -> None:
    assert remote_slug(url) == slug


def test_origin_then_upstream_then_the_first(repo: Path, tmp_path: Path) -> None:
    assert project_id(repo / "src" / "deep", tmp_path / "vault", PLAIN) == local_id(repo)
    remote(repo, "fork", "git@host:fork/x.git")
    remote(repo, "other", "git@host:other/x.git")
    assert project_id(repo / "src", tmp_path / "vault", PLAIN) == "host-fork-x"
    remote(repo, "upstream", "git@host:up/x.git")
    assert project_id(repo, tmp_path / "vault", PLAIN) == "host-up-x"
    remote(repo, "origin", "git@host:me/x.git")
    assert project_id(repo, tmp_path / "vault", PLAIN) == "host-me-x"


def test_foreign_git_variables_do_not_mislead(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert project_id(repo, tmp_path / "vault", PLAIN) == "host-me-x"


def test_without_git_or_a_repository_the_folder_counts(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert project_id(repo, tmp_path / "vault", PLAIN) == local_id(repo)
    (tmp_path / "plain").mkdir()
    assert project_id(tmp_path / "plain", tmp_path / "vault", PLAIN) == local_id(tmp_path / "plain")


def test_aliases_rename_what_was_derived(repo: Path, tmp_path: Path) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    assert project_id(repo, tmp_path / "vault", VaultConfig(project_aliases={"host-me-x": "x"})) == "x"


def test_the_nearest_marker_wins_over_the_remote(repo: Path, tmp_path: Path) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    (repo / ".spec-memo.json").write_text(json.dumps({"projectId": "outer"}))
    (repo / "src" / ".spec-memo.json").write_text(json.dumps({"projectId": "inner"}))
    assert project_id(repo / "src" / "deep", tmp_path / "vault", PLAIN) == "inner"
    assert project_id(repo, tmp_path / "vault", PLAIN) == "outer"


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"projectId": 7}', '{"projectId": "../x"}', '{"projectId": ""}'])
def test_a_broken_marker_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    (tmp_path / ".spec-memo.json").write_text(content)
    with pytest.raises(ConfigInvalid) as caught:
        project_id(tmp_path, tmp_path / "vault", PLAIN)
    assert caught.value.message.startswith(f"{tmp_path}/.spec-memo.json: ")


def test_a_folder_of_the_vault_is_its_project(tmp_path: Path) -> None:
    folder = tmp_path / "vault" / "projects" / "p1" / "traps"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    assert project_id(folder, tmp_path / "vault", PLAIN) == "p1"
    assert project_id(folder, tmp_path / "link", PLAIN) == "p1"
    assert project_id(folder.parent.parent, tmp_path / "vault", PLAIN) == local_id(folder.parent.parent)


@pytest.mark.parametrize("value", ["", ".", "..", "a/b", "a\\b", ".hidden", "a b", "a\0", "a\n", "\u2215x", "\uff41", "x" * 201])
def test_an_id_that_is_no_plain_segment_is_refused(value: str) -> None:
    with pytest.raises(PathRefused) as caught:
        check_project_id(value)
    assert caught.value.message == ("the project id must be 1 to 200 letters, digits, dots, dashes or underscores and not start with a dot")


def test_a_plain_id_is_returned() -> None:
    assert check_project_id("github.com-acme_Widget.2") == "github.com-acme_Widget.2"


def test_the_root_is_the_option_then_the_environment_then_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert vault_root(tmp_path / "a", {"SPEC_MEMO_ROOT": str(tmp_path / "b")}) == Path(os.path.realpath(tmp_path / "a"))
    assert vault_root(None, {"SPEC_MEMO_ROOT": "~/b"}) == Path(os.path.realpath(tmp_path / "b"))
    assert vault_root("", {"SPEC_MEMO_ROOT": ""}) == Path(os.path.realpath(tmp_path / ".spec-memo"))
    with pytest.raises(PathRefused, match="no usable path"):
        vault_root("a\0b", {})


def test_the_repository_is_the_nearest_folder_with_git(repo: Path, tmp_path: Path) -> None:
    assert repository(repo / "src" / "deep") == repo.resolve()
    assert repository(tmp_path) is None
