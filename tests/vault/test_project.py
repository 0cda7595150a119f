import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from vault.config import VaultConfig
from vault.errors import ConfigInvalid, GitFailed, PathRefused
from vault.git.config_file import read
from vault.project import check_project_id, project_id, remote_slug, repository, vault_root

PLAIN = VaultConfig()
AUTHOR = ("-c", "user.name=x", "-c", "user.email=x@localhost")


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


def test_the_remote_is_read_without_git_and_in_the_repository_of_another_user(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert project_id(repo, tmp_path / "vault", PLAIN) == "host-me-x"
    if os.geteuid() == 0:
        os.chown(repo, 12345, 12345)
        os.chown(repo / ".git", 12345, 12345)
    assert project_id(repo, tmp_path / "vault", PLAIN) == "host-me-x"


def test_linked_work_trees_and_submodules_have_the_remote_of_their_repository(repo: Path, tmp_path: Path) -> None:
    remote(repo, "origin", "git@host:me/x.git")
    subprocess.run(["git", "-C", str(repo), *AUTHOR, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", str(repo), "worktree", "add", "--quiet", str(tmp_path / "linked")], check=True)
    assert project_id(tmp_path / "linked", tmp_path / "vault", PLAIN) == "host-me-x"
    (tmp_path / "sub").mkdir()
    (repo / ".git/modules/sub").mkdir(parents=True)
    (repo / ".git/modules/sub/config").write_text("[remote 'x']\n")
    (tmp_path / "sub/.git").write_text("gitdir: ../Widget/.git/modules/sub\n")
    with pytest.raises(GitFailed, match=r"cannot be read \(line 1 is no setting\), so the project is unknown; name it with --project-id"):
        project_id(tmp_path / "sub", tmp_path / "vault", PLAIN)
    (repo / ".git/modules/sub/config").write_text('[remote "x"]\n\turl = git@host:sub/y.git\n')
    assert project_id(tmp_path / "sub", tmp_path / "vault", PLAIN) == "host-sub-y"


def test_where_the_remote_cannot_be_told_the_command_says_so(repo: Path, tmp_path: Path) -> None:
    for text in ("[include]\n\tpath = elsewhere\n", "not a configuration"):
        (repo / ".git/config").write_text(text)
        with pytest.raises(GitFailed, match=r"so the project is unknown; name it with --project-id or in .spec-memo.json"):
            project_id(repo, tmp_path / "vault", PLAIN)
    (repo / ".git/config").unlink()
    (repo / ".git/config").mkdir()
    with pytest.raises(GitFailed):
        project_id(repo, tmp_path / "vault", PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        '[remote "a b"]\n\turl = "x y" ; comment\n\turl=second#c\n', "[core]bare\n[Remote.X] URL=  a\\\n  b \n",
        '[remote "q\\"\\\\"] url = a\\tb"  ;#"\n',
        "\ufeff[a]\r\nb = c\r\n# d\r\n;e\r\n[f]g\r\n", '[a "B"]\nc = "un\\"quoted\\\\" tail\n\n', "", '[a]\nb =\nc = ""\n',
    ],
)  # fmt: skip
def test_settings_are_read_as_git_reads_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text, newline="")
    done = subprocess.run(["git", "config", "--file", str(path), "--null", "--list"], capture_output=True, text=True, check=True)
    said = [entry.partition("\n") for entry in done.stdout.split("\0") if entry]
    ours = [(".".join(filter(None, entry[:3])), entry.value) for entry in read(path)]
    assert ours == [(name, value if newline else "true") for name, newline, value in said]


def test_a_folder_without_a_repository_counts_by_its_name(tmp_path: Path) -> None:
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
